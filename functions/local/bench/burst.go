package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
)

const (
	newcomers = 200
	burstMost = 1000 // ms, for 99 of 100 newcomers
	burstWait = 3 * time.Minute
)

// burst lets 200 people write to the bot for the first time at the same moment: first
// without the messengers' limits, which is the platform's own time, then with them,
// where replies that find no place within a second become jobs.
func burst(ctx context.Context, o options, r *report) error {
	s, err := newStage(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	r.note("burst: %d people unknown so far write /start at once, on up to 100 connections as the messengers have; time from", newcomers)
	r.note("writing until the reply is at the messenger; the whole platform runs, workers and timer too")
	for _, limited := range []bool{false, true} {
		if err := s.bursts(ctx, o, r, limited); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) bursts(ctx context.Context, o options, r *report, limited bool) error {
	if _, err := s.database(ctx, "measured", migrated); err != nil {
		return err
	}
	// The stand-ins number their updates anew: nothing may be remembered.
	if err := s.forget(ctx); err != nil {
		return err
	}
	w := newOutside(s, o, limited)
	defer w.close()
	f, err := startFunction(ctx, w.vars, "-work", "-profile", o.profile)
	if err != nil {
		return err
	}
	defer func() { f.stop(); _ = s.drop(ctx, "measured") }()
	if err := w.connect(ctx, f.url); err != nil {
		return err
	}
	for _, m := range []struct {
		name      messenger.Name
		calls     *fault.Log
		perSecond float64
	}{{messenger.Telegram, &w.calls.telegram, 30}, {messenger.VK, &w.calls.vk, 20}} {
		if _, err := w.newcomer(m.name, newcomers).says(ctx, "/start"); err != nil { // the first call opens connections
			return err
		}
		var all []*person
		for n := range newcomers {
			all = append(all, w.newcomer(m.name, n))
		}
		took, err := arrive(ctx, all, m.calls)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		label := fmt.Sprintf("%s, %d newcomers at once", m.name, newcomers)
		if limited {
			r.figure(label+", within its limits: the last reply", percentile(took, 1)/1000, "s")
			r.figure(fmt.Sprintf("%s, within its limits: %d at %g/s", label, newcomers, m.perSecond), newcomers/m.perSecond, "s")
			continue
		}
		r.figure(label+": replies", float64(len(took)), "")
		r.figure(label+": p50", percentile(took, 0.5), "ms")
		r.atMost(label+": p99", percentile(took, 0.99), burstMost, "ms")
	}
	return nil
}

// arrive lets people come at once and gives the time to each one's reply. Whoever gets
// none, or two, is an error.
func arrive(ctx context.Context, people []*person, calls *fault.Log) ([]time.Duration, error) {
	before := len(calls.Since(0))
	wrote := make([]time.Time, len(people))
	var all sync.WaitGroup
	for i, p := range people {
		all.Add(1)
		go func() {
			defer all.Done()
			wrote[i] = time.Now()
			p.write("/start")
		}()
	}
	all.Wait()
	ctx, cancel := context.WithTimeout(ctx, burstWait)
	defer cancel()
	replied := map[int64][]time.Time{}
	seen := before
	err := calls.Wait(ctx, func(list []fault.Call) bool {
		for _, c := range list[seen:] {
			if sends(c) {
				id := customerIn(c.Params)
				replied[id] = append(replied[id], c.At)
			}
		}
		seen = len(list)
		return !slices.ContainsFunc(people, func(p *person) bool { return len(replied[p.id]) == 0 })
	})
	if err != nil {
		return nil, fmt.Errorf("%d of %d got a reply: %w", len(replied), len(people), err)
	}
	took := make([]time.Duration, len(people))
	for i, p := range people {
		if n := len(replied[p.id]); n != 1 {
			return nil, fmt.Errorf("somebody got %d replies", n)
		}
		took[i] = replied[p.id][0].Sub(wrote[i])
	}
	return took, nil
}

func sends(c fault.Call) bool {
	return c.Effect && (c.Method == "sendMessage" || c.Method == "messages.send")
}
