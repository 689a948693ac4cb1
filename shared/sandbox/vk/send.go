package vk

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

const (
	textMost       = 4096 // UTF-16 code units: the strictest reading of "4096 characters"
	recipientsMost = 100
	attachedMost   = 10
	messagePayload = 1000
)

// outgoing is what the community wants to say, checked.
type outgoing struct {
	text     string
	media    []Attachment
	keyboard *Keyboard
	payload  string
	reply    int64 // number in the conversation
	random   int64
}

// send is messages.send. With peer_ids the answer is a list, and what is wrong
// with one recipient is said there; otherwise it is the message's id.
func (s *Server) send(c *call) (any, *apiError) {
	peers, list, fail := recipients(c)
	if fail != nil {
		return nil, fail
	}
	o, fail := s.content(c)
	if fail != nil {
		return nil, fail
	}
	var ok bool
	if o.random, ok = c.number("random_id"); !ok {
		return nil, invalid("random_id is a required parameter")
	}
	if !list {
		m, fail := s.deliver(c, peers[0], o)
		if fail != nil {
			return nil, fail
		}
		return visibleID(m), nil
	}
	items := make([]map[string]any, 0, len(peers))
	for _, peer := range peers {
		item := map[string]any{"peer_id": peer, "message_id": 0, "conversation_message_id": 0}
		if m, fail := s.deliver(c, peer, o); fail != nil {
			item["error"] = map[string]any{"code": fail.code, "description": fail.text}
		} else {
			item["message_id"], item["conversation_message_id"] = visibleID(m), m.cmid
		}
		items = append(items, item)
	}
	return items, nil
}

// recipients gives the peers of a call, and whether they came as a list.
func recipients(c *call) (peers []int64, list bool, fail *apiError) {
	if c.has("peer_ids") {
		peers, fail = c.numbers("peer_ids", recipientsMost)
		return peers, true, fail
	}
	for _, name := range []string{"peer_id", "user_id"} {
		if !c.has(name) {
			continue
		}
		peer, ok := c.number(name)
		if !ok {
			return nil, false, invalid(name + " is incorrect")
		}
		return []int64{peer}, false, nil
	}
	if chat, ok := c.number("chat_id"); ok && chat > 0 && chat <= chatMost {
		return []int64{chatBase + chat}, false, nil
	}
	return nil, false, invalid("you must specify peer_id, peer_ids, user_id or chat_id")
}

// content reads what a message consists of, for send and edit.
func (s *Server) content(c *call) (outgoing, *apiError) {
	o := outgoing{text: c.text("message"), payload: c.text("payload")}
	if len(utf16.Encode([]rune(o.text))) > textMost {
		return o, failed(914, "Message is too long")
	}
	if len(o.payload) > messagePayload || (o.payload != "" && !json.Valid([]byte(o.payload))) {
		return o, invalid("payload is incorrect")
	}
	var fail *apiError
	if o.media, fail = s.attached(c.text("attachment")); fail != nil {
		return o, fail
	}
	if strings.TrimSpace(o.text) == "" && len(o.media) == 0 {
		return o, invalid("message is empty or invalid")
	}
	if o.keyboard, fail = s.parseKeyboard(c.text("keyboard")); fail != nil {
		return o, fail
	}
	if forward := c.text("forward"); forward != "" {
		var f struct {
			Numbers []int64 `json:"conversation_message_ids"`
			IsReply bool    `json:"is_reply"`
		}
		if json.Unmarshal([]byte(forward), &f) != nil || (f.IsReply && len(f.Numbers) != 1) {
			return o, invalid("forward is incorrect")
		}
		if f.IsReply {
			o.reply = f.Numbers[0]
		}
	}
	return o, nil
}

// attached gives the media that "photo-1_2_key,doc-1_3" names.
func (s *Server) attached(text string) ([]Attachment, *apiError) {
	if text == "" {
		return nil, nil
	}
	names := strings.Split(text, ",")
	if len(names) > attachedMost {
		return nil, invalid("attachment has too many items")
	}
	media := make([]Attachment, 0, len(names))
	for _, name := range names {
		parts := strings.Split(name, "_")
		if len(parts) < 2 {
			return nil, invalid("attachment is incorrect")
		}
		f := s.media[parts[0]+"_"+parts[1]]
		if f == nil || (len(parts) == 3 && parts[2] != f.key) {
			return nil, invalid("attachment is incorrect")
		}
		media = append(media, Attachment{Kind: f.kind, file: f})
	}
	return media, nil
}

// deliver makes one message for one peer. A random_id that this peer has seen
// gives the earlier message again; 0 switches that off.
func (s *Server) deliver(c *call, id int64, o outgoing) (*message, *apiError) {
	if earlier := s.randoms[randomKey{id, o.random}]; earlier != nil && o.random != 0 {
		return earlier, nil
	}
	if fail := s.mayWrite(id); fail != nil {
		return nil, fail
	}
	p := s.peer(id)
	if s.flooded(p, o.text) {
		return nil, failed(9, "Flood control")
	}
	m := &message{
		peer: id, from: -s.cfg.GroupID, out: true, text: o.text, random: o.random,
		media: o.media, payload: o.payload, reply: p.find(o.reply), keyboard: o.keyboard,
	}
	if o.keyboard != nil && !o.keyboard.Inline {
		p.keyboard = o.keyboard
	}
	s.store(m)
	s.randoms[randomKey{id, o.random}] = m
	c.effect = true
	s.emit("message_reply", s.event(m))
	return m, nil
}

// mayWrite checks whether the community may write to a peer.
func (s *Server) mayWrite(id int64) *apiError {
	if isChat(id) {
		if s.peers[id] == nil {
			return failed(917, "You don't have access to this chat")
		}
		return nil
	}
	u := s.known(id)
	switch {
	case id <= 0:
		return invalid("peer_id is incorrect")
	case u == nil: // whoever they are, they never wrote
		return failed(901, "Can't send messages for users without permission")
	case u.deactivated != "":
		return failed(18, "User was deleted or banned")
	case u.blacklisted:
		return failed(900, "Can't send messages for users from blacklist")
	case u.private:
		return failed(902, "Can't send messages to this user due to their privacy settings")
	case !u.allowed:
		return failed(901, "Can't send messages for users without permission")
	}
	return nil
}

// flooded reports whether a text came too often lately. VK publishes no number.
func (s *Server) flooded(p *peer, text string) bool {
	same := 0
	for _, m := range slices.Backward(p.messages) {
		if s.now().Sub(m.date) > time.Minute {
			break
		}
		if m.out && m.text == text && text != "" {
			same++
		}
	}
	return same >= s.cfg.Flood
}

// visibleID is a message's id as answers give it: group chats have none.
func visibleID(m *message) int64 {
	if isChat(m.peer) {
		return 0
	}
	return m.id
}
