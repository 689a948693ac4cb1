package postgres_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
)

// What each request makes of each state; "" is a refusal. The broadcasts are those of
// inState: in the middle of a call where there can be one.
func TestSteer_EveryRequestInEveryState(t *testing.T) {
	t.Parallel()
	type request func(s *studio, id int64) (broadcast.Broadcast, error)
	requests := map[string]request{
		"update": func(s *studio, id int64) (broadcast.Broadcast, error) {
			spec := news("changed")
			spec.Draft = true
			return s.db.UpdateDraft(s.ctx, id, spec)
		},
		"start": func(s *studio, id int64) (broadcast.Broadcast, error) {
			b, _, err := s.db.StartBroadcast(s.ctx, id)
			return b, err
		},
		"pause": func(s *studio, id int64) (broadcast.Broadcast, error) { return s.db.PauseBroadcast(s.ctx, id) },
		"resume": func(s *studio, id int64) (broadcast.Broadcast, error) {
			b, _, err := s.db.ResumeBroadcast(s.ctx, id)
			return b, err
		},
		"cancel":   func(s *studio, id int64) (broadcast.Broadcast, error) { return s.db.CancelBroadcast(s.ctx, id) },
		"set rate": func(s *studio, id int64) (broadcast.Broadcast, error) { return s.db.SetBroadcastRate(s.ctx, id, 5) },
		"resend": func(s *studio, id int64) (broadcast.Broadcast, error) {
			if _, _, err := s.db.ResendUncertain(s.ctx, id); err != nil {
				return broadcast.Broadcast{}, err
			}
			return s.db.Broadcast(s.ctx, id)
		},
	}
	const none = broadcast.State("")
	want := map[string]map[broadcast.State]broadcast.State{
		"update": {broadcast.Draft: broadcast.Draft},
		"start": {broadcast.Draft: broadcast.Planning, broadcast.Scheduled: broadcast.Scheduled, broadcast.Planning: broadcast.Planning,
			broadcast.Running: broadcast.Running},
		"pause":  {broadcast.Running: broadcast.Pausing, broadcast.Pausing: broadcast.Pausing, broadcast.Paused: broadcast.Paused},
		"resume": {broadcast.Running: broadcast.Running, broadcast.Pausing: broadcast.Running, broadcast.Paused: broadcast.Running},
		"cancel": {broadcast.Draft: broadcast.Cancelled, broadcast.Scheduled: broadcast.Cancelled, broadcast.Planning: broadcast.Cancelled,
			broadcast.Running: broadcast.Cancelling, broadcast.Pausing: broadcast.Cancelling, broadcast.Paused: broadcast.Cancelled,
			broadcast.Cancelling: broadcast.Cancelling, broadcast.Cancelled: broadcast.Cancelled},
		"set rate": {broadcast.Draft: broadcast.Draft, broadcast.Scheduled: broadcast.Scheduled, broadcast.Planning: broadcast.Planning,
			broadcast.Running: broadcast.Running, broadcast.Pausing: broadcast.Pausing, broadcast.Paused: broadcast.Paused},
		"resend": {broadcast.Running: broadcast.Running, broadcast.Paused: broadcast.Paused, broadcast.Finished: broadcast.Running},
	}
	for name, ask := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 2)
			if _, err := ask(s, 1<<40); !errors.Is(err, job.ErrNotFound) {
				t.Errorf("of an unknown one: %v, want ErrNotFound", err)
			}
			for _, from := range broadcast.States {
				s.exec(`DELETE FROM identities`)
				id, _ := inState(s, from)
				b, err := ask(s, id)
				to := want[name][from]
				if to == none {
					if !errors.Is(err, job.ErrNotFound) {
						t.Errorf("%s: %s, %v; want a refusal", from, b.State, err)
					}
					s.wantState(id, from)
					continue
				}
				if err != nil || b.State != to {
					t.Errorf("%s: became %s, %v; want %s", from, b.State, err, to)
				}
				s.wantState(id, to)
				if again, err := ask(s, id); name != "resend" && (err != nil || again.State != to) {
					t.Errorf("%s: repeated %s, %v; want %s", from, again.State, err, to)
				}
			}
		})
	}
}

// jobState shows the job of a batch: its state, and whether it is held.
func (s *studio) jobState(batch int64) string {
	s.t.Helper()
	return get[string](s, `SELECT j.state || CASE WHEN held_at IS NULL THEN '' ELSE ' held' END
		FROM batches b JOIN jobs j ON j.id = b.job WHERE b.id = $1`, batch)
}

