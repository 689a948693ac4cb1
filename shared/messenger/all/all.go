// Package all lists the messengers: the one place that names every adapter.
package all

import (
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

// From makes the adapters whose token is set. None at all is an error.
func From(e *env.Reader, log *slog.Logger) (Adapters, error) {
	known := []struct {
		token string // the variable
		open  func() (messenger.Adapter, error)
	}{
		{"TELEGRAM_TOKEN", func() (messenger.Adapter, error) {
			cfg := telegram.ConfigFrom(e)
			cfg.Log = log
			return telegram.New(cfg)
		}},
		{"VK_TOKEN", func() (messenger.Adapter, error) {
			cfg := vk.ConfigFrom(e)
			cfg.Log = log
			return vk.New(cfg)
		}},
	}
	var list Adapters
	var tokens []string
	var problems []error
	for _, k := range known {
		tokens = append(tokens, k.token)
		if e.String(k.token, "") == "" {
			continue
		}
		m, err := k.open()
		list, problems = append(list, m), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no messenger: none of %s is set", strings.Join(tokens, ", "))
	}
	return list, nil
}
