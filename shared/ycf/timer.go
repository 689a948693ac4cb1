package ycf

import (
	"encoding/json"
	"fmt"
)

// TimerEvent is the call of a timer trigger.
type TimerEvent struct {
	Messages []TimerMessage
}

// TimerMessage is one message of a TimerEvent; a timer sends one per call.
type TimerMessage struct {
	Event   Metadata
	Trigger string // the trigger's id
	Payload string // what the trigger was given to say
}

const timerEventType = "yandex.cloud.events.serverless.triggers.TimerMessage"

// Payload is the payload of the first message, or "".
func (e *TimerEvent) Payload() string {
	if len(e.Messages) == 0 {
		return ""
	}
	return e.Messages[0].Payload
}

type wireTimerMessage struct {
	Metadata wireMetadata `json:"event_metadata"`
	Details  struct {
		Trigger text `json:"trigger_id"`
		Payload text `json:"payload"`
	} `json:"details"`
}

// UnmarshalJSON reads the trigger's event.
func (e *TimerEvent) UnmarshalJSON(data []byte) error {
	raw, err := rawMessages(data)
	if err != nil {
		return fmt.Errorf("decode timer event: %w", err)
	}
	e.Messages = make([]TimerMessage, len(raw))
	for i := range raw {
		var w wireTimerMessage
		_ = json.Unmarshal(raw[i], &w) // as in QueueEvent
		e.Messages[i] = TimerMessage{
			Event: w.Metadata.metadata(), Trigger: string(w.Details.Trigger), Payload: string(w.Details.Payload),
		}
	}
	return nil
}

// MarshalJSON writes the event as the trigger does.
func (e TimerEvent) MarshalJSON() ([]byte, error) {
	out := make([]wireTimerMessage, len(e.Messages))
	for i, m := range e.Messages {
		out[i].Metadata = m.Event.wire(timerEventType)
		out[i].Details.Trigger, out[i].Details.Payload = text(m.Trigger), text(m.Payload)
	}
	return json.Marshal(struct {
		Messages []wireTimerMessage `json:"messages"`
	}{out})
}
