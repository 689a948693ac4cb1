package vk_test

import (
	"testing"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
)

// many makes three customers, of whom the second takes no messages.
func many(h *harness) (all []*customer, chats []string) {
	for range 3 {
		c := h.customer()
		all, chats = append(all, c), append(chats, c.Chat())
	}
	all[1].Block()
	return all, chats
}

func TestSendMany(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	all, chats := many(h)
	o := messenger.Outgoing{Part: messenger.Part{Text: "hello"}, Key: "slot:1"}
	// The answer of the first call is lost: repeated, nobody has it twice.
	h.faults.Add(fault.Fault{Method: "messages.send", Kind: fault.HTMLAfter, Times: 1})
	_, err := h.bot.SendMany(h.ctx, chats, o)
	kindAndCode(t, err, messenger.Uncertain, 0)
	got, err := h.bot.SendMany(h.ctx, chats, o)
	if err != nil || len(got) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	kindAndCode(t, got[1].Err, messenger.Blocked, 901)
	for _, i := range []int{0, 2} {
		seen := all[i].Seen()
		if got[i].Err != nil || len(seen) != 1 || seen[0].ID != got[i].Receipt.MessageID {
			t.Errorf("customer %d has %+v, told %+v", i, seen, got[i])
		}
	}
	calls := called(h, "messages.send")
	if len(calls) != 2 || calls[0]["random_id"] != calls[1]["random_id"] {
		t.Errorf("calls %v", calls)
	}
	if n := len(all[1].Seen()); n != 0 {
		t.Errorf("the blocked one has %d messages", n)
	}
}

func TestSendMany_Refused(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	_, chats := many(h)
	o := messenger.Outgoing{Part: messenger.Part{Text: "hello"}, Key: "slot:1"}
	_, err := h.bot.SendMany(h.ctx, nil, o)
	kindAndCode(t, err, messenger.Invalid, 0)
	_, err = h.bot.SendMany(h.ctx, make([]string, 101), o)
	kindAndCode(t, err, messenger.Invalid, 0)
	_, err = h.bot.SendMany(h.ctx, chats, messenger.Outgoing{Key: "slot:2"})
	kindAndCode(t, err, messenger.Invalid, 0)
}
