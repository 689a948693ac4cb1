package vk

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"
)

const hooksMost = 10

// settings are those of the community that matter to a bot.
type settings struct {
	messages    bool // the community takes messages
	bots        bool // "bot features": keyboards
	startButton bool
	addToChat   bool
}

// groupMethod gives the handler of a method of groups.*, or nil. All but
// getById want group_id.
func groupMethod(name string) handler {
	var h handler
	switch name {
	case "groups.getById":
		return (*Server).getGroup
	case "groups.getCallbackConfirmationCode":
		h = (*Server).getConfirmation
	case "groups.getCallbackServers":
		h = (*Server).getHooks
	case "groups.addCallbackServer":
		h = (*Server).addCallbackServer
	case "groups.editCallbackServer":
		h = (*Server).editHook
	case "groups.deleteCallbackServer":
		h = (*Server).deleteHook
	case "groups.setCallbackSettings":
		h = (*Server).setHookEvents
	case "groups.getCallbackSettings":
		h = (*Server).getHookEvents
	case "groups.getSettings":
		h = (*Server).getSettings
	case "groups.setSettings":
		h = (*Server).setSettings
	case "groups.getLongPollServer":
		h = (*Server).getLongPollServer
	case "groups.setLongPollSettings":
		h = (*Server).setLongPoll
	case "groups.getLongPollSettings":
		h = (*Server).getLongPoll
	case "groups.getTokenPermissions":
		return (*Server).getTokenPermissions
	default:
		return nil
	}
	return func(s *Server, c *call) (any, *apiError) {
		id, ok := c.number("group_id")
		switch {
		case !ok:
			return nil, invalid("group_id is undefined")
		case id != s.cfg.GroupID:
			return nil, failed(15, "Access denied: no access to this group")
		}
		return h(s, c)
	}
}

func (s *Server) getGroup(*call) (any, *apiError) {
	name := "club" + strconv.FormatInt(s.cfg.GroupID, 10)
	group := map[string]any{"id": s.cfg.GroupID, "name": s.Name(), "screen_name": name, "is_closed": 0, "type": "group"}
	return map[string]any{"groups": []any{group}, "profiles": []any{}}, nil
}

func (s *Server) getConfirmation(*call) (any, *apiError) {
	return map[string]any{"code": s.cfg.Confirmation}, nil
}

func (s *Server) getHooks(*call) (any, *apiError) {
	items := []map[string]any{}
	for _, h := range s.hooks {
		items = append(items, map[string]any{
			"id": h.id, "title": h.title, "creator_id": 1, "url": h.url, "secret_key": h.secret, "status": h.status,
		})
	}
	return map[string]any{"count": len(items), "items": items}, nil
}

// hookParams reads what describes a callback server.
func hookParams(c *call) (address, title, secret string, fail *apiError) {
	address, title, secret = c.text("url"), c.text("title"), c.text("secret_key")
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		fail = invalid("url is incorrect")
	case title == "" || utf8.RuneCountInString(title) > 14:
		fail = invalid("title is incorrect")
	case utf8.RuneCountInString(secret) > 50:
		fail = invalid("secret_key is incorrect")
	}
	return address, title, secret, fail
}

func (s *Server) addCallbackServer(c *call) (any, *apiError) {
	address, title, secret, fail := hookParams(c)
	switch {
	case fail != nil:
		return nil, fail
	case len(s.hooks) >= hooksMost:
		return nil, failed(2000, "Cannot add more than 10 servers")
	}
	c.effect = true
	return map[string]any{"server_id": s.addHook(address, title, secret).id}, nil
}

func (s *Server) editHook(c *call) (any, *apiError) {
	address, title, secret, fail := hookParams(c)
	if fail != nil {
		return nil, fail
	}
	h, fail := s.hook(c)
	if fail != nil {
		return nil, fail
	}
	moved := h.url != address
	h.url, h.title, h.secret = address, title, secret
	if moved {
		s.confirm(h)
	}
	c.effect = true
	return 1, nil
}

func (s *Server) deleteHook(c *call) (any, *apiError) {
	h, fail := s.hook(c)
	if fail != nil {
		return nil, fail
	}
	h.stop()
	h.queue = nil
	s.hooks = slices.DeleteFunc(s.hooks, func(other *hook) bool { return other == h })
	c.effect = true
	return 1, nil
}

