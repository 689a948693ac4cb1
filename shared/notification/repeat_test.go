package notification_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
)

// TestIdempotency: a request is its key: repeated it is answered again, whatever has
// changed since; another request with the key is refused.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	who := d.person("", messenger.Telegram)
	content := map[string]any{"texts": map[string]any{"ru": "да"}, "customer": who}
	soon := spec(set("start_at", d.now().Add(30*time.Second)))
	var b, again, other broadcast.Broadcast
	d.call("POST", "/v1/broadcasts", soon, "Idempotency-Key", "one").into(&b)
	d.call("POST", "/v1/broadcasts", string(encode(t, soon))+"\n ", "Idempotency-Key", "one").into(&again)
	if again.ID != b.ID {
		t.Errorf("the same request made %d and %d", b.ID, again.ID)
	}
	d.later(time.Hour) // its start lies in the past now
	d.call("POST", "/v1/broadcasts", soon, "Idempotency-Key", "one").into(&again)
	if again.ID != b.ID {
		t.Errorf("the same request, later, made %d and %d", b.ID, again.ID)
	}
	for name, got := range map[string]reply{
		"another body":      d.call("POST", "/v1/broadcasts", spec(), "Idempotency-Key", "one"),
		"another path":      d.call("POST", "/v1/messages", content, "Idempotency-Key", "one"),
		"another broadcast": d.call("POST", path(b.ID, "/test"), map[string]any{"customer": who}, "Idempotency-Key", "one"),
	} {
		if got.status != 422 || got.problem().Detail != "this Idempotency-Key was used for another request" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	// Another caller's key is another key.
	token := d.session(d.person(`roles = '{admin}'`), "admin")
	d.call("POST", "/v1/broadcasts", spec(), "Idempotency-Key", "one", "X-API-Key", "", "X-Session", token).into(&other)
	if other.ID == b.ID {
		t.Error("two callers share a key")
	}
	// What happened to the customer changes no answer.
	d.call("POST", "/v1/messages", content, "Idempotency-Key", "two").into(&b)
	d.forget(who)
	d.call("POST", "/v1/messages", content, "Idempotency-Key", "two").into(&again)
	if again.ID != b.ID {
		t.Errorf("the same message made %d and %d", b.ID, again.ID)
	}
	if got := d.call("POST", "/v1/messages", content, "Idempotency-Key", "three"); got.status != 422 {
		t.Errorf("a message to an erased person: %d %s", got.status, got.body)
	}
}

// TestIdempotency_AtOnce: ten at once are one, and one job plans it.
func TestIdempotency_AtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var all sync.WaitGroup
	ids := make([]int64, 10)
	for i := range ids {
		all.Add(1)
		go func() {
			defer all.Done()
			var b broadcast.Broadcast
			if err := json.Unmarshal(d.call("POST", "/v1/broadcasts", spec(), "Idempotency-Key", "one").body, &b); err != nil {
				t.Error(err)
			}
			ids[i] = b.ID
		}()
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] || id == 0 {
			t.Errorf("ids %v", ids)
		}
	}
	if n, jobs := d.number(`SELECT count(*) FROM broadcasts`), d.number(`SELECT count(*) FROM jobs`); n != 1 || jobs != 1 {
		t.Errorf("%d broadcasts, %d jobs, want one of each", n, jobs)
	}
}
