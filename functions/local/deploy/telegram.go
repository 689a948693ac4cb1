package deploy

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/catalogue"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/telegram"
)

// connections is how many calls Telegram makes at the same time at most. A call
// takes about a tenth of a second, so these are two hundred updates a second, more
// than a bot may answer; the default of 40 would take all of a quota of calls at the
// same time and leave none to the workers.
const connections = 20

// recent is how old an error of a webhook may be to say something of now.
const recent = time.Hour

// behind is how many updates may wait: a few are on their way at any moment.
const behind = 100

//go:embed texts/*.json
var texts embed.FS

// profile is what people see of the bot in a language.
type profile struct {
	Commands         []command `json:"commands"`
	Description      string    `json:"description"`       // at most 512 characters
	ShortDescription string    `json:"short_description"` // at most 120
}

type command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

func readProfile(language string) (p profile, err error) {
	raw, err := texts.ReadFile("texts/" + language + ".json")
	if err != nil {
		return p, fmt.Errorf("read texts: %w", err)
	}
	err = json.Unmarshal(raw, &p)
	return p, err
}

// telegramBot is the bot (core.telegram.org/bots/api).
type telegramBot struct {
	bot      *telegram.Bot
	secret   string // that Telegram is told
	rotating bool
	gateway  *gateway
	hook     hook
	now      func() time.Time
	setAt    time.Time // when the webhook was set by this process
}

func (p *parts) telegram() (service, error) {
	cfg := telegram.ReceiverConfigFrom(p.vars)
	if len(cfg.Secrets) == 0 {
		return nil, nil // which the reader tells
	}
	cfg.Client = &http.Client{Transport: p.transport}
	bot, err := telegram.New(cfg)
	if err != nil {
		return nil, err
	}
	t := &telegramBot{
		bot: bot, secret: cfg.Secrets[0].Reveal(), rotating: len(cfg.Secrets) > 1, gateway: p.gateway, now: p.cfg.Now,
		hook: hook{path: "/telegram", secrets: cfg.Secrets, variable: "TELEGRAM_WEBHOOK_SECRET", call: telegramCall, taken: http.StatusOK},
	}
	p.gateway.hooks = append(p.gateway.hooks, t.hook)
	return t, nil
}

