package telegram_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fixtures finds updates that others have recorded: in the folder that FIXTURES_DIR
// names, else in ../shared/fixtures beside the module's root. They are not part of
// the project; only on CI they have to be there.
func fixtures(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("FIXTURES_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "fixtures")
	}
	list, err := filepath.Glob(filepath.Join(dir, "telegram", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	const reason = "no recorded updates: set FIXTURES_DIR to the folder that holds telegram/*.json"
	if len(list) == 0 && os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	if len(list) == 0 {
		t.Skip(reason)
	}
	return list
}

// Whatever Telegram has ever sent is accepted, and nothing that a customer wrote
// is lost.
func TestReceive_RecordedUpdates(t *testing.T) {
	t.Parallel()
	for _, file := range fixtures(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			events, reply, err := receive(offline(t), string(body))
			if err != nil || reply.Status != http.StatusOK {
				t.Fatalf("got status %d, %v, want 200", reply.Status, err)
			}
			got, err := json.Marshal(events)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range written(t, body) {
				if !strings.Contains(string(got), want) {
					t.Errorf("%s is missing in %s", want, got)
				}
			}
		})
	}
}

// written gives, as JSON, what a person wrote or sent in a private chat.
func written(t *testing.T, body []byte) []string {
	t.Helper()
	var u struct {
		Message struct {
			Chat struct {
				Type string `json:"type"`
			} `json:"chat"`
			Text    *json.RawMessage `json:"text"`
			Caption *json.RawMessage `json:"caption"`
			Voice   *sentFile        `json:"voice"`
			Audio   *sentFile        `json:"audio"`
			Video   *sentFile        `json:"video"`
			File    *sentFile        `json:"document"`
		} `json:"message"`
	}
	if err := json.Unmarshal(body, &u); err != nil {
		t.Fatal(err)
	}
	if u.Message.Chat.Type != "private" {
		return nil
	}
	var all []string
	for _, words := range []*json.RawMessage{u.Message.Text, u.Message.Caption} {
		if words != nil {
			all = append(all, string(*words))
		}
	}
	for _, f := range []*sentFile{u.Message.Voice, u.Message.Audio, u.Message.Video, u.Message.File} {
		if f != nil {
			all = append(all, `"`+f.ID+`"`)
		}
	}
	return all
}

type sentFile struct {
	ID string `json:"file_id"`
}
