package ycf_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/ycf"
)

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "events", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func decode[T any](tb testing.TB, data []byte) T {
	tb.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		tb.Fatalf("decode %s: %v", data, err)
	}
	return v
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

func metadata(id, created string) ycf.Metadata {
	return ycf.Metadata{
		ID: id, Type: "yandex.cloud.events.messagequeue.QueueMessage", CreatedAt: at(created),
		CloudID: "b1g00000000000000cld", FolderID: "b1g00000000000000fld",
	}
}

func TestQueueEvent_BothSpellings(t *testing.T) {
	t.Parallel()
	tickets, deliveries := "yrn:yc:ymq:ru-central1:b1g00000000000000fld:tickets", "yrn:yc:ymq:ru-central1:b1g00000000000000fld:deliveries"
	old := metadata("cce76685-5828-4304-a83d-95643c0507a0", "2019-09-24T00:54:28.980441Z")
	old.CloudID, old.FolderID = "", ""
	tests := map[string][]ycf.QueueMessage{
		"queue.json": {{
			Event: metadata("5a3f8c01-1d2e4b6a-7c9805d1-2f4e6a8c", "2026-02-25T19:09:30.395Z"),
			Queue: tickets, ID: "5a3f8c01-1d2e4b6a-7c9805d1-2f4e6a8c", Body: "", Receives: 1,
			SentAt: at("2026-02-25T19:09:30.395Z"), FirstReceivedAt: at("2026-02-25T19:09:30.561Z"),
			Attributes: map[string]string{"botId": "test-operation-id"},
		}, {
			Event: metadata("5a3f8c01-1d2e4b6a-7c9805d1-2f4e6a8d", "2026-02-25T19:09:31.002Z"),
			Queue: tickets, ID: "5a3f8c01-1d2e4b6a-7c9805d1-2f4e6a8d",
			Body: `{"job":12,"correlation_id":"telegram:77:1001"}`, Receives: 3,
			SentAt: at("2026-02-25T19:09:31.002Z"), FirstReceivedAt: at("2026-02-25T19:09:30.561Z"),
		}},
		"queue-camel.json": {{
			Event: old, Queue: deliveries, ID: "cce76685-5828-4304-a83d-95643c0507a0", Body: `{"job":7}`,
			SentAt: at("2019-09-24T00:43:24.456Z"), Attributes: map[string]string{"kind": "hint", "raw": "AAEC"},
		}},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decode[ycf.QueueEvent](t, fixture(t, name))
			if diff := cmp.Diff(want, got.Messages); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

// The trigger's own digests of body and attributes are in the fixture, so this
// also checks how they are computed.
func TestQueueEvent_WrittenAsTheTriggerDoes(t *testing.T) {
	t.Parallel()
	want := fixture(t, "queue.json")
	got, err := json.Marshal(decode[*ycf.QueueEvent](t, want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decode[any](t, want), decode[any](t, got)); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestQueueEvent_OddMessages(t *testing.T) {
	t.Parallel()
	message := func(details string) string {
		return `{"messages":[{"details":{"message":` + details + `}}]}`
	}
	tests := map[string]struct {
		event string
		want  []ycf.QueueMessage
	}{
		"no messages":                {`{}`, []ycf.QueueMessage{}},
		"null messages":              {`{"messages":null}`, []ycf.QueueMessage{}},
		"unknown fields":             {message(`{"body":"x","new":{"a":1}}`), []ycf.QueueMessage{{Body: "x"}}},
		"numbers for texts":          {message(`{"body":"x","attributes":{"ApproximateReceiveCount":4}}`), []ycf.QueueMessage{{Body: "x", Receives: 4}}},
		"negative count":             {message(`{"body":"x","attributes":{"ApproximateReceiveCount":"-4"}}`), []ycf.QueueMessage{{Body: "x"}}},
		"list for attributes":        {message(`{"attributes":[1],"body":"x"}`), []ycf.QueueMessage{{Body: "x"}}},
		"text for an attribute":      {message(`{"message_attributes":{"a":"b"},"body":"x"}`), []ycf.QueueMessage{{Body: "x", Attributes: map[string]string{"a": ""}}}},
		"object for the body":        {message(`{"body":{"job":1},"message_id":"m"}`), []ycf.QueueMessage{{ID: "m"}}},
		"neighbour of another shape": {`{"messages":[7,{"details":{"message":{"body":"x"}}}]}`, []ycf.QueueMessage{{}, {Body: "x"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decode[ycf.QueueEvent](t, []byte(tc.event))
			if diff := cmp.Diff(tc.want, got.Messages); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQueueEvent_NotAnEvent(t *testing.T) {
	t.Parallel()
	for _, event := range []string{`[]`, `"x"`, `{"messages":{}}`, `{"messages":"x"}`} {
		var got ycf.QueueEvent
		if err := json.Unmarshal([]byte(event), &got); err == nil {
			t.Errorf("decode %s: got %+v, want an error", event, got)
		}
	}
}

func TestTimerEvent(t *testing.T) {
	t.Parallel()
	want := fixture(t, "timer.json")
	ev := decode[ycf.TimerEvent](t, want)
	if got, want := ev.Payload(), "payload-message"; got != want {
		t.Errorf("payload: got %q, want %q", got, want)
	}
	if got, want := ev.Messages[0].Trigger, "a1s00000000000000trg"; got != want {
		t.Errorf("trigger: got %q, want %q", got, want)
	}
	if got, want := ev.Messages[0].Event.CreatedAt, at("2026-12-04T12:05:14.227761Z"); !got.Equal(want) {
		t.Errorf("created at: got %s, want %s", got, want)
	}
	written, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decode[any](t, want), decode[any](t, written)); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if got := (&ycf.TimerEvent{}).Payload(); got != "" {
		t.Errorf("payload of an event without messages: got %q", got)
	}
}
