package reproduce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"supportbot/shared/broadcast"
	"supportbot/shared/news"
	"supportbot/shared/ticket"
)

// Event is a recorded event of one of the functions.
type Event struct {
	Function string          // that it is for
	What     string          // in words
	Raw      json.RawMessage // as the function gets it
}

// shape is what tells the kinds of events apart (Cloud Functions, "Triggers";
// API Gateway, "Integration with Cloud Functions").
type shape struct {
	// An HTTP event. Path is the actual one in format 1.0; in 0.1 that is URL.
	Version string  `json:"version"`
	Method  *string `json:"httpMethod"`
	Path    string  `json:"path"`
	URL     string  `json:"url"`
	// A trigger's.
	Messages []struct {
		Details struct {
			Queue   string `json:"queue_id"`
			Trigger string `json:"trigger_id"`
			Payload string `json:"payload"`
		} `json:"details"`
	} `json:"messages"`
	// The body of a webhook's call alone: of Telegram, VK, Tracker.
	UpdateID int64           `json:"update_id"`
	Type     string          `json:"type"`
	GroupID  int64           `json:"group_id"`
	ID       json.RawMessage `json:"id"`
	Key      string          `json:"key"`
}

// Recognize finds out which function an event is for. It takes events of HTTP calls
// in both formats of the gateway, of queues and of timers, and the bare body of a
// call of Telegram, VK or Tracker, of which it makes such an event. function, if
// given, is whom an event is for that does not say it: one of a call without a path,
// or of a timer.
func Recognize(raw []byte, function string) (Event, error) {
	var s shape
	if err := json.Unmarshal(raw, &s); err != nil {
		return Event{}, fmt.Errorf("the event is not JSON: %w", err)
	}
	switch {
	case s.Method != nil:
		return call(s, raw, function)
	case len(s.Messages) > 0 && s.Messages[0].Details.Queue != "":
		return fromQueue(s.Messages[0].Details.Queue, raw)
	case len(s.Messages) > 0 && s.Messages[0].Details.Trigger != "":
		switch {
		case function != "":
		case strings.Contains(s.Messages[0].Details.Payload, `"since"`): // Tracker's history
			function = "analytics-loader"
		default:
			function = "reconciler"
		}
		return Event{function, "a timer", raw}, nil
	case s.UpdateID > 0:
		return body("telegram-webhook", "/telegram", raw)
	case s.Type != "" && s.GroupID != 0:
		return body("vk-webhook", "/vk", raw)
	case len(s.ID) > 0 || s.Key != "":
		return body("tracker-handler", "/tracker", raw)
	}
	return Event{}, errors.New("the event is none of an HTTP call, a queue or a timer, and no call's body of Telegram, VK or Tracker")
}

// call finds the function behind a path of the gateways.
func call(s shape, raw []byte, function string) (Event, error) {
	path := s.Path
	if s.Version != "1.0" && s.URL != "" {
		path = s.URL
	}
	path, _, _ = strings.Cut(path, "?")
	if u, err := url.Parse(path); err == nil {
		path = u.Path
	}
	switch {
	case function != "":
	case path == "/telegram":
		function = "telegram-webhook"
	case path == "/vk":
		function = "vk-webhook"
	case path == "/tracker":
		function = "tracker-handler"
	case strings.HasPrefix(path, "/v1/"), path == "/console", strings.HasPrefix(path, "/console/"):
		function = "notification-api"
	default:
		return Event{}, fmt.Errorf("no function is behind the path %q; name it: FUNCTION=telegram-webhook", path)
	}
	return Event{function, "HTTP, " + *s.Method + " " + path, raw}, nil
}

// fromQueue finds the worker of a queue, whose name ends with ours.
func fromQueue(id string, raw []byte) (Event, error) {
	name := id[strings.LastIndexByte(id, ':')+1:]
	for queue, function := range map[string]string{
		ticket.QueueTickets: "ticket-worker", ticket.QueueDeliveries: "tracker-worker", broadcast.Queue: "notification-worker",
	} {
		if name == queue || strings.HasSuffix(name, "-"+queue) {
			return Event{function, "the queue " + name, raw}, nil
		}
	}
	return Event{}, fmt.Errorf("no function works on the queue %q", name)
}

// body makes the event of a call of which only the body is known.
func body(function, path string, raw []byte) (Event, error) {
	event, err := json.Marshal(map[string]any{
		"version": "1.0", "resource": path, "path": path, "httpMethod": http.MethodPost,
		"headers": map[string]string{"Content-Type": "application/json"}, "body": string(bytes.TrimSpace(raw)), "isBase64Encoded": false,
	})
	return Event{function, "HTTP, POST " + path + " (the body alone)", event}, err
}

// Secrets are those of the local run, and the number of its VK community.
type Secrets struct {
	Telegram, VK, Tracker string
	VKGroup               string
}

// First is the first of several secrets, comma separated.
func First(secrets string) string {
	first, _, _ := strings.Cut(secrets, ",")
	return strings.TrimSpace(first)
}

// Localize puts the secrets of the local run in the place of the recorded ones, which
// nobody else should have, and its community in the place of the recorded one.
func (e *Event) Localize(s Secrets) error {
	switch e.Function {
	case "telegram-webhook":
		return e.header("X-Telegram-Bot-Api-Secret-Token", s.Telegram)
	case "tracker-handler":
		return e.header(news.SecretHeader, s.Tracker)
	case "vk-webhook":
		return e.field(map[string]any{"secret": s.VK, "group_id": json.Number(s.VKGroup)})
	}
	return nil
}

// header replaces a header in both of an event's maps.
func (e *Event) header(name, value string) error {
	return e.change(func(event map[string]json.RawMessage) error {
		for in, with := range map[string]any{"headers": value, "multiValueHeaders": []string{value}} {
			headers := map[string]any{}
			if raw := event[in]; raw != nil {
				if err := json.Unmarshal(raw, &headers); err != nil {
					return fmt.Errorf("read %s of event: %w", in, err)
				}
			}
			if headers == nil { // of null
				headers = map[string]any{}
			}
			for known := range headers {
				if strings.EqualFold(known, name) {
					delete(headers, known)
				}
			}
			headers[name] = with
			if err := put(event, in, headers); err != nil {
				return err
			}
		}
		return nil
	})
}

// field replaces fields of the body, which may be in base64.
func (e *Event) field(values map[string]any) error {
	return e.change(func(event map[string]json.RawMessage) error {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(e.body(), &fields); err != nil {
			return fmt.Errorf("read body of event: %w", err)
		}
		if fields == nil { // of null
			return errors.New("the event has no body")
		}
		for name, value := range values {
			if err := put(fields, name, value); err != nil {
				return err
			}
		}
		plain, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		return errors.Join(put(event, "body", string(plain)), put(event, "isBase64Encoded", false))
	})
}

func (e *Event) change(f func(event map[string]json.RawMessage) error) error {
	var event map[string]json.RawMessage
	if err := json.Unmarshal(e.Raw, &event); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	if err := f(event); err != nil {
		return err
	}
	raw, err := json.Marshal(event)
	if err == nil {
		e.Raw = raw
	}
	return err
}

func put(object map[string]json.RawMessage, name string, value any) error {
	raw, err := json.Marshal(value)
	if err == nil {
		object[name] = raw
	}
	return err
}
