package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
)

func TestCount(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	b, batch := running(s, 8)
	for n, o := range []string{"sent", "sent", "blocked", "failed", "uncertain", "skipped"} {
		s.exec(`UPDATE recipients SET outcome = $2 WHERE batch = $1 AND n = $3`, batch, o, n+1)
	}
	want := broadcast.Counts{Total: 8, Sent: 2, Blocked: 1, Failed: 1, Uncertain: 1, Skipped: 1}
	now, err := s.db.Batch(s.ctx, batch)
	if err != nil || now.Counts != want || now.Broadcast != b.ID || now.Bot != telegramBot || now.Number != 1 {
		t.Errorf("batch %+v, %v; want %+v", now, err, want)
	}
	if got := s.broadcast(b.ID).Counts; got != (broadcast.Counts{Total: 8}) {
		t.Errorf("counts %+v before they are stored", got)
	}
	if got, err := s.db.Count(s.ctx, batch); err != nil || got != want {
		t.Errorf("counts %+v, %v; want %+v", got, err, want)
	}
	if got := s.broadcast(b.ID).Counts; got != want || got.Open() != 2 {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	all, err := s.db.Batches(s.ctx, b.ID)
	if err != nil || len(all) != 1 || all[0].ID != batch || all[0].Counts != want {
		t.Errorf("batches %+v, %v", all, err)
	}
	for _, f := range []func() error{
		func() error { _, err := s.db.Batch(s.ctx, 1<<40); return err },
		func() error { _, err := s.db.Count(s.ctx, 1<<40); return err },
		func() error { _, err := s.db.Broadcast(s.ctx, 1<<40); return err },
		func() error { _, err := s.db.Settle(s.ctx, 1<<40); return err },
	} {
		if err := f(); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("of something unknown: %v, want ErrNotFound", err)
		}
	}
}

// Counts that overtake each other must not leave an older one.
func TestCount_AtOnceLeavesTheNewest(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 6)
	const n = 60
	b, batch := running(s, n)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			token := newToken()
			for i := worker; i < n; i += 4 {
				if _, _, err := s.db.ClaimRecipients(s.ctx, batch, token, []int{i + 1}); err != nil {
					t.Error(err)
				}
				if err := s.db.Write(s.ctx, batch, token, []broadcast.Result{{N: i + 1, Outcome: broadcast.Sent}}); err != nil {
					t.Error(err)
				}
				if _, err := s.db.Count(s.ctx, batch); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if got := s.broadcast(b.ID).Counts; got.Sent != n {
		t.Errorf("counts %+v, want %d sent", got, n)
	}
	if got := s.settle(b.ID); got != broadcast.Finished {
		t.Errorf("broadcast is %s, want finished", got)
	}
}

// A count that had to wait counts what is there when it goes on.
func TestCount_CountsWhatWasWrittenWhileItWaited(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	b, batch := running(s, 1)
	other, err := s.session().Begin(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(s.ctx, `SELECT FROM batches FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := s.db.Count(s.ctx, batch); done <- err }()
	waitFor(t, s.url, waitingForLocks(1))
	s.exec(`UPDATE recipients SET outcome = 'sent'`)
	if err := other.Commit(s.ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := s.broadcast(b.ID).Counts; got.Sent != 1 {
		t.Errorf("counts %+v, want one sent", got)
	}
}

func TestRest(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	_, batch := running(s, 4)
	rest := func(open int, least, most time.Duration) {
		t.Helper()
		n, in, err := s.db.Rest(s.ctx, batch)
		if err != nil || n != open || in < least || in > most {
			t.Errorf("%d open, the first in %s, %v; want %d in %s..%s", n, in, err, open, least, most)
		}
	}
	rest(4, 0, 0)
	s.claimed(batch, tokenA, 1, 2, 3, 4)
	rest(4, 50*time.Second, time.Minute) // when the claims are stale
	s.write(batch, tokenA, broadcast.Result{N: 1, Outcome: broadcast.Sent}, broadcast.Result{N: 2, NotBefore: 20 * time.Second},
		broadcast.Result{N: 3, NotBefore: 3 * time.Hour}, broadcast.Result{N: 4, NotBefore: time.Hour})
	rest(3, 10*time.Second, 20*time.Second)
	s.write(batch, tokenA, broadcast.Result{N: 4, Outcome: broadcast.Sent}) // not claimed any more
	rest(3, 10*time.Second, 20*time.Second)
	s.age(batch, time.Minute)
	rest(3, 0, 0)
	s.exec(`UPDATE recipients SET outcome = 'sent'`)
	rest(0, 0, 0)
}

func TestOvertaken(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.person("", "a")
	_, first := s.planned(news("text"))
	lane := first[0].Lane
	over := func(want bool, why string) {
		t.Helper()
		if got, err := s.db.Overtaken(s.ctx, lane, 0); err != nil || got != want {
			t.Errorf("%s: overtaken %v, %v", why, got, err)
		}
	}
	over(false, "alone")
	s.planned(news("another"))
	over(false, "another of the same kind")
	notice := news("maintenance")
	notice.Kind = broadcast.Maintenance
	b, made := s.planned(notice)
	over(true, "maintenance")
	s.exec(`UPDATE jobs SET run_at = run_at + interval '1 hour' WHERE key = $1`, made[0].Key)
	over(false, "maintenance that waits")
	s.exec(`UPDATE jobs SET run_at = run_at - interval '1 hour' WHERE key = $1`, made[0].Key)
	if _, err := s.db.PauseBroadcast(s.ctx, b.ID); err != nil {
		t.Fatal(err)
	}
	over(false, "maintenance that is paused")
	if got, err := s.db.Overtaken(s.ctx, fmt.Sprint(lane, "x"), 0); err != nil || got {
		t.Errorf("another lane: %v, %v", got, err)
	}
}
