package vk

import (
	"errors"
	"strconv"
	"time"
)

// User is a person on VK.
type User struct {
	ID         int64
	FirstName  string
	LastName   string
	ScreenName string // "" means "id<ID>"
	English    bool   // the language of their client; else Russian
	OldClient  bool   // a client without callback buttons and inline keyboards
	Allowed    bool   // the community may write to them though they never wrote
}

type user struct {
	User
	passing     bool // of the crowd, and nobody has them in hand
	allowed     bool
	blacklisted bool
	private     bool
	deactivated string // "deleted" or "banned"
}

// Customer is a person with VK in their hand, in one conversation.
type Customer struct {
	s    *Server
	id   int64
	peer int64
}

// Content is what a customer sends.
type Content struct {
	Text        string
	Attachments []Attachment
	Forwarded   []Forward
	ReplyTo     int64 // number of the quoted message in the conversation
	Geo         *Geo
	Payload     string // JSON; set by buttons
	Ref         string // of the link that led here
	RefSource   string
}

// Forward is somebody else's message inside another one.
type Forward struct {
	From        int64
	Text        string
	Attachments []Attachment
	Forwarded   []Forward
}

// Customer adds a person, or gives them again with these properties.
func (s *Server) Customer(u User) *Customer {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.known(u.ID)
	if old == nil {
		old = &user{allowed: u.Allowed}
		s.users[u.ID] = old
	}
	old.User, old.passing = u, false
	return &Customer{s: s, id: u.ID, peer: u.ID}
}

// InChat gives the same person in group chat number chat (from 1).
func (c *Customer) InChat(chat int64) *Customer {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.peer(chatBase + chat)
	return &Customer{s: c.s, id: c.id, peer: chatBase + chat}
}

// Peer gives the id of the conversation.
func (c *Customer) Peer() int64 { return c.peer }

// Send sends a message and gives its number in the conversation. Whoever writes
// to a community allows it to answer.
func (c *Customer) Send(content Content) int64 {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[c.id]
	if c.peer == c.id {
		u.allowed = true
	}
	m := &message{
		peer: c.peer, from: c.id, text: content.Text, media: content.Attachments,
		forwarded: s.forwarded(content.Forwarded), reply: s.peer(c.peer).find(content.ReplyTo),
		geo: content.Geo, payload: content.Payload, ref: content.Ref, refSource: content.RefSource,
	}
	s.store(m)
	s.emit("message_new", map[string]any{"message": s.event(m), "client_info": u.client()})
	return m.cmid
}

func (s *Server) forwarded(list []Forward) []*message {
	var messages []*message
	for _, f := range list {
		id := s.nextID()
		messages = append(messages, &message{
			id: id, cmid: id, peer: f.From, from: f.From, date: s.now().Add(-time.Hour), text: f.Text,
			media: f.Attachments, forwarded: s.forwarded(f.Forwarded),
		})
	}
	return messages
}

// client is client_info: what the person's client can do.
func (u *user) client() map[string]any {
	actions := []string{"text", "vkpay", "open_app", "location", "open_link"}
	if !u.OldClient {
		actions = append(actions, "callback", "intent_subscribe", "intent_unsubscribe")
	}
	language := 0
	if u.English {
		language = 3
	}
	return map[string]any{
		"button_actions": actions, "keyboard": true, "inline_keyboard": !u.OldClient,
		"carousel": !u.OldClient, "lang_id": language,
	}
}

func (u *user) screenName() string {
	if u.ScreenName != "" {
		return u.ScreenName
	}
	return "id" + strconv.FormatInt(u.ID, 10)
}

// Write sends a text.
func (c *Customer) Write(text string) int64 { return c.Send(Content{Text: text}) }

// Start presses the button that opens the conversation; ref is of the link that
// led there, or empty.
func (c *Customer) Start(ref string) int64 {
	content := Content{Text: "Начать", Payload: `{"command":"start"}`, Ref: ref}
	if ref != "" {
		content.RefSource = "link"
	}
	return c.Send(content)
}

// Edit changes a message of one's own; nothing but text, attachments and geo is used.
func (c *Customer) Edit(cmid int64, content Content) error {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.peer(c.peer).find(cmid)
	if m == nil || m.out || m.from != c.id {
		return errors.New("no message of this customer has that number")
	}
	m.text, m.media, m.geo = content.Text, content.Attachments, content.Geo
	m.edited, m.version = s.now(), s.nextID()
	s.changed()
	s.emit("message_edit", s.event(m))
	return nil
}

// Delete removes a message from the conversation.
func (c *Customer) Delete(cmid int64) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if m := c.s.peer(c.peer).find(cmid); m != nil {
		m.deleted = true
		c.s.changed()
	}
}

// Allow permits the community to write; key is of the widget that was used.
func (c *Customer) Allow(key string) {
	c.change(func(u *user) { u.allowed = true })
	c.tell("message_allow", map[string]any{"user_id": c.id, "key": key})
}

// Deny forbids the community to write, until the customer writes or allows it.
func (c *Customer) Deny() {
	c.change(func(u *user) { u.allowed = false })
	c.tell("message_deny", map[string]any{"user_id": c.id})
}

// Blacklist puts the customer on the community's blacklist, or takes them off.
func (c *Customer) Blacklist(on bool) {
	c.change(func(u *user) { u.blacklisted = on })
	if on {
		c.tell("user_block", map[string]any{"admin_id": 1, "user_id": c.id, "unblock_date": 0, "reason": 0})
		return
	}
	c.tell("user_unblock", map[string]any{"admin_id": 1, "user_id": c.id, "by_end_date": 0})
}

// Hide makes the customer's privacy settings refuse the community's messages.
// VK tells nobody.
func (c *Customer) Hide() { c.change(func(u *user) { u.private = true }) }

// Deactivate deletes the account. VK tells nobody.
func (c *Customer) Deactivate() { c.change(func(u *user) { u.deactivated = "deleted" }) }

func (c *Customer) change(f func(*user)) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	f(c.s.users[c.id])
}

func (c *Customer) tell(kind string, object map[string]any) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.emit(kind, object)
}
