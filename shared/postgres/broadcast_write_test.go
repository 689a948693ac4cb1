package postgres_test

import (
	"strings"
	"testing"
	"time"

	"supportbot/shared/broadcast"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	_, batch := running(s, 7)
	s.claimed(batch, tokenA, 1, 2, 3, 4, 5)
	s.claimed(batch, tokenB, 6)
	s.write(batch, tokenA,
		broadcast.Result{N: 1, Outcome: broadcast.Sent, MessageID: "77"}, broadcast.Result{N: 2, Outcome: broadcast.Blocked, Error: "403"},
		broadcast.Result{N: 3, Outcome: broadcast.Failed, Error: "400 \x00"}, broadcast.Result{N: 4, Outcome: broadcast.Uncertain, Error: "timeout"},
		broadcast.Result{N: 5, NotBefore: time.Hour, Error: "429"},
		broadcast.Result{N: 6, Outcome: broadcast.Sent}, broadcast.Result{N: 7, Outcome: broadcast.Sent}) // not ours
	if got, want := s.outcomes(batch), "sent blocked(403) failed(400 ) uncertain(timeout) -(429) claimed -"; got != want {
		t.Errorf("recipients %q, want %q", got, want)
	}
	if got := get[string](s, `SELECT message_id FROM recipients WHERE n = 1`); got != "77" {
		t.Errorf("message %q", got)
	}
	if got := s.claimed(batch, tokenB, 5); got != nil {
		t.Errorf("claimed %v before its time", got)
	}
	s.age(batch, time.Hour)
	got, _, err := s.db.ClaimRecipients(s.ctx, batch, tokenB, []int{5})
	if err != nil || len(got) != 1 || !got[0].Deferred {
		t.Errorf("claimed %+v, %v; want the deferred one", got, err)
	}
	// What was seen later counts for what was uncertain, and for nothing else.
	for n := 1; n <= 4; n++ {
		s.write(batch, tokenA, broadcast.Result{N: n, Outcome: broadcast.Sent, MessageID: "78"})
	}
	if got, want := s.outcomes(batch), "sent blocked(403) failed(400 ) sent claimed claimed -"; got != want {
		t.Errorf("recipients %q, want %q", got, want)
	}
	if got := get[string](s, `SELECT message_id FROM recipients WHERE n = 1`); got != "77" {
		t.Errorf("message %q was overwritten", got)
	}
}

func TestRecover(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		idempotent bool
		want       string
	}{
		{"a messenger that drops repetitions", true, "- claimed claimed"},
		{"one that does not", false, "uncertain(the run that was sending it has died) claimed claimed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 2)
			_, batch := running(s, 3)
			s.claimed(batch, tokenA, 1)
			if wait, err := s.db.Recover(s.ctx, batch, tokenB, tc.idempotent); err != nil || wait <= 50*time.Second || wait > time.Minute {
				t.Errorf("wait %s, %v; want nearly a minute", wait, err)
			}
			if got := s.outcomes(batch); got != "claimed - -" {
				t.Errorf("recipients %q: a claim of this minute may be a call under way", got)
			}
			s.age(batch, 40*time.Second)
			s.claimed(batch, tokenA, 2)
			s.claimed(batch, tokenB, 3)
			s.age(batch, 21*time.Second)
			wait, err := s.db.Recover(s.ctx, batch, tokenB, tc.idempotent)
			if err != nil || wait <= 30*time.Second || wait > 39*time.Second {
				t.Errorf("wait %s, %v; want what is left of the youngest of others", wait, err)
			}
			if got := s.outcomes(batch); got != tc.want {
				t.Errorf("recipients %q, want %q", got, tc.want)
			}
			s.age(batch, time.Hour)
			if wait, err := s.db.Recover(s.ctx, batch, tokenB, true); err != nil || wait != 0 {
				t.Errorf("wait %s, %v; want none", wait, err)
			}
			if got := s.outcomes(batch); !strings.HasSuffix(got, "- claimed") {
				t.Errorf("recipients %q: a run's own claims are its own", got)
			}
			// The first owner was slow, not dead.
			s.write(batch, tokenA, broadcast.Result{N: 1, Outcome: broadcast.Sent})
			if got, want := strings.HasPrefix(s.outcomes(batch), "sent"), !tc.idempotent; got != want {
				t.Errorf("recipients %q after what the owner saw", s.outcomes(batch))
			}
		})
	}
}

func TestWrite_NothingWasSentToWhoWasTakenForUncertain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		state broadcast.State
		want  string
	}{
		{broadcast.Running, "-(429)"}, {broadcast.Paused, "-(429)"}, {broadcast.Finished, "failed(429)"}, {broadcast.Cancelled, "failed(429)"},
	} {
		t.Run(string(tc.state), func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 2)
			b, batch := running(s, 1)
			s.claimed(batch, tokenA, 1)
			s.age(batch, time.Hour)
			if _, err := s.db.Recover(s.ctx, batch, tokenB, false); err != nil {
				t.Fatal(err)
			}
			if _, err := s.db.Count(s.ctx, batch); err != nil {
				t.Fatal(err)
			}
			s.exec(`UPDATE broadcasts SET state = $2 WHERE id = $1`, b.ID, string(tc.state))
			s.write(batch, tokenA, broadcast.Result{N: 1, Error: "429"})
			if got := s.outcomes(batch); got != tc.want {
				t.Errorf("recipients %q, want %q", got, tc.want)
			}
			if tc.state != broadcast.Running {
				return
			}
			if got := s.settle(b.ID); got != broadcast.Running {
				t.Errorf("broadcast is %s with somebody open", got)
			}
			s.claimed(batch, tokenB, 1)
			s.write(batch, tokenB, broadcast.Result{N: 1, Outcome: broadcast.Sent})
			if got := s.settle(b.ID); got != broadcast.Finished {
				t.Errorf("broadcast is %s, want finished", got)
			}
		})
	}
}

// What the owner of a claim says of somebody who was taken for uncertain counts also
// when nobody works on the batch any more.
func TestWrite_LateIsCounted(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	b, batch := running(s, 3)
	s.claimed(batch, tokenA, 1, 2, 3)
	s.age(batch, time.Hour)
	if _, err := s.db.Recover(s.ctx, batch, tokenB, false); err != nil {
		t.Fatal(err)
	}
	if got := s.settle(b.ID); got != broadcast.Finished {
		t.Fatalf("broadcast is %s, want finished", got)
	}
	s.write(batch, tokenA, broadcast.Result{N: 1, Outcome: broadcast.Sent}, broadcast.Result{N: 2, Outcome: broadcast.Blocked}, broadcast.Result{N: 3})
	want := broadcast.Counts{Total: 3, Sent: 1, Blocked: 1, Failed: 1}
	if got := s.broadcast(b.ID).Counts; got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}
