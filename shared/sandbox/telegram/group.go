package telegram

// Group makes a group whose member the bot is, and gives its id. The bot is told
// that it was added by c.
func (c *Customer) Group(title string) int64 {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	id := -s.nextID() - 4_000_000
	ch := &chat{id: id, kind: group, title: title, owner: s.users[c.id]}
	s.chats[id] = ch
	s.emit("my_chat_member", map[string]any{
		"chat": ch.wire(), "from": s.users[c.id].User, "date": s.now().Unix(),
		"old_chat_member": map[string]any{"user": s.bot(), "status": "left"},
		"new_chat_member": map[string]any{"user": s.bot(), "status": "member"},
	})
	s.changed()
	return id
}

// In gives the same person in a group. Unless Config.ReadsGroups says otherwise,
// the bot gets only what is meant for it there.
func (c *Customer) In(groupID int64) *Customer {
	return &Customer{s: c.s, id: c.id, chat: groupID}
}

// Kick removes the bot from the group.
func (c *Customer) Kick() {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.chats[c.chat]
	ch.left = true
	s.emit("my_chat_member", map[string]any{
		"chat": ch.wire(), "from": s.users[c.id].User, "date": s.now().Unix(),
		"old_chat_member": map[string]any{"user": s.bot(), "status": "member"},
		"new_chat_member": map[string]any{"user": s.bot(), "status": "kicked", "until_date": 0},
	})
	s.changed()
}

// Migrate gives a chat a new id, as happens when a group becomes a supergroup:
// calls with the old one are refused with the new one, and both chats say so in
// a message. (With the original only groups move; here any chat does, so that
// one with a customer can be made to.)
func (s *Server) Migrate(chatID int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.chats[chatID]
	moved := *old
	moved.id = -1_000_000_000_000 - s.nextID()
	moved.kind = supergroup
	setDefault(&moved.title, "Group")
	if old.user != nil {
		moved.user, moved.owner = nil, old.user
	}
	moved.messages, moved.keyboard = nil, nil
	s.chats[moved.id] = &moved
	old.movedTo = moved.id
	for _, m := range []*message{
		{chat: old, extra: map[string]any{"migrate_to_chat_id": moved.id}},
		{chat: &moved, extra: map[string]any{"migrate_from_chat_id": old.id}},
	} {
		m.from = moved.owner
		s.store(m)
		s.emit("message", s.wire(m))
	}
	return moved.id
}
