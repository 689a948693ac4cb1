package vk_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"supportbot/shared/sandbox/crowd"
)

func TestCrowd_IsWrittenToLikeOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.Crowd(1000)
	last := all[len(all)-1]
	send := func(id int64, random int) (string, int) { return b.sent(id, random, "News") }
	first, code := send(last.ID, 1)
	if again, _ := send(last.ID, 1); code != 0 || again != first {
		t.Errorf("the same random_id gives %v, error %d, then %v; want the same message", first, code, again)
	}
	if _, code := send(crowd.First+int64(len(all)), 2); code != 901 {
		t.Errorf("a stranger: error %d, want 901", code)
	}
	if list := b.People(); len(list) != 0 {
		t.Errorf("%d people are listed, want none", len(list))
	}
	b.Customer(last).Deny()
	if _, code := send(last.ID, 3); code != 901 {
		t.Errorf("who forbade it: error %d, want 901", code)
	}
	if list := b.People(); len(list) != 1 || list[0].ID != last.ID || list[0].MayWrite {
		t.Errorf("%+v are listed, want who is in hand", list)
	}
}

// Whoever nobody has in hand keeps the newest messages with their numbers, others all.
func TestCrowd_KeepsTheNewestMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.Crowd(2)
	b.Customer(all[1])
	for n := range 10 {
		b.clock.move(2 * time.Minute)
		for _, u := range all {
			if _, code := b.sent(u.ID, n+1, fmt.Sprint("News ", n)); code != 0 {
				t.Fatalf("error %d", code)
			}
		}
	}
	passing, held := b.Chat(all[0].ID), b.Chat(all[1].ID)
	if len(passing) != 3 || passing[2].ID != 10 || passing[2].Text != "News 9" || len(held) != 10 {
		t.Errorf("%+v, and %d of who is in hand, want the last 3, and 10", passing, len(held))
	}
	if _, code := b.sent(all[0].ID, 10, "News 9"); code != 0 || len(b.Chat(all[0].ID)) != 3 {
		t.Errorf("a repetition: error %d, %d messages", code, len(b.Chat(all[0].ID)))
	}
}

// sent sends a text and gives the message's id, or the error's code.
func (b *bundle) sent(id int64, random int, text string) (string, int) {
	b.t.Helper()
	a := b.call("messages.send", fmt.Sprintf("peer_id=%d&random_id=%d&message=%s", id, random, url.QueryEscape(text)))
	return string(a.Response), a.Error.Code
}
