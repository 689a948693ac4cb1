package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// Updates are the kinds of updates that mean something here, for setWebhook.
func Updates() []string {
	var kinds []string
	if err := json.Unmarshal([]byte(wanted), &kinds); err != nil {
		panic(err) // it is a constant
	}
	return kinds
}

// Manage calls a method by which the bot itself is set up (core.telegram.org/bots/api:
// setWebhook, setMyCommands, ...) and decodes its result into result, unless that is
// nil. The error is a *messenger.Error; other than those of sends it repeats what
// Telegram says, since these methods carry nothing that people wrote, but for secrets.
func (b *Bot) Manage(ctx context.Context, method string, params map[string]string, result any) error {
	err := harmless(b.call(ctx, method, tgbotapi.Params(params), result))
	var d *description
	if errors.As(err, &d) {
		said := d.said
		for _, secret := range []string{b.token.Reveal(), params["secret_token"]} {
			if secret != "" {
				said = strings.ReplaceAll(said, strings.ToLower(secret), "[redacted]")
			}
		}
		return fmt.Errorf("%w (%s)", err, said)
	}
	return err
}
