package broadcasting_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
)

// TestRun_Slow: a batch that is far too slow for one call of the function is
// continued by as many as it takes; none of them is a failure.
func TestRun_Slow(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.Telegram, 8)
	id := s.planned(func(b *broadcast.Spec) { b.Rate = 1 })
	runs := 0
	for ; !s.is(id, broadcast.Finished)(); runs++ {
		if !s.work(s.ctx, 1500*time.Millisecond) {
			s.pause("it ends")
		}
	}
	s.want(id, broadcast.Counts{Total: 8, Sent: 8})
	s.each(chats, 1)
	if runs < 2 {
		t.Errorf("it took %d runs", runs)
	}
}

// gate holds calls to the messenger until it is opened.
type gate struct {
	entered chan struct{}
	open    chan struct{}
	once    sync.Once
	count   atomic.Int64
}

func (s *studio) gate() *gate {
	g := &gate{entered: make(chan struct{}), open: make(chan struct{})}
	s.lie(func(_ http.ResponseWriter, method string, _ url.Values, _ http.Handler, r *http.Request) bool {
		if method == "sendMessage" {
			g.count.Add(1)
			g.once.Do(func() { close(g.entered) })
			select {
			case <-g.open:
			case <-r.Context().Done():
			}
		}
		return false
	})
	return g
}

// TestRun_Stopped: SIGTERM ends the claims, not the calls: those that are under way
// come to their end, and the lane is free for the next worker at once.
func TestRun_Stopped(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.Telegram, 200)
	id := s.planned()
	g := s.gate()
	ctx, terminate := context.WithCancel(s.ctx)
	done := make(chan struct{})
	go func() { defer close(done); s.work(ctx, time.Minute) }()
	<-g.entered
	terminate()
	s.wait("the claims of the calls under way are there", func() bool {
		return int(g.count.Load()) == s.number(`SELECT count(*) FROM recipients WHERE claim IS NOT NULL`)
	})
	close(g.open)
	<-done
	under := int(g.count.Load())
	if n := s.number(`SELECT count(*) FROM recipients WHERE outcome = 'sent'`); n != under || under == 200 {
		t.Errorf("%d calls were under way, %d are written as sent", under, n)
	}
	if n := s.number(`SELECT count(*) FROM recipients WHERE outcome IS NULL AND claim IS NOT NULL`); n != 0 {
		t.Errorf("%d claims are left open", n)
	}
	if n := s.number(`SELECT count(*) FROM lanes WHERE lease_until > clock_timestamp()`); n != 0 {
		t.Error("the lane is not released")
	}
	s.lie(nil)
	s.until("it ends", s.is(id, broadcast.Finished))
	s.want(id, broadcast.Counts{Total: 200, Sent: 200})
	s.each(chats, 1)
}

// TestRun_Yields: news that run give way to what is more urgent, within seconds, and
// go on after it.
func TestRun_Yields(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.Telegram, 30)
	news := s.planned(func(b *broadcast.Spec) { b.Rate = 2 })
	done := make(chan struct{})
	go func() { // one call of the function: it takes the urgent one too
		defer close(done)
		s.work(s.ctx, time.Minute)
	}()
	s.wait("the news run", func() bool { return s.number(`SELECT count(*) FROM recipients WHERE outcome = 'sent'`) > 0 })
	began := time.Now()
	urgent := s.planned(func(b *broadcast.Spec) { b.Kind = broadcast.Maintenance })
	s.wait("the notice is out", s.is(urgent, broadcast.Finished))
	took := time.Since(began)
	if left := s.number(`SELECT count(*) FROM recipients r JOIN batches b ON b.id = r.batch WHERE b.broadcast = $1 AND outcome IS NULL`, news); left == 0 {
		t.Errorf("after %s the notice is out, and so are the news", took)
	}
	if _, err := s.db.SetBroadcastRate(s.ctx, news, 0); err != nil {
		t.Fatal(err)
	}
	<-done
	s.until("the news are out", s.is(news, broadcast.Finished))
	s.want(news, broadcast.Counts{Total: 30, Sent: 30})
	s.want(urgent, broadcast.Counts{Total: 30, Sent: 30})
	s.each(chats, 2)
}

