package ycf

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// QueueEvent is the call of a Message Queue trigger. If the function returns an
// error, panics or runs out of time, all of its messages come again after the
// visibility time-out; otherwise all are deleted.
//
// It is read from both forms in which Yandex documents message attributes
// (data_type and dataType) and written in the first. A message of a form that
// nobody documented is kept with what could be read of it, so that it does not
// hold up its neighbours.
type QueueEvent struct {
	Messages []QueueMessage
}

// QueueMessage is one message of a QueueEvent.
type QueueMessage struct {
	Event           Metadata
	Queue           string // its full name, yrn:yc:ymq:<region>:<folder>:<name>
	ID              string
	Body            string
	Receives        int               // how often it was received, this time included; 0: not told
	SentAt          time.Time         // zero: not told
	FirstReceivedAt time.Time         // zero: not told
	Attributes      map[string]string // the sender's; binary ones in base64, as they come
}

// Metadata is what the cloud says of each message of any trigger.
type Metadata struct {
	ID        string
	Type      string
	CreatedAt time.Time
	CloudID   string
	FolderID  string
}

const queueEventType = "yandex.cloud.events.messagequeue.QueueMessage"

// The names of the queue's own attributes; their values are texts, times in
// milliseconds since 1970.
const (
	sentTimestamp         = "SentTimestamp"
	firstReceiveTimestamp = "ApproximateFirstReceiveTimestamp"
	receiveCount          = "ApproximateReceiveCount"
)

type wireMetadata struct {
	ID        text `json:"event_id"`
	Type      text `json:"event_type"`
	CreatedAt text `json:"created_at"`
	Tracing   any  `json:"tracing_context"`
	CloudID   text `json:"cloud_id"`
	FolderID  text `json:"folder_id"`
}

type wireQueueMessage struct {
	Metadata wireMetadata `json:"event_metadata"`
	Details  struct {
		Queue   text `json:"queue_id"`
		Message struct {
			ID           text                     `json:"message_id"`
			MD5          text                     `json:"md5_of_body"`
			Body         text                     `json:"body"`
			Attributes   map[string]text          `json:"attributes"`
			UserAttrs    map[string]wireAttribute `json:"message_attributes,omitempty"`
			UserAttrsMD5 text                     `json:"md5_of_message_attributes,omitempty"`
		} `json:"message"`
	} `json:"details"`
}

// wireAttribute has both documented spellings.
type wireAttribute struct {
	Type        text `json:"data_type,omitempty"`
	String      text `json:"string_value,omitempty"`
	Binary      text `json:"binary_value,omitempty"`
	CamelString text `json:"stringValue,omitempty"`
	CamelBinary text `json:"binaryValue,omitempty"`
}

// UnmarshalJSON reads the trigger's event.
func (e *QueueEvent) UnmarshalJSON(data []byte) error {
	raw, err := rawMessages(data)
	if err != nil {
		return fmt.Errorf("decode queue event: %w", err)
	}
	e.Messages = make([]QueueMessage, len(raw))
	for i := range raw {
		var w wireQueueMessage
		// The syntax is known to be right; a field of a wrong type is left out.
		_ = json.Unmarshal(raw[i], &w)
		e.Messages[i] = w.message()
	}
	return nil
}

func rawMessages(data []byte) ([]json.RawMessage, error) {
	var event struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return nil, err
	}
	return event.Messages, nil
}

func (w *wireQueueMessage) message() QueueMessage {
	in := &w.Details.Message
	m := QueueMessage{
		Event: w.Metadata.metadata(),
		Queue: string(w.Details.Queue),
		ID:    string(in.ID),
		Body:  string(in.Body),

		SentAt:          millis(in.Attributes[sentTimestamp]),
		FirstReceivedAt: millis(in.Attributes[firstReceiveTimestamp]),
	}
	if n, err := strconv.Atoi(string(in.Attributes[receiveCount])); err == nil && n > 0 {
		m.Receives = n
	}
	for name, a := range in.UserAttrs {
		if m.Attributes == nil {
			m.Attributes = make(map[string]string, len(in.UserAttrs))
		}
		m.Attributes[name] = string(first(a.String, a.CamelString, a.Binary, a.CamelBinary))
	}
	return m
}

// MarshalJSON writes the event as the trigger does.
func (e QueueEvent) MarshalJSON() ([]byte, error) {
	out := make([]wireQueueMessage, len(e.Messages))
	for i := range e.Messages {
		out[i] = e.Messages[i].wire()
	}
	return json.Marshal(struct {
		Messages []wireQueueMessage `json:"messages"`
	}{out})
}

func (m *QueueMessage) wire() wireQueueMessage {
	w := wireQueueMessage{Metadata: m.Event.wire(queueEventType)}
	w.Details.Queue = text(m.Queue)
	to := &w.Details.Message
	to.ID, to.Body, to.MD5 = text(m.ID), text(m.Body), text(md5Hex([]byte(m.Body)))
	to.Attributes = map[string]text{}
	if !m.SentAt.IsZero() {
		to.Attributes[sentTimestamp] = inMillis(m.SentAt)
	}
	if !m.FirstReceivedAt.IsZero() {
		to.Attributes[firstReceiveTimestamp] = inMillis(m.FirstReceivedAt)
	}
	if m.Receives > 0 {
		to.Attributes[receiveCount] = text(strconv.Itoa(m.Receives))
	}
	for name, value := range m.Attributes {
		if to.UserAttrs == nil {
			to.UserAttrs = map[string]wireAttribute{}
		}
		to.UserAttrs[name] = wireAttribute{Type: "String", String: text(value)}
	}
	to.UserAttrsMD5 = text(attributesMD5(m.Attributes))
	return w
}

func (w wireMetadata) metadata() Metadata {
	at, _ := time.Parse(time.RFC3339Nano, string(w.CreatedAt))
	return Metadata{
		ID: string(w.ID), Type: string(w.Type), CreatedAt: at.UTC(),
		CloudID: string(w.CloudID), FolderID: string(w.FolderID),
	}
}

func (m Metadata) wire(kind string) wireMetadata {
	return wireMetadata{
		ID: text(m.ID), Type: first(text(m.Type), text(kind)),
		CreatedAt: text(m.CreatedAt.UTC().Format(time.RFC3339Nano)),
		CloudID:   text(m.CloudID), FolderID: text(m.FolderID),
	}
}
