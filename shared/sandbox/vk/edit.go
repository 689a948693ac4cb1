package vk

import "time"

// editable is how long a message can be edited or deleted for everybody.
const editable = 24 * time.Hour

// edit is messages.edit: what the call does not name is removed.
func (s *Server) edit(c *call) (any, *apiError) {
	m, fail := s.own(c)
	if fail != nil {
		return nil, fail
	}
	if s.now().Sub(m.date) > editable {
		return nil, failed(909, "Can't edit this message, because it's too old")
	}
	o, fail := s.content(c)
	if fail != nil {
		return nil, fail
	}
	m.text, m.media, m.keyboard = o.text, o.media, o.keyboard
	m.edited = s.now()
	m.version = s.nextID()
	c.effect = true
	s.changed()
	s.emit("message_edit", s.event(m))
	return 1, nil
}

// own gives the community's message that a call names.
func (s *Server) own(c *call) (*message, *apiError) {
	id, ok := c.number("peer_id")
	if !ok {
		return nil, invalid("peer_id is undefined")
	}
	var m *message
	if cmid, ok := c.number("cmid"); ok {
		m = s.peers[id].find(cmid)
	} else if number, ok := c.number("message_id"); ok {
		m = s.byID[number]
	}
	switch {
	case m == nil || m.peer != id || m.deleted:
		return nil, invalid("message not found")
	case !m.out:
		return nil, failed(920, "Can't edit this kind of message")
	}
	return m, nil
}

// delete is messages.delete with cmids or message_ids.
func (s *Server) delete(c *call) (any, *apiError) {
	numbers, fail := c.numbers("cmids", 100)
	if fail != nil {
		return nil, fail
	}
	ids, fail := c.numbers("message_ids", 1000)
	if fail != nil {
		return nil, fail
	}
	id, _ := c.number("peer_id")
	var found []*message
	for _, n := range numbers {
		found = append(found, s.peers[id].find(n))
	}
	for _, n := range ids {
		found = append(found, s.byID[n])
	}
	if len(found) == 0 {
		return nil, invalid("message_ids or cmids is required")
	}
	items := make([]map[string]any, 0, len(found))
	for _, m := range found {
		if m == nil || m.deleted {
			items = append(items, map[string]any{"peer_id": id, "response": 0})
			continue
		}
		if c.flag("delete_for_all") && s.now().Sub(m.date) > editable {
			return nil, failed(924, "Can't delete this message for everybody")
		}
		m.deleted = true
		c.effect = true
		items = append(items, map[string]any{"peer_id": m.peer, "message_id": m.id, "conversation_message_id": m.cmid, "response": 1})
	}
	s.changed()
	return items, nil
}
