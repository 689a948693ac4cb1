package bench

import (
	"context"
	"fmt"
	"time"

	"supportbot/shared/messenger"
)

const (
	fast = 40 * time.Millisecond // the messenger's latency
	// paid is what Telegram sells at most: what a worker has to be able to use.
	paid = 1000
	// countedMost is how many people are enough to count statements.
	countedMost = 3000
)

// send measures a worker that no limit holds back, outcomes durable in Postgres.
func (s *stage) send(ctx context.Context, o options, r *report) error {
	r.note("send: one worker process, its limiter set to 100,000/s, a messenger that answers after %s and takes any number;", fast)
	r.note("%d people, from the first batch's planning to the last outcome; the stand-in shares the machine with the worker", o.recipients)
	for _, name := range []messenger.Name{messenger.Telegram, messenger.VK} {
		if err := s.ceiling(ctx, o, r, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := s.statements(ctx, o, r, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// ceiling measures rounds of broadcasts to everybody.
func (s *stage) ceiling(ctx context.Context, o options, r *report, name messenger.Name) error {
	f, err := s.office(ctx, o, name, o.recipients, false, fast)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.hire(ctx, 1, "-profile", o.profile); err != nil {
		return err
	}
	var rates, cpu []float64
	for range o.rounds {
		if _, err := f.db.Exec(ctx, "CHECKPOINT"); err != nil {
			return err
		}
		before, err := f.workers[0].usage(ctx)
		if err != nil {
			return err
		}
		took, err := f.round(ctx, o.recipients)
		if err != nil {
			return err
		}
		after, err := f.workers[0].usage(ctx)
		if err != nil {
			return err
		}
		rates = append(rates, float64(o.recipients)/took.Seconds())
		cpu = append(cpu, (after.CPU-before.CPU).Seconds()/float64(o.recipients)*1000)
	}
	label := string(name) + ", broadcast without a limit"
	r.figure(label+": the worker's CPU, per 1000", median(cpu), "s")
	if name == messenger.Telegram {
		r.atLeast(label+", messages/s", median(rates), paid)
		return nil
	}
	r.figure(label, median(rates), "messages/s")
	return nil
}

// round sends one broadcast and gives the time from its start to its end.
func (f *office) round(ctx context.Context, people int) (time.Duration, error) {
	id, err := f.broadcast(ctx)
	if err == nil {
		err = f.until(ctx, hasBegun, id)
	}
	began := time.Now()
	if err == nil {
		err = f.until(ctx, hasFinished, id)
	}
	took := time.Since(began)
	if err == nil {
		err = f.sentToAll(ctx, id, people)
	}
	return took, err
}

// statements counts what a broadcast sends to Postgres, with everything that the
// functions beside the worker send meanwhile.
func (s *stage) statements(ctx context.Context, o options, r *report, name messenger.Name) error {
	people := min(o.recipients, countedMost)
	f, err := s.office(ctx, o, name, people, false, fast)
	if err != nil {
		return err
	}
	defer f.close()
	t, err := newTap(f.vars["DATABASE_URL"])
	if err != nil {
		return err
	}
	defer t.close()
	f.vars["DATABASE_URL"] = t.url
	if err := f.hire(ctx, 1); err != nil {
		return err
	}
	if _, err := t.take(); err != nil {
		return err
	}
	if _, err := f.round(ctx, people); err != nil {
		return err
	}
	flights, err := t.take()
	for _, w := range f.workers { // before the tap
		w.stop()
	}
	f.workers = nil
	if err != nil {
		return err
	}
	label := string(name) + ", broadcast without a limit: "
	r.figure(label+"statements, per 1000", float64(statements(flights))*1000/float64(people), "")
	r.figure(label+"round trips, per 1000", float64(len(flights))*1000/float64(people), "")
	return nil
}
