package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestFaults_AddedAndCleared(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must("POST", "faults/telegram", map[string]any{"method": "send*", "kind": "delay", "times": 2, "wait": 1.5})
	b.must("POST", "faults/vk", map[string]any{"method": "messages.send", "kind": "hang_after"})
	b.must("POST", "faults/telegram/release", map[string]any{})
	b.must("POST", "faults/tracker/release", map[string]any{})
	want := `{"id":"telegram 1","server":"telegram","method":"send*","kind":"delay","times":2,"wait":1.5}` +
		`{"id":"vk 1","server":"vk","method":"messages.send","kind":"hang_after","times":0}`
	if got := b.faults(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	b.must("DELETE", "faults/telegram", nil)
	if got := b.faults(); strings.Contains(got, "telegram") || !strings.Contains(got, "vk") {
		t.Errorf("got %s, want VK's alone", got)
	}
}

func (b *bundle) faults() string {
	b.t.Helper()
	var v struct{ Put []json.RawMessage }
	b.must("GET", "faults", nil).into(b.t, &v)
	var all strings.Builder
	for _, f := range v.Put {
		all.Write(f)
	}
	return all.String()
}

func TestFaults_Refused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, body := range map[string]map[string]any{
		"no method":     {"kind": "drop"},
		"a bad pattern": {"method": "[", "kind": "drop"},
		"no kind":       {"method": "*"},
		"unknown kind":  {"method": "*", "kind": "explode"},
		"below zero":    {"method": "*", "kind": "drop", "times": -1},
		"no status":     {"method": "*", "kind": "status"},
		"a good status": {"method": "*", "kind": "status", "status": 200},
		"a long wait":   {"method": "*", "kind": "delay", "wait": 4000},
	} {
		if got := b.do("POST", "faults/vk", body).status; got != http.StatusBadRequest {
			t.Errorf("%s: got %d, want 400", name, got)
		}
	}
	if got := b.do("POST", "faults/max", map[string]any{"method": "*", "kind": "drop"}).status; got != http.StatusNotFound {
		t.Errorf("unknown server: got %d, want 404", got)
	}
	if got := b.faults(); got != "" {
		t.Errorf("got %s, want none", got)
	}
}

func TestCalls_NewestAndCut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.people("telegram")[0]
	for n := range 205 {
		b.telegram("getChat", map[string]any{"chat_id": id, "extra": fmt.Sprint(n)})
	}
	b.telegram("getChat", map[string]any{"chat_id": id, "extra": strings.Repeat("я", 5000)})
	var v struct {
		Head struct{ Count int }
		Put  []struct {
			N              int
			Method, Params string
			Status         int
		}
	}
	b.must("GET", "calls/telegram", nil).into(t, &v)
	last := v.Put[len(v.Put)-1]
	if v.Head.Count != 206 || len(v.Put) != 200 || v.Put[0].N != 7 || last.Method != "getChat" || last.Status != http.StatusOK {
		t.Errorf("got %d of %d, from %d; the last is %s %d", len(v.Put), v.Head.Count, v.Put[0].N, last.Method, last.Status)
	}
	if len(last.Params) > 4010 || !strings.HasSuffix(last.Params, "я…") {
		t.Errorf("got parameters of %d bytes, want them cut between characters", len(last.Params))
	}
}
