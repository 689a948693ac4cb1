// Package vk is the adapter to VK: a community's bot that is called by the
// Callback API and answers through the API, version 5.199.
//
// Calls go through vksdk, without its limiter (which sleeps under a mutex and
// ignores the context), its typed parameters (which cost minutes to compile) and
// its uploads (which hold whole files in memory and know no context). Everything
// that VK sends is decoded here, so that an id never passes through a smaller
// type and an object of an unknown form costs only itself.
package vk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/SevereCloud/vksdk/v2/api"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
)

const (
	apiVersion = "5.199"
	defaultAPI = "https://api.vk.com"
)

// Limits of VK (dev.vk.com: messages.send, keyboards, uploads). The length of a
// text is given there as 9000, but messages over 4096 are refused (error 914).
var limits = messenger.Limits{
	Text:       4096,
	Caption:    4096,
	Upload:     200 << 20,
	Photo:      50 << 20,
	Download:   200 << 20,
	Buttons:    inlineButtons,
	Peers:      peersMost,
	Idempotent: true,
	Settle:     2 * time.Second,
}

// Config is what a Bot is made of. All but APIURL, Pace, Client, Log and Now is required.
type Config struct {
	Token        env.Secret // the community's access token
	GroupID      string     // the community's id, decimal
	Secrets      []env.Secret
	Confirmation string // what the Callback API wants to hear
	APIURL       string // "https://api.vk.com" when empty

	// Pace waits until one more call of the API may be made; its error, a
	// *messenger.Error, is passed on. Send, SendMany and Edit ask it for all calls but
	// their first: for that one the caller has waited already. nil: there is no limit.
	Pace func(ctx context.Context, m messenger.Name, bot string) error

	Client *http.Client     // nil: one of the package's own, with time-outs
	Log    *slog.Logger     // nil: silent
	Now    func() time.Time // nil: time.Now; for events to which VK gives no time
}

// ConfigFrom reads VK_TOKEN, VK_GROUP_ID, VK_SECRET (several, comma separated,
// while rotating), VK_CONFIRMATION and VK_API_URL.
func ConfigFrom(r *env.Reader) Config {
	return Config{
		Token: r.RequiredSecret("VK_TOKEN"), GroupID: r.Required("VK_GROUP_ID"), Secrets: r.RequiredSecrets("VK_SECRET"),
		Confirmation: r.Required("VK_CONFIRMATION"), APIURL: r.String("VK_API_URL", defaultAPI),
	}
}

// Bot is the adapter of one community.
type Bot struct {
	group        int64
	secrets      []env.Secret
	confirmation string
	name         *regexp.Regexp // how people address it in a group chat
	vk           *api.VK
	files        *http.Client // follows redirects
	log          *slog.Logger
	now          func() time.Time
	pace         func(context.Context) error // before each call
}

var _ messenger.Adapter = (*Bot)(nil)

// New makes the adapter and calls nobody.
func New(c Config) (*Bot, error) {
	group, err := strconv.ParseInt(c.GroupID, 10, 64)
	switch {
	case err != nil || group <= 0:
		return nil, errors.New("VK: the community's id is not a positive number")
	case c.Token.Empty():
		return nil, errors.New("VK: there is no token")
	case len(c.Secrets) == 0:
		return nil, errors.New("VK: there is no webhook secret")
	case c.Confirmation == "":
		return nil, errors.New("VK: there is no confirmation string")
	}
	for _, secret := range c.Secrets {
		if secret.Empty() {
			return nil, errors.New("VK: a webhook secret is empty")
		}
	}
	b := &Bot{group: group, secrets: c.Secrets, confirmation: c.Confirmation, log: c.Log, now: c.Now, files: c.Client}
	if b.log == nil {
		b.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if b.now == nil {
		b.now = time.Now
	}
	if b.files == nil {
		b.files = newClient()
	}
	b.pace = func(ctx context.Context) error { return c.Pace(ctx, b.Name(), b.Bot()) }
	if c.Pace == nil {
		b.pace = func(context.Context) error { return nil }
	}
	b.vk = newAPI(c, b.files)
	b.name = regexp.MustCompile(fmt.Sprintf(`[\[@*]club%d(\D|$)`, group))
	return b, nil
}

// Name gives messenger.VK.
func (b *Bot) Name() messenger.Name { return messenger.VK }

// Bot gives the community's id.
func (b *Bot) Bot() string { return strconv.FormatInt(b.group, 10) }

// Limits gives VK's bounds.
func (b *Bot) Limits() messenger.Limits { return limits }