// TestRun_Stale: what a run that seems dead has claimed is uncertain, and is sent to
// by nobody else; if the run lives, it says what it saw.
func TestRun_Stale(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.Telegram, 3)
	id := s.planned()
	g := s.gate()
	done := make(chan struct{})
	go func() { defer close(done); s.work(s.ctx, time.Minute) }()
	s.wait("its calls are under way", func() bool { return g.count.Load() == 3 })
	// A minute passes in which it is frozen.
	s.exec(`UPDATE recipients SET claimed_at = claimed_at - interval '61 seconds'`)
	s.exec(`UPDATE lanes SET lease_until = clock_timestamp() - interval '1 second' WHERE lease_until IS NOT NULL`)
	job := s.number(`SELECT id FROM jobs WHERE kind = 'broadcast.batch'`)
	s.must(s.worker.Work(s.ctx, int64(job)))
	s.want(id, broadcast.Counts{Total: 3, Uncertain: 3})
	if n := g.count.Load(); n != 3 {
		t.Errorf("%d calls, want 3: nobody is sent to twice", n)
	}
	close(g.open)
	<-done
	s.want(id, broadcast.Counts{Total: 3, Sent: 3})
	s.each(chats, 1)
}

var errAway = errors.New("the database is away")

// TestRun_DatabaseAway: whatever moment the database is lost in, with the question or
// only with its answer, everybody has one message and nobody is uncertain.
func TestRun_DatabaseAway(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(m *meddling, fail func() error){
		"before the claim":   func(m *meddling, fail func() error) { m.beforeClaim = func([]int) error { return fail() } },
		"after the claim":    func(m *meddling, fail func() error) { m.afterClaim = func([]int) error { return fail() } },
		"before the outcome": func(m *meddling, fail func() error) { m.beforeWrite = func([]broadcast.Result) error { return fail() } },
		"after the outcome":  func(m *meddling, fail func() error) { m.afterWrite = func([]broadcast.Result) error { return fail() } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for m, n := range map[messenger.Name]int{messenger.Telegram: 40, messenger.VK: 60} {
				t.Run(string(m), func(t *testing.T) {
					t.Parallel()
					s := newStudio(t)
					chats := s.people(m, n)
					var calls atomic.Int64
					lose(s.store, func() error {
						if c := calls.Add(1); c > 1 && c < 5 {
							return errAway
						}
						return nil
					})
					id := s.planned()
					s.until("it ends", func() bool { s.passed(); return s.is(id, broadcast.Finished)() })
					b, err := s.db.Broadcast(s.ctx, id)
					if want := (broadcast.Counts{Total: n, Sent: n}); err != nil || b.Counts != want {
						t.Errorf("counts %+v, %v, want %+v", b.Counts, err, want)
					}
					s.each(chats, 1)
				})
			}
		})
	}
}

// TestRun_RedisAway: without Redis it is slower, and otherwise the same; the rate that
// somebody has set is kept to.
func TestRun_RedisAway(t *testing.T) {
	t.Parallel()
	server := backendtest.RedisServer(t, backend.Options{})
	s := newStudio(t, func(c *setting) { c.redis = server.URL() })
	chats := s.people(messenger.Telegram, 24)
	id := s.planned(func(b *broadcast.Spec) { b.Rate = 5 })
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s.until("it ends", s.is(id, broadcast.Finished))
	if took := time.Since(began); took < 3*time.Second {
		t.Errorf("24 messages at 5 a second took %s", took)
	}
	s.want(id, broadcast.Counts{Total: 24, Sent: 24})
	s.each(chats, 1)
}

