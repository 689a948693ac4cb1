// Package wire puts the reconciler together.
package wire

import (
	"context"
	"strings"
	"time"

	"supportbot/shared/alarm"
	"supportbot/shared/conversation"
	"supportbot/shared/delivery"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/news"
	"supportbot/shared/pace"
	"supportbot/shared/reconcile"
	"supportbot/shared/redisdb"
	"supportbot/shared/ticketing"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
)

// staleAfter is how old an unfinished entry of a conversation has to be.
const staleAfter = time.Minute

// alarmWait is how long an alarm waits for its turn among other messages.
const alarmWait = 5 * time.Second

// purged is how many batches lose their old recipients in one pass.
const purged = 5

// New makes the duties of the timer.
func New(rt wiring.Runtime) (*reconcile.Service, error) {
	messengers, err := all.From(rt.Env, rt.Log)
	if err != nil {
		return nil, err
	}
	b, err := bot.New(rt)
	if err != nil {
		return nil, err
	}
	senders := make([]conversation.Sender, len(messengers))
	for i, m := range messengers {
		senders[i] = m
	}
	talk := b.Conversation(senders...)
	jobs := &job.Reconciler{Store: b.DB, Publisher: b.Publisher, Log: rt.Log, Review: review}
	alarms := alarmsOf(rt, b, messengers)
	poll := &news.Poll{
		Tracker: b.Tracker, Store: b.DB, Publisher: b.Publisher, Queues: b.Catalogue.Queues(), Now: rt.Clock(),
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
		{Name: "alarms", Time: 10 * time.Second, Run: alarms.Run},
		{Name: "purge", Time: 10 * time.Second, Run: func(ctx context.Context) (int, error) {
			n, err := b.DB.PurgeRecipients(ctx, purged)
			return int(n), err
		}},
	}
	for _, m := range messengers {
		if h, ok := m.(reconcile.History); ok {
			missed := &reconcile.Missed{
				Messenger: h, Take: talk.Missed, Store: b.DB, Memory: redisdb.NewMemory(b.Redis),
				Pace: b.Pace.Class(pace.Broadcasts), Now: rt.Clock(), Log: rt.Log, // behind all answers
			}
			duties = append(duties, reconcile.Duty{Name: "missed:" + string(m.Name()), Time: 30 * time.Second, Run: missed.Run})
		}
	}
	return &reconcile.Service{Leases: b.DB, Log: rt.Log, Duties: duties}, nil
}

// alarmsOf tells the chat that OPERATOR_CHAT names: telegram:123 or vk:123. One that
// cannot be is said in the log: the other duties go on.
func alarmsOf(rt wiring.Runtime, b *bot.Bot, messengers all.Adapters) *alarm.Service {
	s := &alarm.Service{Store: b.DB, Locale: b.AgentLocale, Log: rt.Log, Read: func(ctx context.Context) (alarm.Reading, error) {
		h, err := b.DB.Health(ctx)
		return alarm.Reading{Now: h.Now, Reviews: h.Reviews, Late: h.Late, Loaded: h.Loaded}, err
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
		s.Send = func(ctx context.Context, text string) error {
			to := messenger.Address{Messenger: m.Name(), Bot: m.Bot(), Chat: id}
			if err := b.Pace.Wait(ctx, to, alarmWait); err != nil {
				return err
			}
			key := "alarm:" + text + time.Now().UTC().Format(" 2006-01-02T15")
			_, err := m.Send(ctx, messenger.Outgoing{Chat: id, Part: m.Plain(text)[0], Key: key})
			return err
		}
		return s
	}
	rt.Log.ErrorContext(context.Background(), "OPERATOR_CHAT is not of the form telegram:123456 or vk:123456 with a messenger that is set up: alarms are only in the log")
	return s
}

func review(j job.Job) []job.New { return append(ticketing.Review(j), delivery.Review(j)...) }
