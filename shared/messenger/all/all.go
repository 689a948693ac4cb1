// Package all lists the messengers: the one place that names every adapter.
package all

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"supportbot/shared/broadcast"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/telegram"
	"supportbot/shared/messenger/vk"
)

// Adapters are the messengers of a deployment, by name and bot.
type Adapters []messenger.Adapter

// For finds the adapter of an address.
func (as Adapters) For(a messenger.Address) (messenger.Adapter, bool) {
	for _, m := range as {
		if m.Name() == a.Messenger && m.Bot() == a.Bot {
			return m, true
		}
	}
	return nil, false
}

// Bots are the bots that can send, one in each messenger.
func (as Adapters) Bots() broadcast.Bots {
	bots := broadcast.Bots{}
	for _, m := range as {
		bots[m.Name()] = m.Bot()
	}
	return bots
}

// Pace waits until one more call of a bot's may be made: pace.Limiter.Call.
type Pace = func(ctx context.Context, m messenger.Name, bot string) error

// Config is what the messengers are made of whose token is set.
type Config struct {
	tokens []string // the variables of all messengers
	open   []open
}

type open func(log *slog.Logger, pace Pace) (messenger.Adapter, error)

// ConfigFrom reads the variables of the messengers whose token is set.
func ConfigFrom(e *env.Reader) Config {
	known := []struct {
		token string // the variable
		read  func() open
	}{
		{"TELEGRAM_TOKEN", func() open {
			cfg := telegram.ConfigFrom(e)
			return func(log *slog.Logger, _ Pace) (messenger.Adapter, error) { // it counts only messages
				cfg.Log = log
				return telegram.New(cfg)
			}
		}},
		{"VK_TOKEN", func() open {
			cfg := vk.ConfigFrom(e)
			return func(log *slog.Logger, pace Pace) (messenger.Adapter, error) {
				cfg.Log, cfg.Pace = log, pace
				return vk.New(cfg)
			}
		}},
	}
	var c Config
	for _, k := range known {
		c.tokens = append(c.tokens, k.token)
		if e.String(k.token, "") != "" {
			c.open = append(c.open, k.read())
		}
	}
	return c
}

// New makes the adapters. None at all is an error. Who sends a message waits for its
// place; pace is asked for the calls beside that, where a messenger counts them. nil:
// there is no limit.
func New(c Config, log *slog.Logger, pace Pace) (Adapters, error) {
	var list Adapters
	var problems []error
	for _, open := range c.open {
		m, err := open(log, pace)
		list, problems = append(list, m), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no messenger: none of %s is set", strings.Join(c.tokens, ", "))
	}
	return list, nil
}