func TestPause_JobsOfBatches(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.crowd(broadcast.BatchSize + 1)
	b, jobs := s.planned(news("text"))
	other, others := s.planned(news("another"))
	batches := list[int64](s, `SELECT id FROM batches WHERE broadcast = $1 ORDER BY id`, b.ID)
	c := s.claim(jobs[0].ID)
	if _, err := s.db.PauseBroadcast(s.ctx, b.ID); err != nil {
		t.Fatal(err)
	}
	if got := []string{s.jobState(batches[0]), s.jobState(batches[1])}; !slices.Equal(got, []string{"running", "accepted held"}) {
		t.Errorf("jobs are %q", got)
	}
	done, err := s.db.Finish(s.ctx, job.Finish{Job: c.job, Token: c.token, Verdict: job.VerdictParked, Delay: time.Hour})
	if err != nil || done.State != job.Queued {
		t.Errorf("the running job became %s, %v", done.State, err)
	}
	if got := s.jobState(batches[0]); got != "queued held" {
		t.Errorf("the job that ran is %q, want it held", got)
	}
	// The lane goes on with what is not paused.
	next := s.claim(others[0].ID)
	if want := broadcast.BatchKey(s.batch(other.ID), 0); next.job.Key != want {
		t.Errorf("the lane's head is %s, want %s", next.job.Key, want)
	}
	s.finish(next, job.VerdictCompleted)
	got, made, err := s.db.ResumeBroadcast(s.ctx, b.ID)
	if err != nil || got.State != broadcast.Running || len(made) != 1 || made[0].Key != broadcast.BatchKey(batches[0], 0) || made[0].RunIn > 0 {
		t.Errorf("resume: %s, %+v, %v", got.State, made, err)
	}
	if got := []string{s.jobState(batches[0]), s.jobState(batches[1])}; !slices.Equal(got, []string{"queued", "accepted"}) {
		t.Errorf("jobs are %q after the resumption", got)
	}
}

// A paused broadcast says what was sent, though the worker has not counted it yet.
func TestPause_Counts(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	_, batch := running(s, 2)
	id := get[int64](s, `SELECT broadcast FROM batches WHERE id = $1`, batch)
	c := s.claim(get[int64](s, `SELECT job FROM batches WHERE id = $1`, batch))
	s.claimed(batch, c.token, 1)
	s.write(batch, c.token, broadcast.Result{N: 1, Outcome: broadcast.Sent})
	b, err := s.db.PauseBroadcast(s.ctx, id)
	if err != nil || b.State != broadcast.Paused || b.Counts.Sent != 1 || b.Counts.Open() != 1 {
		t.Errorf("paused: %s with %+v, %v; want 1 of 2 sent", b.State, b.Counts, err)
	}
}

// A pause that is taken back while the job runs leaves nothing behind.
func TestPause_TakenBackWhileTheJobRuns(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	_, batch := running(s, 2)
	id := get[int64](s, `SELECT broadcast FROM batches WHERE id = $1`, batch)
	c := s.claim(get[int64](s, `SELECT job FROM batches WHERE id = $1`, batch))
	s.claimed(batch, c.token, 1)
	if b, err := s.db.PauseBroadcast(s.ctx, id); err != nil || b.State != broadcast.Pausing {
		t.Fatalf("pause: %s, %v", b.State, err)
	}
	if b, _, err := s.db.ResumeBroadcast(s.ctx, id); err != nil || b.State != broadcast.Running {
		t.Fatalf("resume: %s, %v", b.State, err)
	}
	if got := s.claimed(batch, c.token, 2); len(got) != 1 {
		t.Errorf("claimed %v, want the other", got)
	}
	s.finish(c, job.VerdictStopped)
	if got := s.jobState(batch); got != "queued" {
		t.Errorf("job is %q", got)
	}
}

// Pauses, resumptions, workers and the reconciler at once: nothing deadlocks for good,
// and in the end the job is where the broadcast's state says.
func TestPause_AgainstWorkers(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 8)
	b, batch := running(s, 1)
	id := get[int64](s, `SELECT job FROM batches WHERE id = $1`, batch)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	worker := func(f func() error) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := f(); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	for range 2 {
		worker(func() error {
			token := newToken()
			c, err := s.db.Claim(s.ctx, broadcast.Queue, id, token)
			if err != nil || c.Job == nil {
				return err
			}
			_, err = s.db.Finish(s.ctx, job.Finish{Job: c.Job, Token: token, Verdict: job.VerdictParked})
			return err
		})
	}
	worker(func() error { _, err := s.db.Rescue(s.ctx, 10); return err })
	worker(func() error { _, _, err := s.db.SettleAll(s.ctx); return err })
	for range 40 {
		if _, err := s.db.PauseBroadcast(s.ctx, b.ID); err != nil {
			t.Fatal(err)
		}
		waitFor(t, s.url, `SELECT held_at IS NOT NULL FROM jobs WHERE kind = 'broadcast.batch'`)
		s.wantState(b.ID, broadcast.Paused)
		if _, _, err := s.db.ResumeBroadcast(s.ctx, b.ID); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	if got := s.jobState(batch); got != "queued" && got != "accepted" {
		t.Errorf("job is %q", got)
	}
}

