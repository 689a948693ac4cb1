package vk

import (
	"cmp"
	"slices"
	"strings"
)

const pageMost = 200

// getByID is messages.getById, with message_ids, or with peer_id and cmids.
func (s *Server) getByID(c *call) (any, *apiError) {
	ids, fail := c.numbers("message_ids", 100)
	if fail != nil {
		return nil, fail
	}
	numbers, fail := c.numbers("cmids", 100)
	if fail != nil {
		return nil, fail
	}
	if len(ids)+len(numbers) == 0 {
		return nil, invalid("message_ids or cmids is required")
	}
	id, _ := c.number("peer_id")
	var found []*message
	for _, n := range ids {
		if m := s.byID[n]; m != nil && !m.deleted {
			found = append(found, m)
		}
	}
	for _, n := range numbers {
		if m := s.peers[id].find(n); m != nil {
			found = append(found, m)
		}
	}
	return s.items(len(found), found), nil
}

// getHistory is messages.getHistory: newest first, unless rev=1.
func (s *Server) getHistory(c *call) (any, *apiError) {
	id, ok := c.number("peer_id")
	if !ok {
		id, ok = c.number("user_id")
	}
	if !ok {
		return nil, invalid("peer_id is undefined")
	}
	var list []*message
	if p := s.peers[id]; p != nil {
		list = slices.DeleteFunc(slices.Clone(p.messages), func(m *message) bool { return m.deleted })
	}
	if !c.flag("rev") {
		slices.Reverse(list)
	}
	page, fail := paged(c, list)
	if fail != nil {
		return nil, fail
	}
	return s.items(len(list), page), nil
}

// getConversations is messages.getConversations: the one with the newest message first.
func (s *Server) getConversations(c *call) (any, *apiError) {
	list := []*peer{}
	for _, p := range s.peers {
		if len(p.messages) == 0 {
			continue
		}
		answered := p.last().out
		switch c.text("filter") {
		case "", "all":
		case "unanswered":
			if answered {
				continue
			}
		case "unread":
			if p.unread() == 0 {
				continue
			}
		default:
			return nil, invalid("filter is incorrect")
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *peer) int { return cmp.Compare(b.last().id, a.last().id) })
	page, fail := paged(c, list)
	if fail != nil {
		return nil, fail
	}
	items := make([]map[string]any, 0, len(page))
	for _, p := range page {
		items = append(items, map[string]any{"conversation": s.conversation(p), "last_message": s.wire(p.last())})
	}
	return map[string]any{"count": len(list), "items": items}, nil
}

func (p *peer) last() *message { return p.messages[len(p.messages)-1] }

func (p *peer) unread() int {
	n := 0
	for _, m := range p.messages {
		if !m.out && m.id > p.inRead {
			n++
		}
	}
	return n
}

func (s *Server) conversation(p *peer) map[string]any {
	kind, local := "user", p.id
	if isChat(p.id) {
		kind, local = "chat", p.id-chatBase
	}
	return map[string]any{
		"peer":            map[string]any{"id": p.id, "type": kind, "local_id": local},
		"last_message_id": p.last().id, "last_conversation_message_id": p.last().cmid,
		"in_read": p.inRead, "out_read": p.outRead, "unread_count": p.unread(), "version": p.last().version,
		"can_write": map[string]any{"allowed": s.mayWrite(p.id) == nil},
	}
}

func paged[T any](c *call, list []T) ([]T, *apiError) {
	count, fail := c.within("count", 20, 0, pageMost)
	if fail != nil {
		return nil, fail
	}
	offset, fail := c.within("offset", 0, 0, 1<<31)
	if fail != nil {
		return nil, fail
	}
	list = list[min(int(offset), len(list)):]
	return list[:min(int(count), len(list))], nil
}

func (s *Server) items(count int, list []*message) map[string]any {
	items := make([]map[string]any, 0, len(list))
	for _, m := range list {
		items = append(items, s.wire(m))
	}
	return map[string]any{"count": count, "items": items}
}

// markAsRead is messages.markAsRead of a whole conversation.
func (s *Server) markAsRead(c *call) (any, *apiError) {
	id, ok := c.number("peer_id")
	if !ok || s.peers[id] == nil {
		return nil, invalid("peer_id is incorrect")
	}
	s.peers[id].inRead = s.lastID
	c.effect = true
	return 1, nil
}

// setActivity is messages.setActivity: nothing stays of it.
func (s *Server) setActivity(c *call) (any, *apiError) {
	id, ok := c.number("peer_id")
	if !ok {
		id, ok = c.number("user_id")
	}
	if !ok {
		return nil, invalid("peer_id is incorrect")
	}
	if kind := c.text("type"); !slices.Contains([]string{"typing", "audiomessage", "file", "photo", "video"}, kind) {
		return nil, invalid("type is incorrect")
	}
	if fail := s.mayWrite(id); fail != nil {
		return nil, failed(936, "Contact not found")
	}
	return 1, nil
}

// getUsers is users.get; whom VK does not know is left out.
func (s *Server) getUsers(c *call) (any, *apiError) {
	ids, fail := c.numbers("user_ids", 1000)
	if fail != nil {
		return nil, fail
	}
	list := []map[string]any{}
	for _, id := range ids {
		u := s.known(id)
		if u == nil {
			continue
		}
		w := map[string]any{
			"id": u.ID, "first_name": u.FirstName, "last_name": u.LastName,
			"is_closed": u.private, "can_access_closed": !u.private,
		}
		if u.deactivated != "" {
			w["deactivated"] = u.deactivated
		}
		for _, field := range strings.Split(c.text("fields"), ",") {
			if field == "screen_name" || field == "domain" {
				w[field] = u.screenName()
			}
		}
		list = append(list, w)
	}
	return list, nil
}
