package deploy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/vk"
)

const tokenPermissions = "groups.getTokenPermissions"

// tokenRights are what the platform needs of the community's token.
var tokenRights = []string{"docs", "manage", "messages", "photos"}

// community is the community (dev.vk.com/method/groups).
type community struct {
	bot          *vk.Bot
	group        string
	secret       env.Secret // that VK is told
	rotating     bool
	confirmation string
	gateway      *gateway
	hook         hook
	gap          time.Duration // before each call
	server       int64         // id of our callback server; 0: none yet
}

func (p *parts) vk() (service, error) {
	cfg := vk.ConfigFrom(p.vars)
	if cfg.GroupID == "" || len(cfg.Secrets) == 0 || cfg.Confirmation == "" {
		return nil, nil // which the reader tells
	}
	cfg.Client = &http.Client{Transport: p.transport}
	bot, err := vk.New(cfg)
	if err != nil {
		return nil, err
	}
	c := &community{bot: bot, group: cfg.GroupID, secret: cfg.Secrets[0], rotating: len(cfg.Secrets) > 1, confirmation: cfg.Confirmation, gateway: p.gateway, gap: p.cfg.Gap}
	c.hook = hook{path: "/vk", secrets: cfg.Secrets, variable: "VK_SECRET", call: c.call, taken: http.StatusOK, answer: cfg.Confirmation}
	p.gateway.hooks = append(p.gateway.hooks, c.hook)
	return c, nil
}

// call is the question for the confirmation, as VK asks it.
func (c *community) call(secret string) (http.Header, string) {
	group, _ := strconv.ParseInt(c.group, 10, 64) // which the adapter has checked
	event := map[string]any{"type": "confirmation", "group_id": group}
	if secret != "" {
		event["secret"] = secret
	}
	return http.Header{}, encode(event)
}

func (c *community) name() string { return "VK" }

// ask calls a method for the community. VK takes twenty calls a second of a token,
// and most of them are the bot's.
func (c *community) ask(ctx context.Context, method string, params map[string]any, result any) error {
	all := map[string]any{}
	for name, value := range params {
		all[name] = value
	}
	if method != tokenPermissions { // which knows whose token it is
		all["group_id"] = c.group
	}
	return patiently(ctx, func() error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(c.gap):
		}
		return c.bot.Manage(ctx, method, all, result)
	})
}

// settings implements service. Order matters: VK calls a server as soon as it is
// added, so whatever speaks against it comes first.
func (c *community) settings(ctx context.Context) ([]Setting, error) {
	var all []Setting
	for _, read := range []func(context.Context) (Setting, error){
		c.rights, c.code, c.callbackServer, c.events, c.abilities, c.longPoll,
	} {
		s, err := read(ctx)
		if err != nil {
			return nil, orRefused(err, "VK_TOKEN is not accepted; the community's settings, API usage, give a new one")
		}
		all = append(all, s)
	}
	return all, nil
}

// rights are those that the token has, as far as the platform needs them.
func (c *community) rights(ctx context.Context) (Setting, error) {
	s := Setting{Name: "rights of VK_TOKEN", Want: list(tokenRights), Advice: "Make a token with these rights in the community's settings, API usage."}
	var got struct {
		Permissions []struct {
			Name string `json:"name"`
		} `json:"permissions"`
	}
	if err := c.ask(ctx, tokenPermissions, nil, &got); err != nil {
		return s, err
	}
	var has []string
	for _, p := range got.Permissions {
		if slices.Contains(tokenRights, p.Name) {
			has = append(has, p.Name)
		}
	}
	s.Now = list(has)
	return s, nil
}

// code is what VK wants to hear from a server. It is no secret; VK chooses it.
func (c *community) code(ctx context.Context) (Setting, error) {
	var got struct {
		Code string `json:"code"`
	}
	err := c.ask(ctx, "groups.getCallbackConfirmationCode", nil, &got)
	return Setting{
		Name: "VK_CONFIRMATION", Now: c.confirmation, Want: got.Code,
		Advice: fmt.Sprintf(`Set vk_confirmation = %q in terraform's variables, apply, and run make connect again.`, got.Code),
	}, err
}