func (s *Server) hook(c *call) (*hook, *apiError) {
	id, _ := c.number("server_id")
	for _, h := range s.hooks {
		if h.id == id {
			return h, nil
		}
	}
	return nil, invalid("server_id is incorrect")
}

func (s *Server) setHookEvents(c *call) (any, *apiError) {
	h, fail := s.hook(c)
	if fail != nil {
		return nil, fail
	}
	if v := c.text("api_version"); v != "" && v != Version {
		return nil, invalid("api_version is incorrect: this server speaks only " + Version)
	}
	setEvents(c, h.events)
	c.effect = true
	return 1, nil
}

func setEvents(c *call, events map[string]bool) {
	for _, kind := range allEvents {
		if c.has(kind) {
			events[kind] = c.flag(kind)
		}
	}
}

func (s *Server) getHookEvents(c *call) (any, *apiError) {
	h, fail := s.hook(c)
	if fail != nil {
		return nil, fail
	}
	return map[string]any{"api_version": h.version, "events": eventFlags(h.events)}, nil
}

func eventFlags(on map[string]bool) map[string]int {
	events := map[string]int{}
	for _, kind := range allEvents {
		events[kind] = flag(on[kind])
	}
	return events
}

func (s *Server) setLongPoll(c *call) (any, *apiError) {
	if c.has("enabled") {
		s.poll.enabled = c.flag("enabled")
	}
	setEvents(c, s.poll.events)
	c.effect = true
	return 1, nil
}

func (s *Server) setSettings(c *call) (any, *apiError) {
	for name, setting := range map[string]*bool{
		"messages": &s.settings.messages, "bots_capabilities": &s.settings.bots,
		"bots_start_button": &s.settings.startButton, "bots_add_to_chat": &s.settings.addToChat,
	} {
		if c.has(name) {
			*setting = c.flag(name)
		}
	}
	c.effect = true
	return 1, nil
}

// getSettings refuses: it answers people's tokens only (schema 5.199).
func (s *Server) getSettings(*call) (any, *apiError) {
	return nil, failed(27, "Group authorization failed: method is unavailable with group auth.")
}

func (s *Server) getLongPoll(*call) (any, *apiError) {
	return map[string]any{"api_version": Version, "events": eventFlags(s.poll.events), "is_enabled": s.poll.enabled}, nil
}

// tokenRights are all that a community's token can have, with their bits.
var tokenRights = map[string]int{"photos": 1 << 2, "messages": 1 << 12, "docs": 1 << 17, "manage": 1 << 18}

// getTokenPermissions tells the rights of the token.
func (s *Server) getTokenPermissions(*call) (any, *apiError) {
	mask, list := 0, []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(tokenRights)) {
		if !slices.Contains(s.lacking, name) {
			mask |= tokenRights[name]
			list = append(list, map[string]any{"name": name, "setting": tokenRights[name]})
		}
	}
	return map[string]any{"mask": mask, "permissions": list}, nil
}

// Lack takes rights from the token. It is only told: calls go on as before.
func (s *Server) Lack(rights ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacking = rights
}

// allEvents are the events that a callback server can choose.
var allEvents = []string{
	"message_new", "message_reply", "message_edit", "message_event", "message_allow", "message_deny",
	"message_read", "message_typing_state", "message_reaction_event", "user_block", "user_unblock",
	"audio_new", "board_post_delete", "board_post_edit", "board_post_new", "board_post_restore",
	"group_change_photo", "group_change_settings", "group_join", "group_leave", "group_officers_edit",
	"market_comment_delete", "market_comment_edit", "market_comment_new", "market_comment_restore",
	"photo_comment_delete", "photo_comment_edit", "photo_comment_new", "photo_comment_restore", "photo_new",
	"poll_vote_new", "video_comment_delete", "video_comment_edit", "video_comment_new",
	"video_comment_restore", "video_new", "wall_post_new", "wall_reply_delete", "wall_reply_edit",
	"wall_reply_new", "wall_reply_restore", "wall_repost", "wall_schedule_post_new",
	"wall_schedule_post_delete", "donut_subscription_create", "donut_subscription_prolonged",
	"donut_subscription_cancelled", "donut_subscription_expired", "donut_subscription_price_changed",
	"donut_money_withdraw", "donut_money_withdraw_error",
}