func TestCancel_EndsJobs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		from broadcast.State
		want string
	}{
		{"scheduled", broadcast.Scheduled, "cancelled"},
		{"planning", broadcast.Planning, "cancelled"},
		{"paused", broadcast.Paused, "completed cancelled"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 2)
			id, _ := inState(s, tc.from)
			if b, err := s.db.CancelBroadcast(s.ctx, id); err != nil || b.State != broadcast.Cancelled {
				t.Fatalf("cancel: %s, %v", b.State, err)
			}
			if got := get[string](s, `SELECT string_agg(state, ' ' ORDER BY id) FROM jobs`); got != tc.want {
				t.Errorf("jobs are %q, want %q", got, tc.want)
			}
		})
	}
	t.Run("a running one is asked to end", func(t *testing.T) {
		t.Parallel()
		s := newStudio(t, 2)
		b, batch := running(s, 1)
		c := s.claim(get[int64](s, `SELECT job FROM batches WHERE id = $1`, batch))
		if got, err := s.db.CancelBroadcast(s.ctx, b.ID); err != nil || got.State != broadcast.Cancelled {
			t.Fatalf("cancel: %s, %v", got.State, err)
		}
		if got := s.finish(c, job.VerdictParked); got != job.Cancelled {
			t.Errorf("its job became %s, want cancelled", got)
		}
	})
}

func TestSetRate(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	b, _ := running(s, 1)
	for _, rate := range []float64{2.5, 0} {
		if got, err := s.db.SetBroadcastRate(s.ctx, b.ID, rate); err != nil || got.Rate != rate {
			t.Errorf("rate %v, %v; want %v", got.Rate, err, rate)
		}
	}
}

func TestResendUncertain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		before func(s *studio, id, batch int64)
		state  broadcast.State
		job    string
		jobs   int
	}{
		{"finished: a new job", func(*studio, int64, int64) {}, broadcast.Running, "accepted", 1},
		{"paused: a new job that is held", func(s *studio, id, _ int64) {
			s.exec(`UPDATE broadcasts SET state = 'paused', finished_at = NULL WHERE id = $1`, id)
		}, broadcast.Paused, "accepted held", 0},
		{"running: the job that it has", func(s *studio, id, batch int64) {
			s.exec(`UPDATE recipients SET outcome = NULL WHERE batch = $1 AND n = 3`, batch)
			s.exec(`UPDATE broadcasts SET state = 'running', finished_at = NULL WHERE id = $1`, id)
			s.exec(`UPDATE jobs SET state = 'queued', finished_at = NULL WHERE kind = 'broadcast.batch'`)
		}, broadcast.Running, "queued", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 2)
			id, batch := inState(s, broadcast.Finished) // sent uncertain sent
			c := s.claim(get[int64](s, `SELECT job FROM batches WHERE id = $1`, batch))
			s.finish(c, job.VerdictCompleted)
			tc.before(s, id, batch)
			n, jobs, err := s.db.ResendUncertain(s.ctx, id)
			if err != nil || n != 1 || len(jobs) != tc.jobs {
				t.Fatalf("resend: %d, %+v, %v", n, jobs, err)
			}
			s.wantState(id, tc.state)
			if got := s.jobState(batch); got != tc.job {
				t.Errorf("job is %q, want %q", got, tc.job)
			}
			s.write(batch, tokenA, broadcast.Result{N: 2, Outcome: broadcast.Sent}) // the old owner has no say any more
			if got := s.outcomes(batch); got[:len("sent -")] != "sent -" {
				t.Errorf("recipients %q", got)
			}
			next, err := s.db.Next(s.ctx, batch, 0, 10)
			if err != nil || len(next) == 0 || next[0].N != 2 || !next[0].Deferred {
				t.Errorf("next %+v, %v; want the uncertain one, on its own", next, err)
			}
			if n, jobs, err := s.db.ResendUncertain(s.ctx, id); err != nil || n != 0 || len(jobs) != 0 {
				t.Errorf("once more: %d, %+v, %v", n, jobs, err)
			}
			if tc.state != broadcast.Running {
				return
			}
			s.claimed(batch, tokenB, 2, 3)
			s.write(batch, tokenB, broadcast.Result{N: 2, Outcome: broadcast.Sent}, broadcast.Result{N: 3, Outcome: broadcast.Sent})
			if got := s.settle(id); got != broadcast.Finished {
				t.Errorf("broadcast is %s, want finished", got)
			}
			if got := s.broadcast(id).Counts; got != (broadcast.Counts{Total: 3, Sent: 3}) {
				t.Errorf("counts %+v", got)
			}
		})
	}
	t.Run("too long ago", func(t *testing.T) {
		t.Parallel()
		s := newStudio(t, 2)
		id, _ := inState(s, broadcast.Finished)
		s.exec(`UPDATE broadcasts SET finished_at = finished_at - interval '90 days'`)
		if _, _, err := s.db.ResendUncertain(s.ctx, id); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("resend: %v, want ErrNotFound", err)
		}
	})
}
