package vk

import (
	"encoding/json"
	"time"
)

// Ids of group chats: 2,000,000,000 and the number of the chat, which is at
// most 100,000,000. Ids of people may be above that.
const (
	chatBase = 2_000_000_000
	chatMost = 100_000_000
)

func isChat(peer int64) bool { return peer > chatBase && peer <= chatBase+chatMost }

// peer is one conversation with the community.
type peer struct {
	id       int64
	messages []*message
	dropped  int       // messages before those in messages
	keyboard *Keyboard // the ordinary one, which stays below the input field
	inRead   int64     // ids of messages read, by the community and by the customer
	outRead  int64
}

// message is one message of a conversation.
type message struct {
	id, cmid  int64
	peer      int64
	from      int64 // the community is -GroupID
	date      time.Time
	edited    time.Time
	out       bool // sent by the community
	text      string
	random    int64
	version   int64
	media     []Attachment
	forwarded []*message
	reply     *message
	geo       *Geo
	payload   string
	keyboard  *Keyboard
	ref       string
	refSource string
	deleted   bool
}

// Geo is a point on the map.
type Geo struct {
	Latitude, Longitude float64
	Title, Address      string
}

// peer gives a conversation, new if need be; callers hold s.mu.
func (s *Server) peer(id int64) *peer {
	p := s.peers[id]
	if p == nil {
		p = &peer{id: id}
		s.peers[id] = p
	}
	return p
}

// store appends a message to its conversation and numbers it; callers hold s.mu.
func (s *Server) store(m *message) {
	p := s.peer(m.peer)
	m.id, m.cmid, m.date = s.nextID(), int64(p.dropped+len(p.messages))+1, s.now()
	m.version = m.id
	p.messages = append(p.messages, m)
	s.byID[m.id] = m
	s.thin(p)
	s.changed()
}

// find gives a message that is still there, by its number in the conversation.
func (p *peer) find(cmid int64) *message {
	if p == nil {
		return nil
	}
	n := cmid - 1 - int64(p.dropped)
	if n < 0 || n >= int64(len(p.messages)) || p.messages[n].deleted {
		return nil
	}
	return p.messages[n]
}

// wire is a message as the API and the events carry it.
func (s *Server) wire(m *message) map[string]any {
	w := map[string]any{
		"id": m.id, "date": m.date.Unix(), "peer_id": m.peer, "from_id": m.from,
		"text": m.text, "out": flag(m.out), "version": m.version,
		"conversation_message_id": m.cmid, "random_id": m.random,
		"attachments": s.attachments(m.media), "fwd_messages": s.foreign(m.forwarded),
		"important": false, "is_hidden": false,
	}
	if isChat(m.peer) {
		w["id"] = 0 // messages of group chats have no id of their own
	}
	if m.reply != nil {
		w["reply_message"] = s.foreign([]*message{m.reply})[0]
	}
	if m.geo != nil {
		w["geo"] = m.geo.wire()
	}
	if m.keyboard != nil {
		w["keyboard"] = m.keyboard
	}
	for key, value := range map[string]string{"payload": m.payload, "ref": m.ref, "ref_source": m.refSource} {
		if value != "" {
			w[key] = value
		}
	}
	if !m.edited.IsZero() {
		w["update_time"] = m.edited.Unix()
	}
	return w
}

// croppedBelow is the depth of forwards that an event still carries.
const croppedBelow = 1

// event is a message as an event carries it: forwards are cut below the first
// level and the message says so.
func (s *Server) event(m *message) map[string]any {
	w := s.wire(m)
	if depth(m.forwarded) > croppedBelow {
		w["is_cropped"] = true
		for _, f := range w["fwd_messages"].([]map[string]any) {
			delete(f, "fwd_messages")
		}
	}
	return w
}

func depth(list []*message) int {
	deepest := 0
	for _, m := range list {
		deepest = max(deepest, 1+depth(m.forwarded))
	}
	return deepest
}

// foreign is messages inside another one, which have fewer fields.
func (s *Server) foreign(list []*message) []map[string]any {
	inside := make([]map[string]any, 0, len(list))
	for _, m := range list {
		w := map[string]any{
			"date": m.date.Unix(), "from_id": m.from, "text": m.text, "id": m.id, "peer_id": m.peer,
			"conversation_message_id": m.cmid, "attachments": s.attachments(m.media),
		}
		if len(m.forwarded) > 0 {
			w["fwd_messages"] = s.foreign(m.forwarded)
		}
		if m.geo != nil {
			w["geo"] = m.geo.wire()
		}
		inside = append(inside, w)
	}
	return inside
}

func (g *Geo) wire() map[string]any {
	w := map[string]any{
		"type":        "point",
		"coordinates": map[string]any{"latitude": g.Latitude, "longitude": g.Longitude},
	}
	if g.Title != "" || g.Address != "" {
		w["place"] = map[string]any{"title": g.Title, "address": g.Address, "latitude": g.Latitude, "longitude": g.Longitude}
	}
	return w
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// decoded is JSON text as a value, for payloads that travel as objects.
func decoded(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}
