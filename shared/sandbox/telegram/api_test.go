package telegram_test

import (
	"net/http"
	"testing"
)

func TestAPI_Smoke(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	h := b.connected()
	c.Write("привет")
	if got := b.take(h); got.text() != "привет" || got.secret != "s3cret" {
		t.Errorf("got %q with secret %q", got.text(), got.secret)
	}
	m := b.send(c, "<b>да</b>", fields{"parse_mode": "HTML"})
	if m.Text != "да" || len(m.Entities) != 1 || m.Entities[0].Type != "bold" {
		t.Errorf("got %+v", m)
	}
	if a := b.call("sendMessage", fields{"chat_id": c.Chat(), "text": " "}); a.Status != http.StatusBadRequest {
		t.Errorf("got %+v", a)
	}
}
