// Package all lists the messengers: the one place that names every adapter.
package all

import (
	"errors"
	"log/slog"

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

// From makes the adapters whose token is set. None at all is an error.
func From(e *env.Reader, log *slog.Logger) (Adapters, error) {
	var list Adapters
	add := func(m messenger.Adapter, err error) error {
		if err == nil {
			list = append(list, m)
		}
		return err
	}
	var problems []error
	if e.String("TELEGRAM_TOKEN", "") != "" {
		cfg := telegram.ConfigFrom(e)
		cfg.Log = log
		m, err := telegram.New(cfg)
		problems = append(problems, add(m, err))
	}
	if e.String("VK_TOKEN", "") != "" {
		cfg := vk.ConfigFrom(e)
		cfg.Log = log
		m, err := vk.New(cfg)
		problems = append(problems, add(m, err))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("no messenger: neither TELEGRAM_TOKEN nor VK_TOKEN is set")
	}
	return list, nil
}
