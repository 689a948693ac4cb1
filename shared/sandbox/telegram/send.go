package telegram

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// send does what all methods that send one message have in common: the message
// has its content, the rest comes from the call.
func (s *Server) send(c *call, ch *chat, m *message) (any, *refusal) {
	keys, r := c.markup(false)
	if r != nil {
		return nil, r
	}
	m.chat, m.inline = ch, keys.inline
	if r := s.replyTo(c, m); r != nil {
		return nil, r
	}
	if r := ch.writable(); r != nil {
		return nil, r
	}
	if r := s.admit(ch, 1); r != nil {
		return nil, r
	}
	if keys.replace {
		ch.keyboard = keys.below
	}
	c.effect = true
	return s.wire(s.store(m)), nil
}

func (s *Server) sendMessage(c *call) (any, *refusal) {
	text, entities, r := s.body(c)
	if r != nil {
		return nil, r
	}
	ch, r := s.chat(c)
	if r != nil {
		return nil, r
	}
	m := &message{text: text, entities: entities}
	if _, err := c.object("link_preview_options", &m.preview); err != nil {
		return nil, bad("can't parse link preview options JSON object")
	}
	return s.send(c, ch, m)
}

// replyTo finds the message that is answered. reply_to_message_id and
// allow_sending_without_reply are from before Bot API 7.0 and still work.
func (s *Server) replyTo(c *call, m *message) *refusal {
	var p struct {
		MessageID int64           `json:"message_id"`
		ChatID    json.RawMessage `json:"chat_id"`
		Anyway    bool            `json:"allow_sending_without_reply"`
		Quote     string          `json:"quote"`
	}
	there, err := c.object("reply_parameters", &p)
	if err != nil {
		return bad("can't parse reply parameters JSON object")
	}
	if !there {
		p.MessageID, p.Anyway = c.number("reply_to_message_id", 0), c.flag("allow_sending_without_reply")
	}
	if p.MessageID == 0 {
		return nil
	}
	m.reply = m.chat.find(p.MessageID)
	switch {
	case m.reply == nil && !p.Anyway:
		return bad("message to be replied not found")
	case m.reply == nil:
	case !strings.Contains(m.reply.text, p.Quote):
		return bad("QUOTE_TEXT_INVALID")
	default:
		m.quote = p.Quote
	}
	return nil
}

func (s *Server) sendLocation(c *call) (any, *refusal) {
	l, r := c.location()
	if r != nil {
		return nil, r
	}
	ch, r := s.chat(c)
	if r != nil {
		return nil, r
	}
	return s.send(c, ch, &message{location: l})
}

func (s *Server) sendVenue(c *call) (any, *refusal) {
	l, r := c.location()
	if r != nil {
		return nil, r
	}
	l.Title, l.Address = c.text("title"), c.text("address")
	if l.Title == "" || l.Address == "" {
		return nil, bad("venue title and address must be non-empty")
	}
	ch, r := s.chat(c)
	if r != nil {
		return nil, r
	}
	return s.send(c, ch, &message{location: l})
}

func (c *call) location() (*Location, *refusal) {
	if c.text("latitude") == "" {
		return nil, bad("latitude is empty")
	}
	if c.text("longitude") == "" {
		return nil, bad("longitude is empty")
	}
	lat, err1 := strconv.ParseFloat(c.text("latitude"), 64)
	long, err2 := strconv.ParseFloat(c.text("longitude"), 64)
	if err1 != nil || err2 != nil || math.Abs(lat) > 90 || math.Abs(long) > 180 {
		return nil, bad("wrong latitude or longitude specified")
	}
	return &Location{Latitude: lat, Longitude: long}, nil
}

func (s *Server) sendContact(c *call) (any, *refusal) {
	card := &Contact{Phone: c.text("phone_number"), FirstName: c.text("first_name"), LastName: c.text("last_name")}
	switch {
	case card.Phone == "":
		return nil, bad("phone number is empty")
	case card.FirstName == "":
		return nil, bad("first name is empty")
	}
	ch, r := s.chat(c)
	if r != nil {
		return nil, r
	}
	return s.send(c, ch, &message{contact: card})
}
