package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"supportbot/shared/sandbox/fault"
)

// How long an update is kept for a bot that does not take it.
const updateLives = 24 * time.Hour

// update is one thing that the bot is told.
type update struct {
	id      int64
	kind    string
	lane    lane
	body    []byte
	expires time.Time

	busy    bool // a webhook call is under way
	attempt int  // webhook calls made so far
	due     time.Time
	held    bool          // until Kick
	wait    time.Duration // before the call, keeping its place
}

// lane is what updates are ordered by: of one lane only the first is delivered
// at a time. Messages and edits of one chat share a lane, presses have one per
// user (WebhookActor.cpp).
type lane struct {
	kind string
	id   int64
}

// emit tells the bot of something; callers hold s.mu.
func (s *Server) emit(kind string, object any) {
	if !s.wanted(kind) {
		return
	}
	s.lastUpdate++
	s.enqueue(s.lastUpdate, kind, marshal(map[string]any{"update_id": s.lastUpdate, kind: object}))
}

// wanted: by default everything but three kinds (core.telegram.org/bots/api#setwebhook).
func (s *Server) wanted(kind string) bool {
	if s.allowed != nil {
		return s.allowed[kind]
	}
	return kind != "chat_member" && kind != "message_reaction" && kind != "message_reaction_count"
}

// Deliver tells the bot of something that the customers' methods have no word
// for: an update as Telegram would send it, anything that encodes as JSON.
// Without update_id it gets the next one.
func (s *Server) Deliver(object any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode update: %w", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return fmt.Errorf("read update: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := strconv.ParseInt(string(fields["update_id"]), 10, 64)
	if err != nil {
		s.lastUpdate++
		id = s.lastUpdate
		fields["update_id"] = marshal(id)
	}
	kind := ""
	for key := range fields {
		if key != "update_id" {
			kind = key
		}
	}
	s.enqueue(id, kind, marshal(fields))
	return nil
}

func (s *Server) enqueue(id int64, kind string, body []byte) {
	now := s.now()
	u := &update{id: id, kind: kind, body: body, lane: laneOf(id, kind, body), due: now, expires: now.Add(updateLives)}
	if kind == "callback_query" {
		u.expires = now.Add(answerable)
	}
	if s.hook == nil || s.disturbed(u) {
		s.pending = append(s.pending, u)
	}
	close(s.arrived)
	s.arrived = make(chan struct{})
	s.pump()
}

// disturbed applies a fault of "webhook" to an update; false when it is dropped.
func (s *Server) disturbed(u *update) bool {
	f, _ := s.cfg.Faults.Take(WebhookMethod)
	switch f.Kind {
	case fault.Drop:
		return false
	case fault.Duplicate:
		again := *u
		s.pending = append(s.pending, &again)
	case fault.Late:
		u.held = f.Wait == 0
		u.due = u.due.Add(f.Wait)
		u.lane = lane{kind: "late", id: u.id}
	case fault.Delay:
		u.wait = f.Wait
	}
	return true
}

func laneOf(id int64, kind string, body []byte) lane {
	var u map[string]json.RawMessage
	var object struct {
		Chat struct{ ID int64 }
		From struct{ ID int64 }
	}
	if json.Unmarshal(body, &u) != nil || json.Unmarshal(u[kind], &object) != nil {
		return lane{kind: kind, id: id}
	}
	switch kind {
	case "message", "edited_message", "channel_post", "edited_channel_post":
		return lane{kind: "chat", id: object.Chat.ID}
	case "my_chat_member", "chat_member", "chat_join_request", "message_reaction":
		return lane{kind: kind, id: object.Chat.ID}
	case "callback_query", "inline_query":
		return lane{kind: kind, id: object.From.ID}
	}
	return lane{kind: kind, id: id}
}

// allow keeps which kinds of updates the bot wants; absent keeps what was said
// before, an empty list means the default ones.
func (s *Server) allow(c *call) *refusal {
	var kinds []string
	there, err := c.object("allowed_updates", &kinds)
	if err != nil {
		return bad("can't parse allowed_updates JSON object")
	}
	if !there {
		return nil
	}
	s.allowed = nil
	for _, kind := range kinds {
		if s.allowed == nil {
			s.allowed = map[string]bool{}
		}
		s.allowed[kind] = true
	}
	return nil
}

// expire forgets the updates whose time is over; callers hold s.mu.
func (s *Server) expire() {
	now := s.now()
	s.pending = slices.DeleteFunc(s.pending, func(u *update) bool { return !u.busy && now.After(u.expires) })
}

const (
	webhookActive = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
	otherPoll     = "terminated by other getUpdates request; make sure that only one bot instance is running"
)

func conflict(text string) *refusal { return refuse(http.StatusConflict, "Conflict: "+text) }

// getUpdates waits for updates; only one call at a time does.
func (s *Server) getUpdates(ctx context.Context, c *call) (any, *refusal) {
	timeout := min(max(0, c.number("timeout", 0)), 50)
	timer := time.NewTimer(time.Duration(timeout) * time.Second)
	defer timer.Stop()
	s.mu.Lock()
	if s.polling != nil {
		close(s.polling)
	}
	own := make(chan struct{})
	s.polling = own
	r := s.allow(c)
	s.mu.Unlock()
	defer s.stopPolling(own)
	for r == nil {
		s.mu.Lock()
		arrived := s.arrived
		if s.hook != nil {
			s.mu.Unlock()
			return nil, conflict(webhookActive)
		}
		list := s.take(c)
		s.mu.Unlock()
		if len(list) > 0 || timeout == 0 {
			return list, nil
		}
		select {
		case <-arrived:
		case <-own:
			return nil, conflict(otherPoll)
		case <-timer.C:
			timeout = 0
		case <-ctx.Done():
			timeout = 0
		case <-s.ctx.Done():
			return nil, refuse(http.StatusInternalServerError, "Internal Server Error: restart")
		}
	}
	return nil, r
}

func (s *Server) stopPolling(own chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.polling == own {
		s.polling = nil
	}
}

// take confirms what is before the offset and gives what follows. An offset
// below 0 counts from the end. Callers hold s.mu.
func (s *Server) take(c *call) []json.RawMessage {
	s.expire()
	offset := c.number("offset", 0)
	limit := int(c.number("limit", 100))
	if limit < 1 || limit > 100 {
		limit = 100
	}
	if offset < 0 {
		keep := min(int(-offset), len(s.pending))
		s.pending = s.pending[len(s.pending)-keep:]
	} else {
		s.pending = slices.DeleteFunc(s.pending, func(u *update) bool { return u.id < offset })
	}
	list := []json.RawMessage{}
	for _, u := range s.pending[:min(limit, len(s.pending))] {
		list = append(list, u.body)
	}
	return list
}
