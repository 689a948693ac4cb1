package telegram

import (
	"errors"
	"strconv"
	"time"
)

// answerable is how long a press can be answered, and how long its update lives
// (tdlib/telegram-bot-api, WebhookActor.cpp and Client.cpp).
const answerable = 150 * time.Second

// maxAnswer is the length of an answer's text (core.telegram.org/bots/api#answercallbackquery).
const maxAnswer = 200

// Answer is what the bot did about a pressed button.
type Answer struct {
	Text  string `json:"text,omitempty"`
	Alert bool   `json:"alert,omitempty"` // in a window that has to be closed
	URL   string `json:"url,omitempty"`
}

type press struct {
	at       time.Time
	answered bool
	answer   chan Answer // holds one
}

// errNoButton: the customer sees no such button.
var errNoButton = errors.New("no such button")

// Press presses the button with this data below a message of the bot's. The
// channel gets the bot's answer; the query's id names the press in the API.
func (c *Customer) Press(id int64, data string) (answer <-chan Answer, queryID string, err error) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.chats[c.chat].find(id)
	if m == nil || !has(m.inline, data) {
		return nil, "", errNoButton
	}
	p := &press{at: s.now(), answer: make(chan Answer, 1)}
	queryID = strconv.FormatInt(c.id<<8+s.nextID(), 10)
	s.presses[queryID] = p
	s.emit("callback_query", map[string]any{
		"id": queryID, "from": s.users[c.id].User, "message": s.wire(m), "data": data,
		"chat_instance": strconv.FormatInt(c.chat*7919, 10),
	})
	return p.answer, queryID, nil
}

// Tap presses a button of the ordinary keyboard: a message with its label.
func (c *Customer) Tap(label string) (int64, error) {
	for _, row := range c.s.Keyboard(c.chat) {
		for _, l := range row {
			if l == label {
				return c.Write(label), nil
			}
		}
	}
	return 0, errNoButton
}

func (s *Server) answerCallbackQuery(c *call) (any, *refusal) {
	p := s.presses[c.text("callback_query_id")]
	switch {
	case p == nil || p.answered || s.now().Sub(p.at) > answerable:
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	case units(c.text("text")) > maxAnswer:
		return nil, bad("MESSAGE_TOO_LONG")
	}
	if address := c.text("url"); address != "" { // only games and links to the bot itself
		return nil, bad("URL_INVALID")
	}
	p.answered, c.effect = true, true
	p.answer <- Answer{Text: c.text("text"), Alert: c.flag("show_alert")}
	s.changed()
	return true, nil
}
