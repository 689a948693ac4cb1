package telegram

import (
	"errors"
	"slices"
	"strings"
)

// Customer is a person with Telegram in their hand, in one chat with the bot.
type Customer struct {
	s    *Server
	id   int64
	chat int64
}

// firstUser is above what fits into 32 bits, as real ids are.
const firstUser = 1 << 41

// Content is what a customer sends: a text or one other thing.
type Content struct {
	Text     string   // the caption when there is a file
	Entities []Entity // formatting; links, commands and the like are found anyway
	File     *File
	Location *Location
	Contact  *Contact
	ReplyTo  int64  // id of the message that is answered
	Quote    string // the part of it that is quoted
	Forward  *Forward
	Album    string         // Server.NewAlbum; each part is sent on its own
	Extra    map[string]any // fields of Telegram's Message that have no name here ("poll", "dice", "story"...)
}

// Customer adds a person, or gives them again with these properties.
func (s *Server) Customer(u User) *Customer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.ID == 0 {
		u.ID = firstUser + s.nextID()
	}
	setDefault(&u.FirstName, "Customer")
	s.known(u.ID)
	old := s.users[u.ID]
	if old == nil {
		old = &user{}
		s.users[u.ID] = old
		s.chats[u.ID] = &chat{id: u.ID, kind: private, user: old}
	}
	u.Started = u.Started || old.Started
	old.User, old.passing = u, false
	return &Customer{s: s, id: u.ID, chat: u.ID}
}

// ID gives the person's id.
func (c *Customer) ID() int64 { return c.id }

// Chat gives the id of the chat.
func (c *Customer) Chat() int64 { return c.chat }

// Send sends a message and gives its id. Whoever writes to a bot allows it to
// answer and unblocks it.
func (c *Customer) Send(content Content) int64 {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, u := s.chats[c.chat], s.users[c.id]
	if ch.user != nil {
		u.Started = true
		if u.blocked {
			s.setBlocked(u, false)
		}
	}
	m := &message{chat: ch, from: u, reply: ch.find(content.ReplyTo), quote: content.Quote, forward: content.Forward, album: content.Album}
	s.fill(m, content)
	s.store(m)
	if s.overheard(m) {
		s.emit("message", s.wire(m))
	}
	return m.id
}

// fill puts the content into a message.
func (s *Server) fill(m *message, content Content) {
	entities := slices.Clone(content.Entities)
	if checkEntities(content.Text, entities) != nil {
		entities = nil // no client makes such
	}
	m.text, m.entities = tidy(content.Text, entities)
	m.entities = s.detect.add(m.text, m.entities)
	m.location, m.contact, m.extra = content.Location, content.Contact, content.Extra
	if content.File != nil {
		m.media = content.File.held(s)
	}
}

// overheard reports whether the bot gets a message: in groups with privacy mode
// only what is meant for it (core.telegram.org/bots/features#privacy-mode).
func (s *Server) overheard(m *message) bool {
	if m.chat.user != nil || s.cfg.ReadsGroups {
		return true
	}
	if m.chat.left {
		return false
	}
	command := len(m.entities) > 0 && m.entities[0].Type == "bot_command" && m.entities[0].Offset == 0
	name := "@" + strings.ToLower(s.cfg.Bot.Username)
	if first, _, _ := strings.Cut(m.text, " "); command && strings.Contains(first, "@") {
		return strings.HasSuffix(strings.ToLower(first), name)
	}
	return command || strings.Contains(strings.ToLower(m.text), name) || m.reply != nil && m.reply.from == nil
}

// Write sends a text. As clients do, it makes several messages of one that is
// too long; the id is that of the first.
func (c *Customer) Write(text string) int64 {
	first := head(text, maxText)
	id := c.Send(Content{Text: first})
	for rest := text[len(first):]; rest != ""; {
		piece := head(rest, maxText)
		c.Send(Content{Text: piece})
		rest = rest[len(piece):]
	}
	return id
}

// Start presses the button that opens the chat; payload is of the deep link that
// led there, or empty.
func (c *Customer) Start(payload string) int64 {
	return c.Write(strings.TrimSpace("/start " + payload))
}

// Edit changes a message of one's own.
func (c *Customer) Edit(id int64, content Content) error {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.chats[c.chat].find(id)
	if m == nil || m.from == nil || m.from.ID != c.id {
		return errors.New("no message of this customer has that id")
	}
	file := m.media
	s.fill(m, content)
	if content.File == nil {
		m.media = file
	}
	m.edited = s.now()
	s.changed()
	if s.overheard(m) {
		s.emit("edited_message", s.wire(m))
	}
	return nil
}

// Delete removes a message from the chat. Telegram tells the bot nothing.
func (c *Customer) Delete(id int64) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if m := c.s.chats[c.chat].find(id); m != nil {
		m.deleted = true
		c.s.changed()
	}
}

// Block stops the bot.
func (c *Customer) Block() { c.block(true) }

// Unblock restarts the bot without writing.
func (c *Customer) Unblock() { c.block(false) }

func (c *Customer) block(on bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if u := c.s.users[c.id]; u.blocked != on {
		c.s.setBlocked(u, on)
	}
}

// setBlocked changes whether the bot is blocked and tells it; callers hold s.mu.
func (s *Server) setBlocked(u *user, on bool) {
	u.blocked = on
	member := map[string]any{"user": s.bot(), "status": "member"}
	banned := map[string]any{"user": s.bot(), "status": "kicked", "until_date": 0}
	before, after := member, banned
	if !on {
		before, after = banned, member
	}
	s.emit("my_chat_member", map[string]any{
		"chat": s.chats[u.ID].wire(), "from": u.User, "date": s.now().Unix(),
		"old_chat_member": before, "new_chat_member": after,
	})
	s.changed()
}

// Deactivate deletes the account. Telegram tells the bot nothing.
func (c *Customer) Deactivate() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.users[c.id].deactivated = true
	c.s.changed()
}
