package vk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
)

// bodyMost is the largest event that is read. A message with a hundred long
// forwards stays well below it.
const bodyMost = 1 << 20

// envelope is what the Callback API posts. The secret is checked in the
// confirmation too: VK sends it there as soon as it is set.
type envelope struct {
	Type    string          `json:"type"`
	EventID string          `json:"event_id"`
	GroupID int64           `json:"group_id"`
	Secret  string          `json:"secret"`
	Object  json.RawMessage `json:"object"`
}

// Receive implements messenger.Receiver. VK takes nothing but status 200 with
// the two letters "ok" for success and repeats everything else.
func (b *Bot) Receive(r *http.Request) ([]messenger.Event, messenger.Reply, error) {
	if r.Method != http.MethodPost {
		return nil, plain(http.StatusMethodNotAllowed, "POST only"), fmt.Errorf("%w: method is not POST", messenger.ErrMalformed)
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, bodyMost))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, plain(http.StatusRequestEntityTooLarge, "too large"), messenger.ErrTooLarge
	case err != nil: // the connection broke: VK sends it again
		return nil, plain(http.StatusBadRequest, "not read"), fmt.Errorf("%w: not read to the end", messenger.ErrMalformed)
	}
	var e envelope
	if err := lenient(body, &e); err != nil {
		return nil, plain(http.StatusOK, "ok"), fmt.Errorf("%w: no event", messenger.ErrMalformed)
	}
	if !env.Match(b.secrets, e.Secret) || e.GroupID != b.group {
		return nil, plain(http.StatusForbidden, "forbidden"), messenger.ErrForbidden
	}
	if e.Type == "confirmation" {
		return nil, plain(http.StatusOK, b.confirmation), nil
	}
	events, err := b.events(r.Context(), e)
	if err != nil {
		return nil, plain(http.StatusOK, "ok"), fmt.Errorf("%w: object of %.40q: %w", messenger.ErrMalformed, e.Type, err)
	}
	return events, plain(http.StatusOK, "ok"), nil
}

func plain(status int, body string) messenger.Reply {
	return messenger.Reply{Status: status, ContentType: "text/plain", Body: body}
}

// pressed is the object of message_event.
type pressed struct {
	UserID  int64           `json:"user_id"`
	PeerID  int64           `json:"peer_id"`
	EventID string          `json:"event_id"` // not the envelope's
	Payload json.RawMessage `json:"payload"`
	CMID    int64           `json:"conversation_message_id"`
}

// press turns a press of a callback button into an event. VK does not say when
// it happened. In a group chat, where none of ours stand, it is none.
func (b *Bot) press(e envelope) ([]messenger.Event, error) {
	var p pressed
	if err := lenient(e.Object, &p); err != nil || p.UserID <= 0 || p.PeerID == 0 || e.EventID == "" {
		return nil, errors.New("no press")
	}
	if isGroupChat(p.PeerID) {
		return nil, nil
	}
	data, _ := buttonData(p.Payload)
	event := b.event(e.EventID, messenger.EventPress, p.PeerID, p.UserID)
	event.Press = &messenger.Press{
		ID: p.EventID, Chat: id(p.PeerID), User: id(p.UserID), Data: data,
	}
	if p.CMID > 0 {
		event.Press.MessageID = id(p.CMID)
	}
	return []messenger.Event{event}, nil
}

// permission turns a change of what the customer or the community permits into
// an event.
func (b *Bot) permission(e envelope, kind messenger.Kind) ([]messenger.Event, error) {
	var o struct {
		UserID int64 `json:"user_id"`
	}
	if err := lenient(e.Object, &o); err != nil || o.UserID <= 0 || e.EventID == "" {
		return nil, errors.New("no user")
	}
	return []messenger.Event{b.event(e.EventID, kind, o.UserID, o.UserID)}, nil
}

// event gives an event with what all have.
func (b *Bot) event(eventID string, kind messenger.Kind, peer, user int64) messenger.Event {
	return messenger.Event{
		Key:     fmt.Sprintf("vk:%d:%s", b.group, eventID),
		Kind:    kind,
		Address: messenger.Address{Messenger: messenger.VK, Bot: b.Bot(), Chat: id(peer)},
		User:    messenger.User{ID: id(user)},
		Time:    b.now().UTC().Truncate(time.Second),
	}
}

// lenient decodes JSON; a field of another type than expected costs only itself.
// VK writes an empty object as an empty list.
func lenient(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return nil
	}
	return err
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

func id(n int64) string { return strconv.FormatInt(n, 10) }
