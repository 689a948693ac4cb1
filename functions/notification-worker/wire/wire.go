// Package wire puts the worker on broadcasts together.
package wire

import (
	"supportbot/shared/broadcast"
	"supportbot/shared/broadcasting"
	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/pace"
	"supportbot/shared/redisdb"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
)

// New makes the worker on the queue broadcasts.
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
	pacer := b.Pace.Class(pace.Broadcasts)
	s := broadcasting.New(broadcasting.Deps{
		Store: b.DB, Live: redisdb.NewLive(b.Redis), Publisher: b.Publisher,
		Bots: messengers.Bots(), Pacer: pacer, Paid: pacer.Paid, Limit: pacer.BroadcastLimit, Reachable: b.SetReachable, Moved: b.DB.MoveChat, Tickets: b.OpenTickets,
		Senders: func(m messenger.Name, id string) (broadcasting.Sender, bool) {
			return messengers.For(messenger.Address{Messenger: m, Bot: id})
		},
		Buttons: dialog.UnsubscribeButtons, Now: rt.Clock(), Log: rt.Log,
	})
	return b.Worker(rt, broadcast.Queue, s.Kinds()), nil
}
