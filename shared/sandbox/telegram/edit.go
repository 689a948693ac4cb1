package telegram

import (
	"slices"
	"time"
)

// deletable is how long a message can be deleted
// (core.telegram.org/bots/api#deletemessage).
const deletable = 48 * time.Hour

const notModified = "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"

// editable gives the message of the bot's that a call wants to edit.
func (s *Server) editable(c *call) (*message, *refusal) {
	ch, r := s.chat(c)
	if r != nil {
		return nil, r
	}
	id := c.number("message_id", 0)
	if id == 0 {
		return nil, bad("message identifier is not specified")
	}
	m := ch.find(id)
	switch {
	case m == nil:
		return nil, bad("message to edit not found")
	case m.from != nil:
		return nil, bad("message can't be edited")
	}
	return m, ch.writable()
}

func (s *Server) editMessageText(c *call) (any, *refusal) {
	text, entities, r := s.body(c)
	if r != nil {
		return nil, r
	}
	m, r := s.editable(c)
	switch {
	case r != nil:
		return nil, r
	case m.text == "" || m.media != nil:
		return nil, bad("there is no text in the message to edit")
	}
	return s.edit(c, m, text, entities)
}

func (s *Server) editMessageCaption(c *call) (any, *refusal) {
	text, entities, r := s.caption(c)
	if r != nil {
		return nil, r
	}
	m, r := s.editable(c)
	switch {
	case r != nil:
		return nil, r
	case m.media == nil || m.media.kind == sticker || m.media.kind == videoNote:
		return nil, bad("there is no caption in the message to edit")
	}
	return s.edit(c, m, text, entities)
}

func (s *Server) editMessageReplyMarkup(c *call) (any, *refusal) {
	m, r := s.editable(c)
	if r != nil {
		return nil, r
	}
	return s.edit(c, m, m.text, m.entities)
}

// edit replaces the text and the keyboard; a call without a keyboard takes it away.
func (s *Server) edit(c *call, m *message, text string, entities []Entity) (any, *refusal) {
	keys, r := c.markup(true)
	if r != nil {
		return nil, r
	}
	if m.text == text && sameEntities(m.entities, entities) && sameKeyboard(m.inline, keys.inline) {
		return nil, bad(notModified)
	}
	if m.text != text || !sameEntities(m.entities, entities) {
		m.edited = s.now() // a changed keyboard alone is no edit that people see
	}
	m.text, m.entities, m.inline = text, entities, keys.inline
	c.effect = true
	s.changed()
	return s.wire(m), nil
}

func sameEntities(a, b []Entity) bool {
	return slices.EqualFunc(a, b, func(x, y Entity) bool { return string(marshal(x)) == string(marshal(y)) })
}

func (s *Server) deleteMessage(c *call) (any, *refusal) {
	ch, r := s.chat(c)
	if r != nil {
		return nil, r
	}
	m := ch.find(c.number("message_id", 0))
	switch {
	case m == nil:
		return nil, bad("message to delete not found")
	case s.now().Sub(m.date) > deletable || ch.user == nil && m.from != nil:
		return nil, bad("message can't be deleted")
	}
	m.deleted = true
	c.effect = true
	s.changed()
	return true, nil
}
