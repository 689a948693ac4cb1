package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"supportbot/functions/local/platform"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/telegram"
	"supportbot/shared/messenger/vk"
	"supportbot/shared/obs"
	"supportbot/shared/sandbox"
	"supportbot/shared/tracker"
	v3 "supportbot/shared/tracker/v3"
)

// connect joins the services with the platform: the stand-ins call its webhooks,
// real messengers are asked by long polling, since nobody outside can call a
// machine without a public address. A real Tracker is polled by the reconciler.
// told says which real services take part.
func connect(ctx context.Context, r *sandbox.Running, vars variables, p *platform.Platform, base string, start func(func() error)) (told []string, err error) {
	if r.Telegram != nil {
		r.Telegram.Connect(base+"/telegram", vars.or("TELEGRAM_WEBHOOK_SECRET", ""))
	} else {
		bot, err := telegram.New(telegram.ConfigFrom(env.NewReaderFrom(vars.get)))
		if err != nil {
			return nil, err
		}
		told = append(told, "Telegram: your bot "+bot.Bot()+", asked by long polling")
		start(func() error { return polling{"Telegram", refusedByTelegram, pollAgain}.run(ctx, bot, p.Telegram) })
	}
	if r.VK != nil {
		r.VK.Connect(base + "/vk")
	} else {
		bot, err := vk.New(vk.ConfigFrom(env.NewReaderFrom(vars.get)))
		if err != nil {
			return nil, err
		}
		told = append(told, "VK: your community "+bot.Bot()+", asked by long polling")
		start(func() error { return polling{"VK", refusedByVK, pollAgain}.run(ctx, bot, p.VK) })
	}
	if r.Tracker == nil {
		return told, nil
	}
	access := platform.TrackerAccess{URL: r.TrackerURL, Token: r.TrackerToken, Org: r.TrackerOrg}
	catalogue := r.Tracker.Catalogue()
	for _, q := range catalogue.Queues {
		err := platform.ConnectTracker(ctx, access, q.Key, catalogue.Robot, base+"/tracker", vars.or("TRACKER_WEBHOOK_SECRET", ""))
		if err != nil {
			return nil, fmt.Errorf("connect queue %s: %w", q.Key, err)
		}
	}
	return told, nil
}

type poller interface {
	Poll(ctx context.Context, handler http.Handler) error
}

const pollAgain = 5 * time.Second

// polling is how a messenger is asked.
type polling struct {
	name    string
	refused func(code int) string // what a person has to mend, by error code; "": nothing
	again   time.Duration         // until it is asked anew after it could not be reached
}

// run asks until ctx ends, or until the messenger refuses.
func (c polling) run(ctx context.Context, bot poller, handler http.Handler) error {
	for {
		err := bot.Poll(ctx, handler)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to end
		}
		var e *messenger.Error
		if !errors.As(err, &e) {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if advice := c.refused(e.Code); advice != "" {
			return fmt.Errorf("%s: %s (%w)", c.name, advice, e.Err)
		}
		logger("local").WarnContext(ctx, "messenger is not reached, it will be asked again", obs.Messenger, c.name, obs.Error, err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(c.again, e.RetryAfter)):
		}
	}
}

// refusedByTelegram: its codes are those of HTTP (core.telegram.org/bots/api).
func refusedByTelegram(code int) string {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return "it does not know this TELEGRAM_TOKEN; @BotFather shows the right one"
	case http.StatusConflict:
		return "somebody else gets this bot's updates: another run, or a webhook, which " +
			"https://api.telegram.org/bot<token>/deleteWebhook takes away from whoever set it"
	}
	return ""
}

// refusedByVK: dev.vk.com/reference/errors.
func refusedByVK(code int) string {
	switch code {
	case 5, 27, 28:
		return "it does not accept VK_TOKEN; the community's settings, API usage, give a new one"
	case 7, 15, 20, 42:
		return "VK_TOKEN lacks rights: it needs those to manage the community and its messages"
	case 100, 125:
		return "VK_GROUP_ID is not the number of the token's community"
	}
	return ""
}

// askTracker finds out whether a real Tracker takes the token and has the queue
// and its fields. told says so; one that does not answer is told too and no error,
// since everything waits for it.
func askTracker(ctx context.Context, vars variables, r *sandbox.Running) (told []string, err error) {
	if r.Tracker != nil {
		return nil, nil
	}
	reader := env.NewReaderFrom(vars.get)
	cfg := v3.ConfigFrom(reader)
	if err := reader.Err(); err != nil {
		return nil, err
	}
	client, err := v3.New(cfg)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	robot, err := client.Myself(ctx)
	if err == nil {
		_, err = client.Search(ctx, nil, everyField(), 1)
	}
	if err == nil {
		return []string{fmt.Sprintf("Tracker: your queue %s as %s, looked at every %s", cfg.Queue, robot.Login, liveTick)}, nil
	}
	switch tracker.KindOf(err) {
	case tracker.Forbidden:
		return nil, fmt.Errorf("TRACKER_TOKEN is not accepted by Tracker for this organisation and queue: %w", err)
	case tracker.NotFound, tracker.Invalid:
		return nil, fmt.Errorf("queue %s with the fields that README.md names is not in Tracker: %w", cfg.Queue, err)
	}
	logger("local").WarnContext(ctx, "Tracker is not reached, it will be asked again", slog.Any(obs.Error, err))
	return []string{"Tracker: your queue " + cfg.Queue + ", not reached yet"}, nil
}

// everyField is a search that finds nothing: Tracker refuses it where one of the
// fields is missing.
func everyField() map[tracker.Field]string {
	fields := map[tracker.Field]string{}
	for _, f := range tracker.Fields {
		fields[f] = "none"
	}
	return fields
}
