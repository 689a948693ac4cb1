package host_test

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"

	"supportbot/shared/broadcast"
)

// announce has a program send a text to everybody: a forged call is refused, a
// repeated one is the same.
func (d *desk) announce(text string) {
	d.t.Helper()
	d.customer.write("/start")
	d.customer.sees("Здравствуйте")
	const key = "CANARY-api-key"
	hash := sha256.Sum256([]byte(key))
	if _, err := d.db.Exec(d.ctx, `INSERT INTO api_keys (name, role, hash) VALUES ('host', 'admin', $1)`, hash[:]); err != nil {
		d.t.Fatal(err)
	}
	address := serve(d.t, d.function("notification-api")) + "/v1/broadcasts"
	body, err := json.Marshal(map[string]any{"kind": "news", "texts": map[string]string{"ru": text}, "audience": map[string]any{}})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, tc := range []struct {
		key  string
		want int
	}{{"forged", http.StatusUnauthorized}, {key, http.StatusAccepted}, {key, http.StatusAccepted}} {
		r, err := http.NewRequestWithContext(d.ctx, http.MethodPost, address, strings.NewReader(string(body)))
		if err != nil {
			d.t.Fatal(err)
		}
		r.Header = http.Header{"X-Api-Key": {tc.key}, "Idempotency-Key": {"one"}, "Content-Type": {"application/json"}}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			d.t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != tc.want {
			d.t.Fatalf("call with key %q: got %d, want %d", tc.key, res.StatusCode, tc.want)
		}
	}
}

// planned: the call has become a row and its hint.
func (d *desk) planned() {
	d.t.Helper()
	d.announce("CANARY-новость")
	d.hintOf(d.theJob(broadcast.KindPlan))
}

// broadcast: the row becomes a batch, and that a message to the customer.
func (d *desk) broadcast() {
	d.t.Helper()
	const text = "CANARY-новость"
	d.announce(text)
	handled := d.feed(d.function("notification-worker"), broadcast.Queue)
	d.customer.sees(text)
	d.completes(handled, broadcast.KindPlan)
	d.completes(handled, broadcast.KindBatch)
	d.called(d.calls, d.send)
}
