package telegram

import "time"

// message is a message in a chat.
type message struct {
	id       int64
	chat     *chat
	from     *user // nil: the bot
	date     time.Time
	edited   time.Time
	text     string // the caption when there is media
	entities []Entity
	media    *file
	album    string
	location *Location
	contact  *Contact
	reply    *message
	quote    string
	forward  *Forward
	inline   [][]Button
	preview  *preview
	extra    map[string]any // fields of Telegram's that this server has no word for
	deleted  bool
}

// preview is link_preview_options.
type preview struct {
	Disabled bool   `json:"is_disabled,omitempty"`
	URL      string `json:"url,omitempty"`
	Small    bool   `json:"prefer_small_media,omitempty"`
	Large    bool   `json:"prefer_large_media,omitempty"`
	Above    bool   `json:"show_above_text,omitempty"`
}

// Location is a point on the map, with a title and an address when it is a venue.
type Location struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Title     string  `json:"title,omitempty"`
	Address   string  `json:"address,omitempty"`
}

// Contact is a card from the address book.
type Contact struct {
	Phone     string `json:"phone_number"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name,omitempty"`
	UserID    int64  `json:"user_id,omitempty"`
}

// Forward says whose message a forwarded one was.
type Forward struct {
	Name string    // of somebody who hides their account
	User *User     // or of somebody who does not
	Date time.Time // zero: an hour ago
}

// store gives a message its id and its time and puts it into its chat; callers
// hold s.mu.
func (s *Server) store(m *message) *message {
	s.lastSent++
	m.id, m.date = s.lastSent, s.now()
	m.chat.messages = append(m.chat.messages, m)
	s.thin(m.chat)
	s.changed()
	return m
}

// wire is a message as Telegram describes it, with the one that it answers.
func (s *Server) wire(m *message) map[string]any {
	w := s.alone(m)
	if m.reply != nil && !m.reply.deleted {
		w["reply_to_message"] = s.alone(m.reply)
	}
	return w
}

// alone is a message without the one that it answers.
func (s *Server) alone(m *message) map[string]any {
	w := map[string]any{"message_id": m.id, "date": m.date.Unix(), "chat": m.chat.wire(), "from": s.sender(m)}
	text, entities := "text", "entities"
	if m.media != nil {
		text, entities = "caption", "caption_entities"
		m.media.describe(w)
	}
	if m.text != "" {
		w[text] = m.text
	}
	if len(m.entities) > 0 {
		w[entities] = m.entities
	}
	if m.location != nil {
		m.location.describe(w)
	}
	if m.contact != nil {
		w["contact"] = m.contact
	}
	if m.album != "" {
		w["media_group_id"] = m.album
	}
	if !m.edited.IsZero() {
		w["edit_date"] = m.edited.Unix()
	}
	if m.quote != "" {
		w["quote"] = map[string]any{"text": m.quote, "position": 0, "is_manual": true}
	}
	if m.forward != nil {
		w["forward_origin"] = m.forward.wire(m.date)
	}
	if m.inline != nil {
		w["reply_markup"] = map[string]any{"inline_keyboard": m.inline}
	}
	if m.preview != nil {
		w["link_preview_options"] = m.preview
	}
	for key, value := range m.extra {
		w[key] = value
	}
	return w
}

func (s *Server) sender(m *message) User {
	if m.from == nil {
		return s.bot()
	}
	return m.from.User
}

// bot is the bot as a sender.
func (s *Server) bot() User {
	return User{ID: s.cfg.Bot.ID, IsBot: true, FirstName: s.cfg.Bot.FirstName, Username: s.cfg.Bot.Username}
}

func (l *Location) describe(w map[string]any) {
	point := map[string]any{"latitude": l.Latitude, "longitude": l.Longitude}
	w["location"] = point
	if l.Title != "" {
		w["venue"] = map[string]any{"location": point, "title": l.Title, "address": l.Address}
	}
}

func (f *Forward) wire(sent time.Time) map[string]any {
	date := f.Date
	if date.IsZero() {
		date = sent.Add(-time.Hour)
	}
	if f.User != nil {
		return map[string]any{"type": "user", "date": date.Unix(), "sender_user": f.User}
	}
	return map[string]any{"type": "hidden_user", "date": date.Unix(), "sender_user_name": f.Name}
}
