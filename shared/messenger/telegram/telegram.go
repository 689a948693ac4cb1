// Package telegram is the adapter to Telegram: a bot that is called by webhook
// and answers through the Bot API (10.1, core.telegram.org/bots/api).
//
// Calls go through go-telegram-bot-api, by its MakeRequest and UploadFiles: its
// typed methods ask getMe at start, know no context and end with Bot API 5.5. What
// Telegram sends is decoded into the library's types plus the fields that came
// after them. The token, which is a part of every address, is in no error.
package telegram

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/env"
	"supportbot/shared/markup"
	"supportbot/shared/messenger"
)

const defaultAPI = "https://api.telegram.org"

// limits of the Bot API (core.telegram.org/bots/api). It does not say what a
// "character" of a text is; UTF-16 code units never count less than it does.
// Sends have no key: a repeated one is a second message. Messages of one chat
// come in order, so nothing has to settle.
var limits = messenger.Limits{
	Text:     4096,
	Caption:  1024,
	Upload:   50 << 20,
	Photo:    10 << 20,
	Download: 20 << 20,
	Buttons:  100,
}

// Config is what a Bot is made of. Only Token is required.
type Config struct {
	Token env.Secret // "<bot id>:<secret>"
	// Secrets are what a webhook call may carry: one, or two while the secret is
	// being changed. Without any, Receive refuses every call.
	Secrets  []env.Secret
	Username string // the bot's, without "@"; only needed to know mentions in groups
	APIURL   string // "https://api.telegram.org" when empty

	Client *http.Client     // nil: one of the package's own, with time-outs
	Log    *slog.Logger     // nil: silent
	Now    func() time.Time // nil: time.Now; for presses, to which Telegram gives no time
}

// ConfigFrom reads what sending needs, TELEGRAM_TOKEN and TELEGRAM_API_URL, and
// what receiving needs, TELEGRAM_WEBHOOK_SECRET (several, comma separated, while
// it is being changed) and TELEGRAM_USERNAME. A function that receives names a
// missing secret as a problem by ReceiverConfigFrom.
func ConfigFrom(r *env.Reader) Config {
	return Config{
		Token: r.RequiredSecret("TELEGRAM_TOKEN"), APIURL: r.String("TELEGRAM_API_URL", defaultAPI),
		Secrets:  r.Secrets("TELEGRAM_WEBHOOK_SECRET"),
		Username: strings.TrimPrefix(r.String("TELEGRAM_USERNAME", ""), "@"),
	}
}

// ReceiverConfigFrom is ConfigFrom for a function that receives: there has to be
// a webhook secret.
func ReceiverConfigFrom(r *env.Reader) Config {
	r.RequiredSecrets("TELEGRAM_WEBHOOK_SECRET")
	return ConfigFrom(r)
}

// Bot is the adapter of one bot.
type Bot struct {
	id       int64 // the bot's user id
	username string
	token    env.Secret
	secrets  []env.Secret
	base     string // of the API, without a slash at its end
	api      *tgbotapi.BotAPI
	client   *http.Client
	log      *slog.Logger
	now      func() time.Time
}

var _ messenger.Adapter = (*Bot)(nil)

// New makes the adapter and calls nobody: the bot's id is the beginning of its
// token.
func New(c Config) (*Bot, error) {
	prefix, rest, _ := strings.Cut(c.Token.Reveal(), ":")
	id, err := strconv.ParseInt(prefix, 10, 64)
	if err != nil || id <= 0 || rest == "" || strings.ContainsFunc(rest, notToken) {
		return nil, errors.New("telegram: the token has not the form <bot id>:<secret>")
	}
	for _, secret := range c.Secrets {
		if secret.Empty() {
			return nil, errors.New("telegram: a webhook secret is empty")
		}
	}
	b := &Bot{
		id: id, username: c.Username, token: c.Token, secrets: c.Secrets,
		base: strings.TrimSuffix(c.APIURL, "/"), client: c.Client, log: c.Log, now: c.Now,
	}
	if b.base == "" {
		b.base = defaultAPI
	}
	if b.client == nil {
		b.client = newClient()
	}
	// The address that a redirect leads away from holds the token.
	client := *b.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	b.client = &client
	if b.log == nil {
		b.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if b.now == nil {
		b.now = time.Now
	}
	if u, err := url.Parse(b.base); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, errors.New("telegram: the address of the API is no http(s) address")
	}
	// The library's constructors would call getMe.
	b.api = &tgbotapi.BotAPI{Token: c.Token.Reveal()}
	b.api.SetAPIEndpoint(strings.ReplaceAll(b.base, "%", "%%") + "/bot%s/%s")
	return b, nil
}

// Name gives messenger.Telegram.
func (b *Bot) Name() messenger.Name { return messenger.Telegram }

// Bot gives the bot's user id.
func (b *Bot) Bot() string { return decimal(b.id) }

// Limits gives Telegram's bounds.
func (b *Bot) Limits() messenger.Limits { return limits }

// Render implements messenger.Renderer: Telegram's HTML.
func (b *Bot) Render(markdown string) []messenger.Part { return markup.Telegram(markdown, limits.Text) }

// Plain implements messenger.Renderer.
func (b *Bot) Plain(text string) []messenger.Part { return markup.Plain(text, limits.Text) }

// notToken reports what no token has: it would change the address that the token
// is a part of.
func notToken(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_' && r != '-'
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
