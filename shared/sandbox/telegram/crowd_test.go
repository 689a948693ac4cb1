package telegram_test

import (
	"fmt"
	"testing"

	"supportbot/shared/sandbox/crowd"
)

func TestCrowd_IsWrittenToLikeOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.Crowd(1000)
	last := all[len(all)-1]
	send := func(id int64) answer { return b.call("sendMessage", fields{"chat_id": id, "text": "News"}) }
	if a := send(last.ID); !a.OK || b.Chat(last.ID)[0].Text != "News" {
		t.Errorf("got %+v, and %+v in the chat", a, b.Chat(last.ID))
	}
	if a := send(crowd.First + int64(len(all))); a.Description != "Bad Request: chat not found" {
		t.Errorf("a stranger: got %+v", a)
	}
	if list := b.People(); len(list) != 0 {
		t.Errorf("%d people are listed, want none", len(list))
	}
	c := b.Customer(last)
	c.Block()
	if a := send(last.ID); a.Description != "Forbidden: bot was blocked by the user" {
		t.Errorf("who blocked the bot: got %+v", a)
	}
	if list := b.People(); len(list) != 1 || list[0].ID != last.ID || !list[0].Blocked {
		t.Errorf("%+v are listed, want who is in hand", list)
	}
}

// Whoever nobody has in hand keeps the newest messages, others all.
func TestCrowd_KeepsTheNewestMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.Crowd(2)
	b.Customer(all[1])
	for n := range 10 {
		for _, u := range all {
			b.result("sendMessage", fields{"chat_id": u.ID, "text": fmt.Sprint("News ", n)}, &struct{}{})
		}
	}
	passing, held := b.Chat(all[0].ID), b.Chat(all[1].ID)
	if len(passing) != 3 || passing[2].Text != "News 9" || len(held) != 10 {
		t.Errorf("%d messages, and %d of who is in hand, want the last 3, and 10", len(passing), len(held))
	}
}
