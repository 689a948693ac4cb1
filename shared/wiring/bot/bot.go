// Package bot wires what talks to customers and to Tracker.
package bot

import (
	"context"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // the runtime may have none

	"github.com/redis/go-redis/v9"

	"supportbot/shared/catalogue"
	"supportbot/shared/conversation"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/pace"
	"supportbot/shared/redisdb"
	"supportbot/shared/ticketing"
	v3 "supportbot/shared/tracker/v3"
	"supportbot/shared/wiring"
)

// Bot is the parts that several functions share.
type Bot struct {
	wiring.Core
	rt            wiring.Runtime
	Redis         *redis.Client
	Conversations *redisdb.Conversations
	Tickets       *redisdb.Tickets
	Pace          *pace.Limiter
	Tracker       *v3.Client
	Catalogue     *catalogue.Catalogue
	Rule          *news.Rule
	Zone          *time.Location // of the times that people see
	AgentLocale   string
}

// New opens the parts; it calls nobody yet.
func New(rt wiring.Runtime) (*Bot, error) {
	e := rt.Env
	store, tracker, limits, book := redisdb.ConfigFrom(e), v3.ConfigFrom(e), pace.ConfigFrom(e), catalogue.ConfigFrom(e)
	prefix, locale := e.String("REPLY_PREFIX", "/reply"), e.String("AGENT_LOCALE", catalogue.Russian)
	zone, zerr := time.LoadLocation(e.String("TIME_ZONE", "Europe/Moscow"))
	core, err := wiring.NewCore(rt)
	if err := errors.Join(err, zerr); err != nil {
		return nil, err
	}
	b := &Bot{Core: core, rt: rt, Zone: zone, AgentLocale: locale}
	if b.Redis, err = redisdb.Open(store); err != nil {
		return nil, err
	}
	b.Conversations, b.Tickets = redisdb.NewConversations(b.Redis), redisdb.NewTickets(b.Redis)
	b.Pace = pace.New(limits, redisdb.NewPace(b.Redis, redisdb.PaceConfig{}), rt.Log)
	tracker.Pace = b.Pace.Tracker
	if b.Tracker, err = v3.New(tracker); err != nil {
		return nil, err
	}
	if b.Catalogue, err = catalogue.Load(book); err != nil {
		return nil, fmt.Errorf("load catalogue: %w", err)
	}
	b.Rule = &news.Rule{Prefix: prefix, Myself: b.Tracker.Myself}
	return b, nil
}

// Conversation is the customer's side, talking through the given messengers.
func (b *Bot) Conversation(senders ...conversation.Sender) *conversation.Service {
	d := conversation.Deps{
		Store: b.Conversations, Records: b.DB, Publisher: b.Publisher, Pacer: b.Pace, Senders: senders,
		Lister:    &ticketing.Lister{Tracker: b.Tracker, Catalogue: b.Catalogue, Rule: b.Rule},
		Catalogue: b.Catalogue, Zone: b.Zone, Now: time.Now, Log: b.rt.Log,
	}
	if b.rt.Hook != nil {
		d.Hook = func(s conversation.Stage) { b.rt.Hook(string(s)) }
	}
	return conversation.New(d)
}

// SetReachable notes whether an address can be written to, also in the kept copy
// of the person.
func (b *Bot) SetReachable(ctx context.Context, a messenger.Address, reachable bool) error {
	if err := b.DB.SetReachable(ctx, a, reachable); err != nil {
		return err
	}
	if err := b.Conversations.ForgetPerson(ctx, a); err != nil {
		b.rt.Log.WarnContext(ctx, "kept copy of a person was not dropped", "error", err)
	}
	return nil
}