// TestRun_ChangedMeanwhile: who must not be written to any more when it comes to the
// claim gets nothing.
func TestRun_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, m := range []messenger.Name{messenger.Telegram, messenger.VK} {
		for _, late := range []bool{false, true} {
			name := string(m) + ", before the run"
			if late {
				name = string(m) + ", right before the claim"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStudio(t)
				chats := s.people(m, 6)
				id := s.planned()
				of := `(SELECT person_id FROM identities WHERE chat = $1)`
				change := func() {
					s.exec(`UPDATE people SET news = false WHERE id = `+of, chats[0])
					s.exec(`UPDATE people SET banned_at = now() WHERE id = `+of, chats[1])
					s.exec(`UPDATE identities SET reachable = false WHERE chat = $1`, chats[2])
					who := int64(s.number(`SELECT coalesce(max(person_id), 0) FROM identities WHERE chat = $1`, chats[3]))
					steps, err := s.db.Steps(s.ctx, who)
					if err == nil {
						_, err = s.db.Forget(s.ctx, who, steps)
					}
					if err != nil {
						t.Error(err)
					}
				}
				if late {
					var once sync.Once
					s.store.beforeClaim = func([]int) error { once.Do(change); return nil }
				} else {
					change()
				}
				s.until("it ends", s.is(id, broadcast.Finished))
				s.each(chats[4:], 1)
				s.want(id, broadcast.Counts{Total: 6, Sent: 2, Skipped: 4})
				s.each(chats[:4], 0)
				if n := s.number(`SELECT count(DISTINCT error) FROM recipients WHERE outcome = 'skipped'`); n != 4 {
					t.Errorf("%d reasons, want 4", n)
				}
			})
		}
	}
}

// TestRun_RateWithinACall: a call of VK's carries many messages, so that a low rate
// keeps the next one waiting for minutes. A new rate holds at once all the same, and
// a run that will not see the next call leaves it to one that begins in time.
func TestRun_RateWithinACall(t *testing.T) {
	t.Parallel()
	slow := func(spec *broadcast.Spec) { spec.Rate = 0.2 } // 25 messages in 125 s
	t.Run("raised", func(t *testing.T) {
		t.Parallel()
		s := newStudio(t)
		chats := s.people(messenger.VK, 50)
		id := s.planned(slow)
		worked := make(chan bool)
		go func() { worked <- s.work(s.ctx, 10*time.Minute) }()
		s.wait("the first call is made", func() bool { return len(s.calls("messages.send")) == 1 })
		raised := time.Now()
		_, err := s.db.SetBroadcastRate(s.ctx, id, 0)
		s.must(err)
		<-worked
		s.until("it ends", s.is(id, broadcast.Finished))
		if took := time.Since(raised); took > time.Minute {
			t.Errorf("the new rate held after %s", took)
		}
		s.each(chats, 1)
	})
	t.Run("over", func(t *testing.T) {
		t.Parallel()
		s := newStudio(t)
		s.people(messenger.VK, 50)
		s.planned(slow)
		s.work(s.ctx, 20*time.Second)
		if n := s.number(`SELECT extract(epoch FROM max(run_at) - now())::int FROM jobs WHERE kind = $1`, broadcast.KindBatch); n < 60 {
			t.Errorf("the next run begins in %d s and has no reason to wait, want in about 125", n)
		}
		if n := len(s.calls("messages.send")); n != 1 {
			t.Errorf("%d calls, want 1", n)
		}
	})
}

// TestRun_PausedForAMoment: a run that was stopped by a pause which is over by then
// has not failed, though it has sent nothing.
func TestRun_PausedForAMoment(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.Telegram, 1)
	id := s.planned()
	var paused, resumed sync.Once
	s.store.beforeClaim = func([]int) (err error) {
		paused.Do(func() { _, err = s.db.PauseBroadcast(s.ctx, id) })
		return err
	}
	s.store.afterClaim = func([]int) (err error) {
		resumed.Do(func() { _, _, err = s.db.ResumeBroadcast(s.ctx, id) })
		return err
	}
	s.until("it ends", s.is(id, broadcast.Finished))
	s.want(id, broadcast.Counts{Total: 1, Sent: 1})
	s.each(chats, 1)
}
