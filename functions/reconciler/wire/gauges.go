package wire

import (
	"context"
	"errors"
	"time"

	"supportbot/shared/gauge"
	"supportbot/shared/messenger/all"
	"supportbot/shared/pace"
	"supportbot/shared/queue"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
)

// gaugesOf measures the database, the queues and the pace.
func gaugesOf(rt wiring.Runtime, b *bot.Bot, messengers all.Adapters) *gauge.Service {
	s := &gauge.Service{Store: b.DB, Log: rt.Log, Sources: []gauge.Source{b.DB.Measure, paceOf(b, messengers)}}
	if counter, ok := b.Queue.(queue.Counter); ok {
		s.Sources = append(s.Sources, depthOf(counter))
	}
	return s
}

// depthOf counts the messages of each queue.
func depthOf(counter queue.Counter) gauge.Source {
	return func(ctx context.Context) (samples []gauge.Sample, err error) {
		var problems []error
		for _, name := range queues() {
			n, err := counter.Count(ctx, name)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			samples = append(samples, gauge.Sample{Name: gauge.Messages, Labels: map[string]string{"queue": name}, Value: float64(n)})
		}
		return samples, errors.Join(problems...)
	}
}

// paceOf looks how far away the next places are, for answers and for broadcasts, and for
// calls to Tracker.
func paceOf(b *bot.Bot, messengers all.Adapters) gauge.Source {
	return func(ctx context.Context) (samples []gauge.Sample, err error) {
		add := func(service, class string, wait time.Duration) {
			samples = append(samples, gauge.Sample{Name: gauge.Pace, Labels: map[string]string{"service": service, "class": class}, Value: wait.Seconds()})
		}
		for _, m := range messengers {
			for class, l := range map[string]*pace.Limiter{"answers": b.Pace, "broadcasts": b.Pace.Class(pace.Broadcasts)} {
				wait, err := l.Ahead(ctx, m.Name(), m.Bot())
				if err != nil {
					return samples, err // the others would not answer either
				}
				add(string(m.Name()), class, wait)
			}
		}
		wait, err := b.Pace.TrackerAhead(ctx)
		if err != nil {
			return samples, err
		}
		add("tracker", "answers", wait)
		return samples, nil
	}
}
