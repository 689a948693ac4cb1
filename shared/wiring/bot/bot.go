// Package bot wires what talks to customers and to Tracker.
package bot

import (
	"context"
	"fmt"
	"time"
	_ "time/tzdata" // the runtime may have none

	"github.com/redis/go-redis/v9"

	"supportbot/shared/access"
	"supportbot/shared/catalogue"
	"supportbot/shared/conversation"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/obs"
	"supportbot/shared/pace"
	"supportbot/shared/privacy"
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
	Access        *access.Service
	Zone          *time.Location // of the times that people see
	AgentLocale   string
}

// config is what the parts are made of.
type config struct {
	redis   redisdb.Config
	tracker v3.Config
	pace    pace.Config
	book    catalogue.Config
	prefix  string
	console string
}

// New opens the parts; it calls nobody yet.
func New(rt wiring.Runtime) (*Bot, error) {
	e := rt.Env
	cfg := config{
		redis: redisdb.ConfigFrom(e), tracker: v3.ConfigFrom(e), pace: pace.ConfigFrom(e), book: catalogue.ConfigFrom(e),
		prefix: e.String("REPLY_PREFIX", "/reply"), console: e.String("CONSOLE_URL", ""),
	}
	b := &Bot{rt: rt, Zone: e.Zone("TIME_ZONE", "Europe/Moscow"), AgentLocale: e.String("AGENT_LOCALE", catalogue.Russian)}
	var err error
	if b.Core, err = wiring.NewCore(rt); err != nil {
		return nil, err
	}
	if err := b.open(cfg); err != nil {
		b.DB.Close() // the next call of the function opens all of it anew
		return nil, err
	}
	return b, nil
}

func (b *Bot) open(cfg config) (err error) {
	if b.Redis, err = redisdb.Open(cfg.redis); err != nil {
		return err
	}
	b.Conversations, b.Tickets = redisdb.NewConversations(b.Redis), redisdb.NewTickets(b.Redis)
	b.Access = &access.Service{
		Codes: redisdb.NewSessions(b.Redis), People: b.DB, Forget: b.Conversations.ForgetPerson, Console: cfg.console, Log: b.rt.Log,
	}
	cfg.tracker.Now = b.rt.Now // the pace asks only how long something takes
	b.Pace = pace.New(cfg.pace, redisdb.NewPace(b.Redis, redisdb.PaceConfig{}), b.rt.Log)
	cfg.tracker.Pace, cfg.tracker.Refused = b.Pace.Tracker, b.Pace.TrackerRefused
	if b.Tracker, err = v3.New(cfg.tracker); err != nil {
		return err
	}
	if b.Catalogue, err = catalogue.Load(cfg.book); err != nil {
		return fmt.Errorf("load catalogue: %w", err)
	}
	b.Rule = &news.Rule{Prefix: cfg.prefix, Myself: b.Tracker.Myself}
	return nil
}

// Conversation is the customer's side, talking through the given messengers.
func (b *Bot) Conversation(senders ...conversation.Sender) *conversation.Service {
	d := conversation.Deps{
		Store: b.Conversations, Records: b.DB, Publisher: b.Publisher, Pacer: b.Pace, Access: b.Access, Senders: senders,
		Lister:    &ticketing.Lister{Tracker: b.Tracker, Catalogue: b.Catalogue, Rule: b.Rule},
		Catalogue: b.Catalogue, Zone: b.Zone, Now: b.rt.Clock(), Log: b.rt.Log,
	}
	if b.rt.Hook != nil {
		d.Hook = func(s conversation.Stage) { b.rt.Hook(string(s)) }
	}
	return conversation.New(d)
}

// Privacy hands out and forgets what is known of customers.
func (b *Bot) Privacy(senders func(messenger.Address) (privacy.Sender, bool)) *privacy.Service {
	return privacy.New(privacy.Deps{
		Tracker: b.Tracker, Queues: b.Catalogue.Queues(), People: b.DB, Conversations: b.Conversations, Senders: senders, Pacer: b.Pace,
	})
}

// OpenTickets gives the chats that have a ticket without a resolution.
func (b *Bot) OpenTickets(ctx context.Context) (chats []messenger.Address, err error) {
	for issue, err := range b.Tracker.Open(ctx, b.Catalogue.Queues()...) {
		if err != nil {
			return nil, err
		}
		if owner, ok := news.CustomerOf(issue); ok {
			chats = append(chats, owner.Address)
		}
	}
	return chats, nil
}

// SetReachable notes whether an address can be written to, also in the kept copy
// of the person.
func (b *Bot) SetReachable(ctx context.Context, a messenger.Address, reachable bool) error {
	if err := b.DB.SetReachable(ctx, a, reachable); err != nil {
		return err
	}
	if err := b.Conversations.ForgetPerson(ctx, a); err != nil {
		b.rt.Log.WarnContext(ctx, "kept copy of a person was not dropped", obs.Error, err.Error())
	}
	return nil
}