// telegramCall is an update of a kind that the platform has no use for.
func telegramCall(secret string) (http.Header, string) {
	h := http.Header{}
	if secret != "" {
		h.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	return h, `{"update_id":1,"poll":{"id":"1"}}`
}

func (t *telegramBot) name() string { return "Telegram" }

// webhookInfo is a WebhookInfo.
type webhookInfo struct {
	URL         string   `json:"url"`
	Pending     int      `json:"pending_update_count"`
	ErrorAt     int64    `json:"last_error_date"`
	Error       string   `json:"last_error_message"`
	SyncErrorAt int64    `json:"last_synchronization_error_date"`
	Connections int      `json:"max_connections"`
	Allowed     []string `json:"allowed_updates"`
}

func (t *telegramBot) info(ctx context.Context) (info webhookInfo, err error) {
	err = t.bot.Manage(ctx, "getWebhookInfo", nil, &info)
	return info, err
}

// settings implements service: the webhook, and what people see in each language.
// The language "" is for everybody who has none of the others.
func (t *telegramBot) settings(ctx context.Context) ([]Setting, error) {
	info, err := t.info(ctx)
	if err != nil {
		return nil, orRefused(err, "TELEGRAM_TOKEN is not known to Telegram; @BotFather shows the right one")
	}
	all := []Setting{t.webhook(info)}
	for _, language := range append([]string{""}, catalogue.Languages...) {
		p, err := readProfile(defaultTo(language, catalogue.Russian))
		if err != nil {
			return nil, err
		}
		some, err := t.profile(ctx, language, p)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// webhook is the setting of getWebhookInfo and setWebhook. A refusal that Telegram
// met lately is taken for its having another secret, which it does not tell.
func (t *telegramBot) webhook(info webhookInfo) Setting {
	describe := func(url string, allowed []string, connections int) string {
		return fmt.Sprintf("%s (%s; %d connections)", url, list(allowed), connections)
	}
	s := Setting{
		Name: "webhook", Want: describe(t.gateway.endpoint(t.hook), telegram.Updates(), connections),
		Untold: "its secret", Set: t.setWebhook,
	}
	if info.URL == "" {
		return s
	}
	s.Now = describe(info.URL, info.Allowed, info.Connections)
	switch {
	case s.right() && t.refused(info):
		s.Now += ", with a secret that the platform refuses"
	case s.right() && t.rotating:
		s.Level = Warning
		s.Now += ", with a secret that may be the one before"
		s.Advice = "A secret is being changed: make connect tells Telegram the first of the two."
	}
	return s
}

func (t *telegramBot) refused(info webhookInfo) bool {
	return t.lately(info.ErrorAt) && time.Unix(info.ErrorAt, 0).After(t.setAt) && strings.Contains(info.Error, strconv.Itoa(http.StatusForbidden))
}

func (t *telegramBot) lately(seconds int64) bool {
	return seconds > 0 && t.now().Sub(time.Unix(seconds, 0)) < recent
}

// setWebhook never drops what waits: these are customers' messages.
func (t *telegramBot) setWebhook(ctx context.Context) error {
	if err := t.gateway.accepts(ctx, t.hook); err != nil {
		return err
	}
	t.setAt = t.now()
	return patiently(ctx, func() error {
		return t.bot.Manage(ctx, "setWebhook", map[string]string{
			"url": t.gateway.endpoint(t.hook), "secret_token": t.secret, "max_connections": strconv.Itoa(connections),
			"allowed_updates": encode(telegram.Updates()),
		}, nil)
	})
}

// patiently does something again, once, when it came too soon: Telegram takes a
// webhook a second at most.
func patiently(ctx context.Context, f func() error) error {
	err := f()
	var e *messenger.Error
	if !errors.As(err, &e) || e.Kind != messenger.RateLimited || e.RetryAfter > time.Minute {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(e.RetryAfter):
		return f()
	}
}

// profile is the commands and texts in a language.
func (t *telegramBot) profile(ctx context.Context, language string, want profile) ([]Setting, error) {
	var now struct {
		Commands []command
		profile
	}
	params := map[string]string{"language_code": language}
	err := errors.Join(t.bot.Manage(ctx, "getMyCommands", params, &now.Commands),
		t.bot.Manage(ctx, "getMyDescription", params, &now), t.bot.Manage(ctx, "getMyShortDescription", params, &now))
	if err != nil {
		return nil, err
	}
	suffix := " in " + defaultTo(language, "all other languages")
	text := func(name, method, parameter, now, want string) Setting {
		return Setting{Name: name + suffix, Level: Warning, Now: quoted(now), Want: quoted(want), Set: func(ctx context.Context) error {
			return patiently(ctx, func() error {
				return t.bot.Manage(ctx, method, map[string]string{"language_code": language, parameter: want}, nil)
			})
		}}
	}
	commands := text("commands", "setMyCommands", "commands", "", encode(want.Commands))
	commands.Now, commands.Want = names(now.Commands), names(want.Commands)
	return []Setting{
		commands,
		text("description", "setMyDescription", "description", now.Description, want.Description),
		text("short description", "setMyShortDescription", "short_description", now.ShortDescription, want.ShortDescription),
	}, nil
}

// names writes commands with what is said of them, so that a changed word counts.
func names(commands []command) string {
	var all []string
	for _, c := range commands {
		all = append(all, "/"+c.Command+" "+c.Description)
	}
	return strings.Join(all, ", ")
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	first, rest, more := strings.Cut(text, "\n")
	if more && rest != "" {
		return fmt.Sprintf("%q and %d characters more", first, len([]rune(rest)))
	}
	return strconv.Quote(text)
}

// check implements service: whether updates arrive.
func (t *telegramBot) check(ctx context.Context) []Finding {
	info, err := t.info(ctx)
	if err != nil {
		return []Finding{{Failure, "the webhook could not be asked: " + err.Error(), "Run make doctor again."}}
	}
	var found []Finding
	if info.Pending > behind {
		found = append(found, Finding{Failure, fmt.Sprintf("%d updates wait for the platform to take them", info.Pending), "See what the gateway answers, below, and the log of telegram-webhook."})
	} else {
		found = append(found, fine("%s to be taken", counted(info.Pending, "update")))
	}
	if info.ErrorAt > 0 {
		level := Warning
		if !t.lately(info.ErrorAt) {
			level = Fine
		}
		found = append(found, Finding{level, fmt.Sprintf("the last call of the webhook that failed: %s, %s", stamp(info.ErrorAt), info.Error), adviceUnless(level, "Telegram repeats it for a day; the log of telegram-webhook says why it failed.")})
	}
	if t.lately(info.SyncErrorAt) {
		found = append(found, Finding{Warning, "Telegram itself had trouble at " + stamp(info.SyncErrorAt), "It passes without help."})
	}
	return found
}

func adviceUnless(level Level, advice string) string {
	if level == Fine {
		return ""
	}
	return advice
}

func stamp(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

func defaultTo(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // it is made of texts
	}
	return string(raw)
}

// orRefused says in our words what a token that is refused means.
func orRefused(err error, advice string) error {
	var e *messenger.Error
	if errors.As(err, &e) && slices.Contains([]int{http.StatusUnauthorized, http.StatusNotFound, 5, 27}, e.Code) {
		return errors.New(advice)
	}
	return err
}
