// Package wire puts the worker on customers' requests together.
package wire

import (
	"supportbot/shared/conversation"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/ticket"
	"supportbot/shared/ticketing"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
)

// New makes the worker on the queue tickets.
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
	senders := make([]conversation.Sender, len(messengers))
	for i, m := range messengers {
		senders[i] = m
	}
	s := ticketing.New(ticketing.Deps{
		Tracker: b.Tracker, Records: b.DB, Lists: b.Tickets, Conversation: b.Conversation(senders...),
		Files:     func(a messenger.Address) (ticketing.Files, bool) { return messengers.For(a) },
		Catalogue: b.Catalogue, ReplyPrefix: b.Rule.Prefix, AgentLocale: b.AgentLocale, Zone: b.Zone, Log: rt.Log,
	})
	return b.Worker(rt, ticket.QueueTickets, s.Kinds()), nil
}
