package vk

import (
	"context"
	"time"
)

// Message is a message as people see it in the conversation.
type Message struct {
	ID        int64     `json:"id"` // number in the conversation
	From      int64     `json:"from"`
	Out       bool      `json:"out"` // written by the community
	Text      string    `json:"text"`
	Time      time.Time `json:"time"`
	Edited    bool      `json:"edited,omitempty"`
	ReplyTo   int64     `json:"reply_to,omitempty"`
	Files     []File    `json:"files,omitempty"`
	Keyboard  *Keyboard `json:"keyboard,omitempty"`
	Geo       *Geo      `json:"geo,omitempty"`
	Forwarded int       `json:"forwarded,omitempty"` // how many messages are inside
}

// File is something below a message.
type File struct {
	Kind string `json:"kind"` // VK's type
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"` // empty when there is no file
	Size int    `json:"size,omitempty"`
	Data []byte `json:"-"`
}

// Chat gives a conversation as its people see it now, oldest first.
func (s *Server) Chat(id int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.peers[id]
	if p == nil {
		return nil
	}
	var seen []Message
	for _, m := range p.messages {
		if !m.deleted {
			seen = append(seen, s.view(m))
		}
	}
	return seen
}

func (s *Server) view(m *message) Message {
	v := Message{
		ID: m.cmid, From: m.from, Out: m.out, Text: m.text, Time: m.date, Edited: !m.edited.IsZero(),
		Keyboard: m.keyboard, Geo: m.geo, Forwarded: len(m.forwarded),
	}
	if m.reply != nil {
		v.ReplyTo = m.reply.cmid
	}
	for _, a := range m.media {
		f := File{Kind: a.Kind}
		if a.file != nil {
			f.Name, f.URL, f.Size, f.Data = a.file.name, s.address(a.file), len(a.file.data), a.file.data
		}
		v.Files = append(v.Files, f)
	}
	return v
}

// Keyboard gives the ordinary keyboard that is shown below the input field, or nil.
func (s *Server) Keyboard(id int64) *Keyboard {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.peers[id]; p != nil {
		return p.keyboard
	}
	return nil
}

// Subscribe gives a channel that gets a value after each change of any
// conversation; changes in quick succession may share one. The caller calls
// cancel in the end.
func (s *Server) Subscribe() (changes <-chan struct{}, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := make(chan struct{}, 1)
	s.watchers[ch] = true
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, ch)
	}
}

// Wait blocks until ok holds for a conversation, or ctx ends.
func (s *Server) Wait(ctx context.Context, id int64, ok func([]Message) bool) error {
	changes, cancel := s.Subscribe()
	defer cancel()
	for !ok(s.Chat(id)) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changes:
		}
	}
	return nil
}

// changed tells the watchers; callers hold s.mu.
func (s *Server) changed() {
	for ch := range s.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