// events are the kinds of events of our server.
func (c *community) events(ctx context.Context) (Setting, error) {
	s := Setting{Name: "events of the callback server", Want: describeEvents(vk.Events(), vk.Version), Set: c.setEvents}
	if c.server == 0 { // they are set as soon as there is a server, and told by this
		return s, nil
	}
	got, err := c.eventSettings(ctx)
	s.Now = describeEvents(got.on(), got.Version)
	return s, err
}

func describeEvents(events []string, version string) string {
	return list(events) + "; version " + version
}

type eventSettings struct {
	Version string         `json:"api_version"`
	Events  map[string]int `json:"events"`
}

func (e eventSettings) on() (on []string) {
	for name, value := range e.Events {
		if value == 1 {
			on = append(on, name)
		}
	}
	return on
}

func (c *community) eventSettings(ctx context.Context) (got eventSettings, err error) {
	err = c.ask(ctx, "groups.getCallbackSettings", map[string]any{"server_id": c.server}, &got)
	return got, err
}

// setEvents turns on what the adapter handles and off what it does not.
func (c *community) setEvents(ctx context.Context) error {
	if c.server == 0 {
		return errors.New("there is no callback server yet")
	}
	got, err := c.eventSettings(ctx)
	if err != nil {
		return err
	}
	params := map[string]any{"server_id": c.server, "api_version": vk.Version}
	for _, name := range got.on() {
		params[name] = 0
	}
	for _, name := range vk.Events() {
		params[name] = 1
	}
	return c.ask(ctx, "groups.setCallbackSettings", params, new(int))
}

// abilities are the community's messages and the bot's keyboards. groups.getSettings
// answers only people's tokens; a community's may set what it may not read.
func (c *community) abilities(ctx context.Context) (Setting, error) {
	want := "messages, keyboards and the start button on; in group chats off"
	s := Setting{Name: "messages and the bot's abilities", Want: want, Now: want, Untold: "whether they are on", Set: c.setAbilities}
	var got map[string]any
	err := c.ask(ctx, "groups.getSettings", nil, &got)
	var refused *messenger.Error
	if errors.As(err, &refused) && slices.Contains([]int{7, 15, 27}, refused.Code) {
		return s, nil
	}
	if on := fmt.Sprint(got["bots_capabilities"]); err == nil && on != "1" {
		s.Now = "the bot's abilities are off"
	}
	return s, err
}

func (c *community) setAbilities(ctx context.Context) error {
	return c.ask(ctx, "groups.setSettings", map[string]any{
		"messages": 1, "bots_capabilities": 1, "bots_start_button": 1, "bots_add_to_chat": 0,
	}, new(int))
}

// longPoll is off: a local run that asks by it would answer customers, too. It stays
// on while the callback server is not there, or nobody would hear of what is written.
func (c *community) longPoll(ctx context.Context) (Setting, error) {
	var got struct {
		Enabled bool `json:"is_enabled"`
	}
	err := c.ask(ctx, "groups.getLongPollSettings", nil, &got)
	s := Setting{Name: "long poll", Level: Warning, Now: "off", Want: "off", Set: func(ctx context.Context) error {
		server, err := c.callbackServer(ctx)
		if err == nil && !server.right() {
			err = errors.New("the callback server is not as it should be, so it was left on")
		}
		if err != nil {
			return err
		}
		return c.ask(ctx, "groups.setLongPollSettings", map[string]any{"enabled": 0}, new(int))
	}}
	if got.Enabled {
		s.Now = "on"
	}
	return s, err
}

// check implements service: whether somebody else is called, too.
func (c *community) check(ctx context.Context) []Finding {
	all, err := c.servers(ctx)
	if err != nil {
		return []Finding{{Failure, "the callback servers could not be asked: " + err.Error(), "Run make doctor again."}}
	}
	var found []Finding
	for _, s := range all {
		if s.ID == c.server {
			continue
		}
		if strings.HasSuffix(s.URL, c.hook.path) {
			found = append(found, Finding{Warning, fmt.Sprintf("another callback server, %q, looks like a platform of before: %s", s.Title, s.URL), "If nobody needs it, delete it in the community's settings, Callback API: customers would be answered twice."})
		}
	}
	return found
}
