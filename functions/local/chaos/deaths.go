package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"supportbot/functions/local/chaos/process"
	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
)

// perCall is how many people share a call in VK.
const perCall = 25

// deaths gives moments for up to most deaths. In Telegram each may leave inFlight
// people behind whom nobody writes to any more.
func (w *world) deaths(most int) (after []int) {
	share, least := w.Recipients/most, inFlight+20
	if w.Messenger == messenger.VK {
		share, least = share/perCall, 3
	}
	for share = max(share, least); len(after) < most && len(after)*share < w.toMake(); {
		after = append(after, 2+rand.IntN(share-least+1))
	}
	return after
}

// toMake is how many calls it takes to write to everybody.
func (w *world) toMake() int {
	if w.Messenger == messenger.VK {
		return w.Recipients / perCall
	}
	return w.Recipients
}

// killed kills a worker again and again, by SIGKILL: while a call is on its way, has
// arrived, or has been answered; others are under way meanwhile.
func killed(most int) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		for i, after := range w.deaths(most) {
			kill := func(by *process.Process) {
				if w.gotOn() {
					w.kills.Add(1)
					by.Kill()
					w.sent.Store(w.count(ctx))
				}
			}
			e := event{after: after}
			switch i % 3 {
			case 0:
				e.before = func(by *process.Process) bool { kill(by); return false }
			case 1:
				e.answered = kill
			case 2:
				e.before = func(by *process.Process) bool { kill(by); return true }
			}
			w.gate.then(e)
		}
		return w.some(everybody(ctx, w))
	}
}

// gotOn waits until the present run has got something done: who kills a worker over and
// over before it has done anything gets the job into review, as it should be.
func (w *world) gotOn() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // a call lasts longer
	defer cancel()
	for ctx.Err() == nil {
		if w.count(ctx) > w.sent.Load() {
			return true
		}
	}
	return false
}

// count gives how many messages our tables say were sent.
func (w *world) count(ctx context.Context) (sent int64) {
	_ = w.db.QueryRow(ctx, `SELECT count(*) FROM recipients WHERE outcome = 'sent'`).Scan(&sent)
	return sent
}

// stopped ends a worker again and again, by SIGTERM.
func stopped(most int) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		for _, after := range w.deaths(most) {
			w.gate.then(event{after: after, before: func(by *process.Process) bool {
				w.stops.Add(1)
				by.Stop()
				return false
			}})
		}
		return w.some(everybody(ctx, w))
	}
}

// some makes an error of it when nobody died.
func (w *world) some(err error) error {
	if err == nil && w.kills.Load()+w.stops.Load() == 0 {
		err = errors.New("no worker died")
	}
	return err
}

// frozen stops a worker between two instructions for longer than its lease, so that
// another takes its place; then it goes on as if nothing had been.
func frozen(ctx context.Context, w *world) error {
	// It may hold locks while it is frozen. The database takes them back after a while.
	if err := w.database(ctx, "idle_in_transaction_session_timeout = '5s'"); err != nil {
		return err
	}
	iced := make(chan *process.Process, 1)
	w.gate.then(event{after: w.Recipients / 2, before: func(by *process.Process) bool {
		by.Freeze()
		iced <- by
		return false
	}})
	id, err := w.send(ctx, "news", nil)
	if err != nil {
		return err
	}
	var by *process.Process
	select {
	case by = <-iced:
	case <-time.After(patience):
		return errors.New("nobody was frozen")
	}
	defer by.Thaw()
	// What it has asked the database for before is still done, and would be claimed after
	// the time that passes.
	err = w.until(ctx, "the frozen one's statements are done", `SELECT count(*) = 0 FROM pg_stat_activity
		WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`)
	if err != nil {
		return err
	}
	if err := w.pass(dead); err != nil {
		return err
	}
	if err := w.became(ctx, id, broadcast.Finished); err != nil {
		return err
	}
	by.Thaw()
	return w.until(ctx, "the frozen one has said how its calls ended", `SELECT count(*) = 0 FROM recipients WHERE outcome = 'uncertain'`)
}

// wiped empties Redis, three times.
func wiped(ctx context.Context, w *world) error {
	var all errgroup.Group
	flush := func(*process.Process) { all.Go(func() error { return w.redis.FlushDB(context.Background()).Err() }) }
	err := during(flush, flush, flush)(ctx, w)
	return errors.Join(err, all.Wait())
}

// database changes a setting of the database, for sessions to come, and ends those that
// there are.
func (w *world) database(ctx context.Context, setting string) error {
	var name string
	err := w.db.QueryRow(ctx, `SELECT current_database()`).Scan(&name)
	if err == nil {
		_, err = w.db.Exec(ctx, `ALTER DATABASE `+name+` SET `+setting)
	}
	if err == nil {
		_, err = w.db.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()`, name)
	}
	if err != nil {
		return fmt.Errorf("change setting of database: %w", err)
	}
	return nil
}

// held is how long a call is kept from its answer by what happens meanwhile: not so
// long that its caller gives up.
const held = 5 * time.Second

// restarted restarts PostgreSQL: politely, at once, and after a crash.
func restarted(ctx context.Context, w *world) error {
	immediate := func() error {
		gone := w.server.Done()
		w.server.Signal(syscall.SIGQUIT)
		<-gone
		return nil
	}
	var (
		one      sync.Mutex
		all      errgroup.Group
		restarts []func(*process.Process)
	)
	for _, end := range []func() error{w.server.Stop, immediate, w.server.Kill} {
		restarts = append(restarts, func(*process.Process) {
			over := make(chan struct{})
			all.Go(func() error {
				defer close(over)
				one.Lock()
				defer one.Unlock()
				return w.restart(end)
			})
			select {
			case <-over:
			case <-time.After(held):
			}
		})
	}
	err := during(restarts...)(ctx, w)
	return errors.Join(err, all.Wait())
}

func (w *world) restart(end func() error) error {
	if err := errors.Join(end(), w.server.Start(context.Background())); err != nil {
		return fmt.Errorf("restart PostgreSQL: %w", err)
	}
	if w.hurry {
		return w.pass(dead)
	}
	return nil
}
