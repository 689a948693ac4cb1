package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	"supportbot/functions/local/platform"
	"supportbot/shared/env"
	"supportbot/shared/messenger/telegram"
	"supportbot/shared/messenger/vk"
	"supportbot/shared/sandbox"
)

// variables are settings that the local run found for itself; the environment
// goes before them.
type variables map[string]string

func (v variables) get(name string) (string, bool) {
	if s, ok := os.LookupEnv(name); ok && s != "" {
		return s, true
	}
	s, ok := v[name]
	return s, ok
}

func (v variables) or(name, fallback string) string {
	if s, ok := v.get(name); ok && s != "" {
		return s
	}
	return fallback
}

// openServices starts a stand-in for each service whose token is not set.
func openServices(vars variables) (*sandbox.Running, error) {
	listen := func(name string) string {
		if os.Getenv(name) != "" {
			return sandbox.Off
		}
		return "127.0.0.1:0"
	}
	cfg := sandbox.ServersConfig{Telegram: listen("TELEGRAM_TOKEN"), VK: listen("VK_TOKEN"), Tracker: listen("TRACKER_TOKEN")}
	r, err := sandbox.Servers(cfg)
	if err != nil {
		return nil, err
	}
	for _, v := range r.Variables() {
		vars[v.Name] = v.Value
	}
	for _, name := range []string{"TELEGRAM_WEBHOOK_SECRET", "TRACKER_WEBHOOK_SECRET", "VK_SECRET", "VK_CONFIRMATION"} {
		if vars.or(name, "") == "" {
			vars[name] = secret()
		}
	}
	return r, nil
}

func secret() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// connect joins the services with the platform: the stand-ins call its webhooks,
// real messengers are asked by long polling, since nobody outside can call a
// machine without a public address. A real Tracker is polled by the reconciler.
func connect(ctx context.Context, r *sandbox.Running, vars variables, p *platform.Platform, base string, start func(func())) error {
	if r.Telegram != nil {
		r.Telegram.Connect(base+"/telegram", vars.or("TELEGRAM_WEBHOOK_SECRET", ""))
	} else {
		bot, err := telegram.New(telegram.ConfigFrom(env.NewReaderFrom(vars.get)))
		if err != nil {
			return err
		}
		start(func() { poll(ctx, "Telegram", bot, p.Telegram) })
	}
	if r.VK != nil {
		r.VK.Connect(base + "/vk")
	} else {
		bot, err := vk.New(vk.ConfigFrom(env.NewReaderFrom(vars.get)))
		if err != nil {
			return err
		}
		start(func() { poll(ctx, "VK", bot, p.VK) })
	}
	if r.Tracker == nil {
		return nil
	}
	access := platform.TrackerAccess{URL: r.TrackerURL, Token: r.TrackerToken, Org: r.TrackerOrg}
	catalogue := r.Tracker.Catalogue()
	for _, q := range catalogue.Queues {
		err := platform.ConnectTracker(ctx, access, q.Key, catalogue.Robot, base+"/tracker", vars.or("TRACKER_WEBHOOK_SECRET", ""))
		if err != nil {
			return fmt.Errorf("connect queue %s: %w", q.Key, err)
		}
	}
	return nil
}

type poller interface {
	Poll(ctx context.Context, handler http.Handler) error
}

func poll(ctx context.Context, name string, bot poller, handler http.Handler) {
	if err := bot.Poll(ctx, handler); err != nil && ctx.Err() == nil {
		logger("local").ErrorContext(ctx, "polling ended", slog.String("messenger", name), slog.Any("error", err))
	}
}
