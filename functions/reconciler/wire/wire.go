// Package wire puts the reconciler together.
package wire

import (
	"context"
	"time"

	"supportbot/shared/conversation"
	"supportbot/shared/delivery"
	"supportbot/shared/job"
	"supportbot/shared/messenger/all"
	"supportbot/shared/news"
	"supportbot/shared/reconcile"
	"supportbot/shared/ticketing"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
)

// staleAfter is how old an unfinished entry of a conversation has to be.
const staleAfter = time.Minute

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
	poll := &news.Poll{
		Tracker: b.Tracker, Store: b.DB, Publisher: b.Publisher, Queues: b.Catalogue.Queues(), Now: time.Now,
	}
	return &reconcile.Service{Leases: b.DB, Log: rt.Log, Duties: []reconcile.Duty{
		{Name: "jobs", Time: 20 * time.Second, Run: func(ctx context.Context) (int, error) { return 0, jobs.Pass(ctx) }},
		{Name: "conversations", Time: 20 * time.Second, Run: func(ctx context.Context) (int, error) {
			return talk.CompleteStale(ctx, staleAfter)
		}},
		{Name: "poll", Time: 20 * time.Second, Run: poll.Run},
	}}, nil
}

func review(j job.Job) []job.New { return append(ticketing.Review(j), delivery.Review(j)...) }
