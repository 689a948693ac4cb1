package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/messenger"
)

const (
	// defaultWait is for a refusal for too many calls that does not name a wait.
	defaultWait = 5 * time.Second
	// waitMost is the longest wait that is believed; then Telegram may say it again.
	waitMost = 24 * time.Hour
)

func wait(seconds int) time.Duration {
	if seconds <= 0 {
		return defaultWait
	}
	return time.Duration(min(seconds, int(waitMost/time.Second))) * time.Second
}

// failure turns the error of a call into one of the port.
func (x *exchange) failure(method string, err error) *messenger.Error {
	err = withoutURL(err)
	var refused *tgbotapi.Error
	switch {
	case errors.As(err, &refused):
		if refused.Code == 0 { // the library loses it for an upload; the status is the same number
			refused.Code = x.status
		}
		return refusal(method, refused)
	case x.status != 0:
		return x.unreadable(method)
	case !x.connected.Load():
		return &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("%s: not connected: %w", method, err)}
	}
	return uncertain(method, err)
}

// unreadable is an answer that is not the Bot API's: some proxy's page, or one that
// broke off. A proxy that answers 3xx or 4xx has passed nothing on.
func (x *exchange) unreadable(method string) *messenger.Error {
	e := &messenger.Error{Kind: messenger.Uncertain, Code: x.status, Err: fmt.Errorf("%s: answer cannot be read", method)}
	switch {
	case x.status == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(x.retry) // what is no number names no wait
		e.Kind, e.RetryAfter = messenger.RateLimited, wait(seconds)
	case x.status == http.StatusRequestEntityTooLarge:
		e.Kind = messenger.Invalid
	case x.status >= 300 && x.status < 500:
		e.Kind = messenger.Temporary
	}
	return e
}

// refusal turns an answer of the Bot API into an error of the port. Telegram's
// description is left out, since it can repeat what was sent; its meaning is
// said in our own words.
func refusal(method string, refused *tgbotapi.Error) *messenger.Error {
	e := &messenger.Error{Code: refused.Code}
	said := strings.ToLower(refused.Message)
	kind, meaning := meaning(refused.Code, said)
	e.Kind, e.Err = kind, fmt.Errorf("%s: %w", method, &description{meaning: meaning, said: said})
	switch {
	case refused.MigrateToChatID != 0:
		e.Kind, e.NewChat = messenger.Moved, decimal(refused.MigrateToChatID)
	case kind == messenger.RateLimited:
		e.RetryAfter = wait(refused.RetryAfter)
	}
	return e
}

// description keeps what Telegram said for decisions, and shows what it means.
type description struct {
	meaning string
	said    string // lower case; never shown
}

func (d *description) Error() string { return d.meaning }

// says reports whether Telegram refused with one of these words.
func says(err error, words ...string) bool {
	var d *description
	if !errors.As(err, &d) {
		return false
	}
	for _, w := range words {
		if strings.Contains(d.said, w) {
			return true
		}
	}
	return false
}

// meaning sorts the errors of the Bot API (core.telegram.org/bots/api#making-requests;
// the texts are those of the published server, tdlib/telegram-bot-api).
func meaning(code int, said string) (messenger.ErrorKind, string) {
	switch {
	case code == http.StatusTooManyRequests:
		return messenger.RateLimited, "too many calls"
	case code == http.StatusForbidden:
		return messenger.Blocked, "the chat takes no messages from the bot"
	case code == http.StatusUnauthorized, code == http.StatusNotFound:
		return messenger.Temporary, "the bot's token is not valid: an operator has to replace it"
	case strings.Contains(said, webhookActive):
		return messenger.Temporary, "the bot has a webhook, which has to be removed first"
	case code == http.StatusConflict:
		return messenger.Temporary, "another process polls for the same bot"
	case code >= 500, code < 400:
		return messenger.Uncertain, "Telegram had an internal error"
	}
	for _, m := range []struct {
		words, meaning string
		kind           messenger.ErrorKind
	}{
		{"chat not found", "the chat does not exist or never wrote to the bot", messenger.Blocked},
		{"peer_id_invalid", "the chat does not exist or never wrote to the bot", messenger.Blocked},
		{"user is deactivated", "the account is deleted", messenger.Blocked},
		{"temporarily unavailable", "the file is not available at present", messenger.Temporary},
		{"can't parse entities", "the markup is wrong", messenger.Invalid},
		{"too long", "the text is too long", messenger.Invalid},
		{"too big", "the file is too big", messenger.Invalid},
		{"button_data_invalid", "a button's data is wrong", messenger.Invalid},
		{"message to edit not found", "the message is gone", messenger.Invalid},
		{"can't be edited", "the message can no longer be edited", messenger.Invalid},
		{"photo_invalid_dimensions", "the picture is too large or too narrow for a photo", messenger.Invalid},
	} {
		if strings.Contains(said, m.words) {
			return m.kind, m.meaning
		}
	}
	return messenger.Invalid, "Telegram refuses the request"
}

func invalid(text string) *messenger.Error {
	return &messenger.Error{Kind: messenger.Invalid, Err: errors.New(text)}
}

func uncertain(method string, err error) *messenger.Error {
	return &messenger.Error{Kind: messenger.Uncertain, Err: fmt.Errorf("%s: %w", method, err)}
}

// unread is the error of a file that cannot be read at its source, which may have
// said itself what to do.
func unread(err error) error {
	var e *messenger.Error
	if errors.As(err, &e) {
		return e
	}
	return &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("read file to send: %w", err)}
}

// harmless turns Uncertain into Temporary, for calls that no customer sees.
func harmless(err error) error {
	var e *messenger.Error
	if errors.As(err, &e) && e.Kind == messenger.Uncertain {
		mended := *e
		mended.Kind = messenger.Temporary
		return &mended
	}
	return err
}
