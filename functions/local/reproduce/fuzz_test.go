package reproduce_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supportbot/functions/local/reproduce"
	"supportbot/shared/news"
)

// FuzzRecognize: any file is an event of one function or is refused, and what was
// localized has the local secret in the place of the recorded one.
func FuzzRecognize(f *testing.F) {
	for _, pattern := range []string{events + "*.json", "testdata/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no events in %s: %v", pattern, err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw, "")
			f.Add(raw, "vk-webhook")
		}
	}
	for _, text := range []string{`null`, `[]`, `{"httpMethod":"POST","path":"/tracker","headers":null}`, `{"httpMethod":"","url":"%zz"}`, `{"id":null}`,
		`{"httpMethod":"POST","path":"/vk","body":"null"}`,
		`{"messages":[{"details":{"queue_id":":"}}]}`, `{"httpMethod":"POST","path":"/vk","body":"e30=","isBase64Encoded":true}`} {
		f.Add([]byte(text), "")
	}
	local := reproduce.Secrets{Telegram: "local-telegram", VK: "local-vk", Tracker: "local-tracker", VKGroup: "209"}
	f.Fuzz(func(t *testing.T, raw []byte, function string) {
		e, err := reproduce.Recognize(raw, function)
		if err != nil {
			return
		}
		if e.Function == "" || e.What == "" || !json.Valid(e.Raw) {
			t.Fatalf("recognized %+v", e)
		}
		if err := e.Localize(local); err != nil {
			return
		}
		switch e.Function {
		case "telegram-webhook":
			checkHeader(t, e.Raw, "X-Telegram-Bot-Api-Secret-Token", local.Telegram)
		case "tracker-handler":
			checkHeader(t, e.Raw, news.SecretHeader, local.Tracker)
		}
	})
}

// checkHeader: the header is there once, in each map of the event.
func checkHeader(t *testing.T, raw []byte, name, want string) {
	t.Helper()
	var event struct {
		Headers map[string]any `json:"headers"`
		Many    map[string]any `json:"multiValueHeaders"`
	}
	if err := json.Unmarshal(raw, &event); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	for _, headers := range []map[string]any{event.Headers, event.Many} {
		for known, value := range headers {
			if strings.EqualFold(known, name) && known != name {
				t.Errorf("%s is left: %v", known, value)
			}
		}
	}
	if got := event.Headers[name]; got != want {
		t.Errorf("%s is %v, want %q", name, got, want)
	}
}
