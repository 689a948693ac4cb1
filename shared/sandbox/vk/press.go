package vk

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// answerable is how long a press can be answered: the client's spinner turns for
// about a minute (VK publishes no number).
const answerable = time.Minute

// snackbarMost is the length of a snackbar's text.
const snackbarMost = 90

// Answer is what the bot did about a pressed button.
type Answer struct {
	Type string `json:"type"` // "show_snackbar", "open_link", "open_app"; "" for nothing to see
	Text string `json:"text,omitempty"`
	Link string `json:"link,omitempty"`
}

// press is one press of a callback button.
type press struct {
	user, peer int64
	at         time.Time
	answered   bool
	answer     chan Answer // holds one
}

// errNoButton: the customer sees no such button.
var errNoButton = errors.New("no such button")

// Press presses the callback button with this label below message cmid. The
// channel gets the bot's answer; the event id names the press in the API.
func (c *Customer) Press(cmid int64, label string) (answer <-chan Answer, eventID string, err error) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.peer(c.peer).find(cmid)
	if m == nil {
		return nil, "", errNoButton
	}
	button, ok := m.keyboard.button("callback", label)
	if !ok {
		return nil, "", errNoButton
	}
	p := &press{user: c.id, peer: c.peer, at: s.now(), answer: make(chan Answer, 1)}
	eventID = fmt.Sprintf("%012x", s.nextID())
	s.presses[eventID] = p
	s.emit("message_event", map[string]any{
		"user_id": c.id, "peer_id": c.peer, "event_id": eventID,
		"payload": decoded(button.Action.Payload), "conversation_message_id": cmid,
	})
	return p.answer, eventID, nil
}

// Tap presses a text button, of the newest keyboard that has one with this
// label: a message with the label and the payload. A one-time keyboard is gone
// after that.
func (c *Customer) Tap(label string) (int64, error) {
	s := c.s
	s.mu.Lock()
	p := s.peer(c.peer)
	button, ok := p.keyboard.button("text", label)
	if ok && p.keyboard.OneTime {
		p.keyboard = nil
	}
	for i := len(p.messages) - 1; i >= 0 && !ok; i-- {
		if k := p.messages[i].keyboard; k != nil && k.Inline {
			button, ok = k.button("text", label)
		}
	}
	s.mu.Unlock()
	if !ok {
		return 0, errNoButton
	}
	return c.Send(Content{Text: label, Payload: button.Action.Payload}), nil
}

// button finds a button; the nil keyboard has none.
func (k *Keyboard) button(kind, label string) (Button, bool) {
	if k == nil {
		return Button{}, false
	}
	for _, row := range k.Buttons {
		for _, b := range row {
			if b.Action.Type == kind && b.Action.Label == label {
				return b, true
			}
		}
	}
	return Button{}, false
}

// answerPress is messages.sendMessageEventAnswer: once, and in time.
func (s *Server) answerPress(c *call) (any, *apiError) {
	user, _ := c.number("user_id")
	peer, _ := c.number("peer_id")
	p := s.presses[c.text("event_id")]
	switch {
	case p == nil:
		return nil, invalid("event_id is incorrect")
	case p.user != user || p.peer != peer:
		return nil, invalid("user_id or peer_id is incorrect")
	case p.answered || s.now().Sub(p.at) > answerable:
		return nil, invalid("event_id is expired")
	}
	var a Answer
	if data := c.text("event_data"); data != "" {
		if utf8.RuneCountInString(data) > 1000 || json.Unmarshal([]byte(data), &a) != nil || !a.valid() {
			return nil, invalid("event_data is incorrect")
		}
	}
	p.answered = true
	p.answer <- a
	c.effect = true
	return 1, nil
}

func (a Answer) valid() bool {
	switch a.Type {
	case "show_snackbar":
		return a.Text != "" && utf8.RuneCountInString(a.Text) <= snackbarMost
	case "open_link":
		return a.Link != ""
	case "open_app":
		return true
	}
	return false
}
