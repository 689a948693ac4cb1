// Package wire puts the reconciler together.
package wire

import (
	"context"
	"errors"
	"strings"
	"time"

	"supportbot/shared/alarm"
	"supportbot/shared/broadcast"
	"supportbot/shared/conversation"
	"supportbot/shared/delivery"
	"supportbot/shared/gauge"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/news"
	"supportbot/shared/pace"
	"supportbot/shared/queue"
	"supportbot/shared/reconcile"
	"supportbot/shared/redisdb"
	"supportbot/shared/ticket"
	"supportbot/shared/ticketing"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
)

// staleAfter is how old an unfinished entry of a conversation has to be.
const staleAfter = time.Minute

// alarmWait is how long an alarm waits for its turn among other messages.
const alarmWait = 5 * time.Second

// expired is how many old rows of each kind are deleted at once, how often, and for how
// long of a duty's time at the most; purged is how many recipients are.
const (
	purged       = 5000
	expired      = 500
	expiredEvery = 10 * time.Minute
	expiredTime  = 7 * time.Second
)

// measuredEvery is how often the gauges are read: with each pass in the cloud, not with
// each of a local run's.
const measuredEvery = 30 * time.Second

// New makes the duties of the timer.
func New(rt wiring.Runtime) (*reconcile.Service, error) {
	cfg := all.ConfigFrom(rt.Env)
	b, err := bot.New(rt)
	if err != nil {
		return nil, err
	}
	messengers, err := all.New(cfg, rt.Log, b.Pace.Call)
	if err != nil {
		b.DB.Close() // the next call of the function opens all of it anew
		return nil, err
	}
	senders := make([]conversation.Sender, len(messengers))
	for i, m := range messengers {
		senders[i] = m
	}
	talk := b.Conversation(senders...)
	jobs := &job.Reconciler{Store: b.DB, Publisher: b.Publisher, Log: rt.Log, Review: review}
	poll := &news.Poll{
		Tracker: b.Tracker, Store: b.DB, Publisher: b.Publisher, Queues: b.Catalogue.Queues(),
	}
	duties := []reconcile.Duty{
		{Name: "jobs", Time: 20 * time.Second, Run: func(ctx context.Context) (int, error) { return 0, jobs.Pass(ctx) }},
		{Name: "conversations", Time: 20 * time.Second, Run: func(ctx context.Context) (int, error) {
			return talk.CompleteStale(ctx, staleAfter)
		}},
		{Name: "broadcasts", Time: 20 * time.Second, Run: func(ctx context.Context) (int, error) {
			ready, changed, err := b.DB.SettleAll(ctx)
			b.Publisher.Publish(ctx, ready)
			return changed, err
		}},
		{Name: "poll", Time: 20 * time.Second, Run: poll.Run},
	}
	duties = append(duties, drain(rt, b)...)
	duties = append(duties, tidy(rt, b, messengers)...)
	for _, m := range messengers {
		if h, ok := m.(reconcile.History); ok {
			missed := &reconcile.Missed{
				Messenger: h, Take: talk.Missed, Store: b.DB, Memory: redisdb.NewMemory(b.Redis),
				Pace: b.Pace.Class(pace.Broadcasts), Log: rt.Log, // behind all answers
			}
			duties = append(duties, reconcile.Duty{Name: "missed:" + string(m.Name()), Time: 30 * time.Second, Run: missed.Run})
		}
	}
	passed := func(ctx context.Context, took time.Duration) error { return b.DB.DutyDone(ctx, gauge.DutyOfPass, took) }
	return &reconcile.Service{Leases: b.DB, Log: rt.Log, Duties: duties, Passed: passed}, nil
}

// drain empties the queues of dead letters; none where the queue only sends.
func drain(rt wiring.Runtime, b *bot.Bot) []reconcile.Duty {
	source, ok := b.Queue.(queue.Source)
	if !ok {
		return nil
	}
	dead := &reconcile.Dead{Queues: queues(), Source: source, Store: b.DB, Log: rt.Log}
	return []reconcile.Duty{{Name: "dead letters", Time: 10 * time.Second, Run: dead.Run}}
}

// tidy tells people of what does not go by itself, and deletes what is over.
func tidy(rt wiring.Runtime, b *bot.Bot, messengers all.Adapters) []reconcile.Duty {
	return []reconcile.Duty{
		{Name: "alarms", Time: 10 * time.Second, Run: alarmsOf(rt, b, messengers).Run},
		{Name: "gauges", Time: 10 * time.Second, Run: gaugesOf(rt, b, messengers).Run, Quiet: true, Every: measuredEvery},
		{Name: "purge", Time: 10 * time.Second, Run: func(ctx context.Context) (int, error) {
			n, err := b.DB.PurgeRecipients(ctx, purged, time.Now().Add(expiredTime))
			return int(n), err
		}},
		{Name: "expire", Time: 10 * time.Second, Every: expiredEvery, Run: func(ctx context.Context) (int, error) {
			n, err := b.DB.Expire(ctx, expired, time.Now().Add(expiredTime))
			return int(n), err
		}},
	}
}

func queues() []string { return []string{ticket.QueueTickets, ticket.QueueDeliveries, broadcast.Queue} }

// alarmsOf tells the chat that OPERATOR_CHAT names: telegram:123 or vk:123. One that
// cannot be is said in the log: the other duties go on.
func alarmsOf(rt wiring.Runtime, b *bot.Bot, messengers all.Adapters) *alarm.Service {
	s := &alarm.Service{Store: b.DB, Locale: b.AgentLocale, Log: rt.Log, Read: func(ctx context.Context) (alarm.Reading, error) {
		h, err := b.DB.Health(ctx)
		return alarm.Reading{Now: h.Now, Reviews: h.Reviews, Dead: h.Dead, Late: h.Late, Loaded: h.Loaded}, err
	}}
	chat := rt.Env.String("OPERATOR_CHAT", "")
	if chat == "" {
		return s
	}
	name, id, _ := strings.Cut(chat, ":")
	for _, m := range messengers {
		if string(m.Name()) != name || id == "" {
			continue
		}
		s.Send = func(ctx context.Context, key, text string) error {
			to := messenger.Address{Messenger: m.Name(), Bot: m.Bot(), Chat: id}
			if err := b.Pace.Wait(ctx, to, alarmWait); err != nil {
				return err
			}
			_, err := m.Send(ctx, messenger.Outgoing{Chat: id, Part: m.Plain(text)[0], Key: key})
			var e *messenger.Error
			if errors.As(err, &e) && e.Refused() {
				b.Pace.Refused(ctx, to, e.RetryAfter)
			}
			return err
		}
		return s
	}
	rt.Log.ErrorContext(context.Background(), "OPERATOR_CHAT is not of the form telegram:123456 or vk:123456 with a messenger that is set up: alarms are only in the log")
	return s
}

func review(j job.Job) []job.New { return append(ticketing.Review(j), delivery.Review(j)...) }
