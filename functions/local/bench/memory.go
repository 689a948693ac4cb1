package bench

import (
	"context"
	"fmt"
	"time"

	"supportbot/shared/messenger"
)

const (
	// looked is how many messages of a broadcast are sent while memory is looked at.
	looked    = 10_000
	growsMost = 1.3 // memory with the most recipients : with the least
)

// memory measures what a worker takes that plans a broadcast and sends it.
func (s *stage) memory(ctx context.Context, o options, r *report) error {
	r.note("memory: a fresh worker process plans a broadcast and sends the first %d messages of it, without a limit;", min(looked, o.rows/100))
	r.note("peak: of resident memory; heap: the most in use at any look, ten a second")
	var all []usage
	for _, people := range sizes(o) {
		u, err := s.weigh(ctx, o, people)
		if err != nil {
			return fmt.Errorf("%d recipients: %w", people, err)
		}
		r.figure(fmt.Sprintf("worker, %d recipients: peak", people), u.Peak, "MB")
		r.figure(fmt.Sprintf("worker, %d recipients: heap", people), u.Heap, "MB")
		all = append(all, u)
	}
	first, last := all[0], all[len(all)-1]
	r.atMost(fmt.Sprintf("memory, %d recipients : %d, peak", sizes(o)[2], sizes(o)[0]), last.Peak/first.Peak, growsMost, "")
	r.plain(fmt.Sprintf("memory, %d recipients : %d, heap", sizes(o)[2], sizes(o)[0]), last.Heap/first.Heap)
	return nil
}

// sizes are those of the broadcasts that are compared.
func sizes(o options) []int { return []int{o.rows / 100, o.rows / 10, o.rows} }

// weigh gives the peak, and the most heap that was seen in use.
func (s *stage) weigh(ctx context.Context, o options, people int) (most usage, err error) {
	f, err := s.office(ctx, o, messenger.Telegram, people, false, fast)
	if err != nil {
		return most, err
	}
	defer f.close()
	if err := f.hire(ctx, 1); err != nil {
		return most, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	looks := make(chan error, 1)
	go func() { looks <- f.watch(ctx, &most) }()
	id, err := f.broadcast(ctx)
	if err == nil {
		err = f.until(ctx, hasBegun, id)
	}
	if err == nil {
		enough := fmt.Sprintf(`SELECT coalesce(sum(sent), 0) >= %d FROM batches WHERE broadcast = $1`, min(looked, o.rows/100))
		err = f.until(ctx, enough, id)
	}
	cancel()
	if seen := <-looks; err == nil {
		err = seen
	}
	return most, err
}

// watch looks at the worker's memory until ctx ends.
func (f *office) watch(ctx context.Context, most *usage) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		u, err := f.workers[0].usage(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		most.Peak, most.Heap = max(most.Peak, u.Peak), max(most.Heap, u.Heap)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
