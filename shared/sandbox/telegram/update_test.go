package telegram_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"supportbot/shared/sandbox/telegram"
)

func TestGetUpdates_Offset(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *telegram.Config) { c.FirstUpdate = 100 })
	c := b.started()
	for i := range 5 {
		c.Write(fmt.Sprint(i))
	}
	for _, tt := range []struct {
		params fields
		want   []string
	}{
		{fields{}, []string{"0", "1", "2", "3", "4"}},
		{fields{"limit": 2}, []string{"0", "1"}},
		{fields{"offset": 102}, []string{"2", "3", "4"}},
		{fields{"offset": 0}, []string{"2", "3", "4"}}, // what is confirmed is gone
		{fields{"offset": -1}, []string{"4"}},
		{fields{}, []string{"4"}},
		{fields{"offset": 105}, nil},
	} {
		if got := texts(b.updates(tt.params)); !slices.Equal(got, tt.want) {
			t.Errorf("%v: got %v, want %v", tt.params, got, tt.want)
		}
	}
}

func TestGetUpdates_LongPoll(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	go c.Write("wakes it")
	if got := texts(b.updates(fields{"timeout": 50})); !slices.Equal(got, []string{"wakes it"}) {
		t.Errorf("got %v", got)
	}
}

func TestGetUpdates_Conflicts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ended := make(chan answer, 1)
	poll := func() { ended <- b.call("getUpdates", fields{"timeout": 50}) }
	go poll()
	// Which of two long polls is the later one is not known: one of them ends.
	go poll()
	if a := <-ended; a.Code != 409 {
		t.Errorf("got %+v, want 409 for the poll that was taken over", a)
	}
	b.Connect("http://127.0.0.1:1/", "")
	if a := <-ended; a.Code != 409 {
		t.Errorf("got %+v, want 409 once a webhook is set", a)
	}
}

func TestGetUpdates_AllowedUpdates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	b.updates(fields{"allowed_updates": []string{"edited_message"}})
	m := c.Write("x")
	if err := c.Edit(m, telegram.Content{Text: "y"}); err != nil {
		t.Fatal(err)
	}
	if got := texts(b.updates(nil)); !slices.Equal(got, []string{"edit y"}) {
		t.Errorf("got %v", got)
	}
}

func TestGetUpdates_Expire(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.started().Write("x")
	b.clock.move(24*time.Hour + time.Second)
	if got := b.updates(nil); len(got) != 0 {
		t.Errorf("got %v", texts(got))
	}
}

func TestDeliver(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *telegram.Config) { c.FirstUpdate = 10 })
	c := b.started()
	c.Write("before")
	if err := b.Deliver(json.RawMessage(`{"update_id":7,"poll":{"id":"1","question":"?","options":[],"total_voter_count":0,"is_closed":false,"is_anonymous":true,"type":"regular","allows_multiple_answers":false,"allows_revoting":false,"members_only":false}}`)); err != nil {
		t.Fatal(err)
	}
	if err := b.Deliver(map[string]any{"message": map[string]any{"message_id": 9, "date": 1, "chat": map[string]any{"id": c.Chat(), "type": "private"}, "dice": map[string]any{"emoji": "🎲", "value": 5}}}); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, u := range b.updates(nil) {
		ids = append(ids, u.ID)
	}
	if want := []int64{10, 7, 11}; !slices.Equal(ids, want) {
		t.Errorf("got ids %v, want %v", ids, want)
	}
	if err := b.Deliver("no object"); err == nil {
		t.Error("text was taken for an update")
	}
}
