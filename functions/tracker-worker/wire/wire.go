// Package wire puts the worker on Tracker's news together.
package wire

import (
	"supportbot/shared/delivery"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/news"
	"supportbot/shared/privacy"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
)

// New makes the worker on the queue deliveries.
func New(rt wiring.Runtime) (*job.Worker, error) {
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
	looker := news.New(news.Deps{
		Tracker: b.Tracker, Store: b.DB, Publisher: b.Publisher, Lists: b.Tickets, Rule: b.Rule, Log: rt.Log,
	})
	deliveries := delivery.New(delivery.Deps{
		Tracker: b.Tracker, Records: b.DB, Reachable: b.SetReachable, Pacer: b.Pace, Rule: b.Rule,
		Senders:   func(a messenger.Address) (delivery.Sender, bool) { return messengers.For(a) },
		Catalogue: b.Catalogue, Log: rt.Log,
	})
	private := b.Privacy(func(a messenger.Address) (privacy.Sender, bool) { return messengers.For(a) })
	return b.Worker(rt, ticket.QueueDeliveries, looker.Kinds(), deliveries.Kinds(), private.Kinds()), nil
}
