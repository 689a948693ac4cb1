package spec_test

import (
	"net/url"
	"strings"
	"testing"

	"supportbot/shared/spec"
)

func vk(t *testing.T) *spec.VKSpec {
	t.Helper()
	dir, ok := spec.Dir(t, "vk")
	if !ok {
		t.Skip("no specification")
	}
	s, err := spec.VK(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judged compares err with the words that it should hold; "" means none.
func judged(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("got %v, want no objection", err)
	case want != "" && err == nil:
		t.Errorf("got no objection, want one with %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("got %v, want one with %q", err, want)
	}
}

func TestVK_Request(t *testing.T) {
	t.Parallel()
	s := vk(t)
	for name, tt := range map[string]struct{ method, query, want string }{
		"fine":             {"messages.send", "v=5.199&peer_ids=1,2199023255553&random_id=9007199254740993&message=x", ""},
		"keyboard":         {"messages.send", `v=5.199&peer_id=1&message=x&keyboard={"one_time":false,"buttons":[[{"action":{"type":"callback","label":"a","payload":"{}"}}]]}`, ""},
		"keyboard is none": {"messages.send", `v=5.199&peer_id=1&message=x&keyboard={"buttons":[[{"action":{"type":"shout","label":"a"}}]]}`, "keyboard"},
		"wrong type":       {"messages.send", "v=5.199&peer_id=one&message=x", "peer_id: is not a whole number"},
		"wrong version":    {"messages.send", "v=5.131&peer_id=1&message=x", "want 5.199"},
		"unknown":          {"messages.send", "v=5.199&peer_id=1&mesage=x", "mesage is not a parameter"},
		"missing":          {"messages.edit", "v=5.199&message=x", "peer_id is missing"},
		"not one of":       {"docs.getMessagesUploadServer", "v=5.199&type=picture", "is none of"},
		"too long":         {"messages.send", "v=5.199&peer_id=1&message=" + strings.Repeat("x", 9001), "longer than 9000"},
		"too many":         {"messages.send", "v=5.199&message=x&peer_ids=1" + strings.Repeat(",1", 100), "more than 100"},
		"not a flag":       {"messages.send", "v=5.199&peer_id=1&message=x&disable_mentions=true", "neither 0 nor 1"},
		"below":            {"messages.getHistory", "v=5.199&peer_id=1&count=-1", "is below 0"},
		"no method":        {"messages.shout", "v=5.199", "no method"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			query, err := url.ParseQuery(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			judged(t, s.Request(tt.method, query), tt.want)
		})
	}
}

func TestVK_Answer(t *testing.T) {
	t.Parallel()
	s := vk(t)
	for name, tt := range map[string]struct{ method, body, want string }{
		"number":           {"messages.send", `{"response":5}`, ""},
		"list":             {"messages.send", `{"response":[{"peer_id":1,"message_id":5,"conversation_message_id":2}]}`, ""},
		"list lacks":       {"messages.send", `{"response":[{"peer_id":1,"message_id":5}]}`, "conversation_message_id"},
		"error":            {"messages.send", `{"error":{"error_code":901,"error_msg":"no","request_params":[{"key":"v","value":"5.199"}]}}`, ""},
		"global error":     {"messages.send", `{"error":{"error_code":6,"error_msg":"no"}}`, ""},
		"error of another": {"users.get", `{"error":{"error_code":901,"error_msg":"no"}}`, "never gives code 901"},
		"both":             {"users.get", `{"response":[],"error":{"error_code":6}}`, "either"},
		"unknown method":   {"messages.shout", `{"error":{"error_code":3,"error_msg":"Unknown method passed"}}`, ""},
		"user lacks id":    {"users.get", `{"response":[{"first_name":"A"}]}`, "id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged(t, s.Answer(tt.method, []byte(tt.body)), tt.want)
		})
	}
}

func TestVK_Event(t *testing.T) {
	t.Parallel()
	s := vk(t)
	const head = `{"group_id":1,"event_id":"e","v":"5.199","type":`
	const message = `{"id":1,"date":1,"peer_id":1,"from_id":1,"text":"x","out":0,"version":1,"conversation_message_id":1`
	for name, tt := range map[string]struct{ body, want string }{
		"message":          {head + `"message_new","object":{"client_info":{},"message":` + message + `}}}`, ""},
		"message lacks":    {head + `"message_new","object":{"message":{"id":1}}}`, "text"},
		"edit":             {head + `"message_edit","object":` + message + `}}`, ""},
		"payload object":   {head + `"message_event","object":{"user_id":1,"peer_id":1,"event_id":"x","payload":{"a":1}}}`, ""},
		"no event id":      {`{"group_id":1,"v":"5.199","type":"message_deny","object":{"user_id":1}}`, "event_id"},
		"unknown type":     {head + `"message_shouted","object":{}}`, "must be one of"},
		"wrong attachment": {head + `"message_new","object":{"message":` + message + `,"attachments":[{"type":"shoe"}]}}}`, "attachments"},
		"confirmation":     {head + `"confirmation"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged(t, s.Event([]byte(tt.body)), tt.want)
		})
	}
}
