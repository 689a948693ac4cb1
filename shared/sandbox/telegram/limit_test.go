package telegram_test

import (
	"testing"
	"time"

	"supportbot/shared/sandbox/telegram"
)

// strict leaves the limits as they are with Telegram.
func strict(c *telegram.Config) { c.Burst, c.PerSecond, c.PerMinute = 0, 0, 0 }

func TestLimit_Chat(t *testing.T) {
	t.Parallel()
	b := setup(t, strict)
	c, other := b.started(), b.started()
	text := fields{"chat_id": c.Chat(), "text": "x"}
	for range 3 {
		b.send(c, "x", nil)
	}
	a := b.call("sendMessage", text)
	if a.Code != 429 || a.Parameters.RetryAfter != 1 || a.Description != "Too Many Requests: retry after 1" {
		t.Errorf("got %+v", a)
	}
	b.send(other, "others are not slowed down", nil)
	b.clock.move(time.Second)
	b.send(c, "one a second", nil)
	if a := b.call("sendMessage", text); a.Code != 429 {
		t.Errorf("got %+v", a)
	}
	b.clock.move(time.Hour)
	for range 3 {
		b.send(c, "the burst has come back", nil)
	}
	if a := b.call("sendMessage", text); a.Code != 429 {
		t.Errorf("got %+v, want a burst of three after any time", a)
	}
	if got := len(b.Chat(c.Chat())); got != 7 {
		t.Errorf("got %d messages, want 7", got)
	}
}

func TestLimit_Total(t *testing.T) {
	t.Parallel()
	b := setup(t, strict)
	for range 30 {
		b.send(b.started(), "x", nil)
	}
	c := b.started()
	if a := b.call("sendMessage", fields{"chat_id": c.Chat(), "text": "x"}); a.Code != 429 || a.Parameters.RetryAfter != 1 {
		t.Errorf("got %+v", a)
	}
	b.clock.move(100 * time.Millisecond)
	for range 3 {
		b.send(b.started(), "x", nil)
	}
	if a := b.call("sendMessage", fields{"chat_id": b.started().Chat(), "text": "x"}); a.Code != 429 {
		t.Errorf("got %+v", a)
	}
}

func TestLimit_Group(t *testing.T) {
	t.Parallel()
	b := setup(t, strict)
	group := b.started().Group("team")
	text := fields{"chat_id": group, "text": "x"}
	for range 20 {
		b.result("sendMessage", text, &sent{})
	}
	b.clock.move(20 * time.Second)
	if a := b.call("sendMessage", text); a.Code != 429 || a.Parameters.RetryAfter != 40 {
		t.Errorf("got %+v, want a wait of 40 s", a)
	}
	b.clock.move(40 * time.Second)
	b.result("sendMessage", text, &sent{})
}

func TestLimit_Hammering(t *testing.T) {
	t.Parallel()
	b := setup(t, strict)
	c := b.started()
	b.Limit(c.Chat(), 5*time.Second)
	text := fields{"chat_id": c.Chat(), "text": "x"}
	if a := b.call("sendMessage", text); a.Parameters.RetryAfter != 5 {
		t.Errorf("got %+v", a)
	}
	for range 20 {
		b.call("sendMessage", text)
	}
	if a := b.call("sendMessage", text); a.Parameters.RetryAfter != 60 {
		t.Errorf("got %+v, want a wait of 60 s for a bot that does not stop", a)
	}
	b.clock.move(time.Minute)
	b.send(c, "x", nil)
}

// A bot that waits when it is told to is not punished.
func TestLimit_Patience(t *testing.T) {
	t.Parallel()
	b := setup(t, strict)
	c := b.started()
	text := fields{"chat_id": c.Chat(), "text": "x"}
	for range 3 {
		b.Limit(c.Chat(), 5*time.Second)
		for range 10 {
			if a := b.call("sendMessage", text); a.Parameters.RetryAfter != 5 {
				t.Fatalf("got %+v", a)
			}
		}
		b.clock.move(5 * time.Second)
		b.send(c, "x", nil)
	}
}

func TestLimit_AlbumCountsItsParts(t *testing.T) {
	t.Parallel()
	b := setup(t, strict)
	c := b.started()
	b.decode("sendDocument", b.upload("sendDocument", "document", "x", []byte("x"), map[string]string{"chat_id": id(c)}), &sent{})
	b.clock.move(time.Second)
	part := fields{"type": "document", "media": b.Chat(c.Chat())[0].File.ID}
	b.result("sendMediaGroup", fields{"chat_id": c.Chat(), "media": []fields{part, part, part}}, &[]sent{})
	if a := b.call("sendMessage", fields{"chat_id": c.Chat(), "text": "x"}); a.Code != 429 {
		t.Errorf("got %+v", a)
	}
}

// A call that is refused for what it says costs nothing.
func TestLimit_RefusedIsFree(t *testing.T) {
	t.Parallel()
	b := setup(t, strict)
	c := b.started()
	for range 10 {
		b.call("sendMessage", fields{"chat_id": c.Chat(), "text": ""})
	}
	for range 3 {
		b.send(c, "x", nil)
	}
}
