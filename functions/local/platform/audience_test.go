package platform_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
)

var linkCode = regexp.MustCompile(`/link (\S+)`)

// TestBroadcast_Linked: who has linked their accounts gets one copy, where they wrote
// last. Either messenger may show the code.
func TestBroadcast_Linked(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, shows customer) {
		w.key()
		var takes customer = w.vkCustomer(vkID + 50)
		if shows.address().Messenger == messenger.VK {
			takes = w.telegramCustomer(telegramID + 50)
		}
		for _, c := range []customer{shows, takes} {
			c.write("/start")
			c.sees("бот поддержки")
		}
		shows.write("/link")
		code := linkCode.FindStringSubmatch(shows.sees("Код действует").text)
		takes.write("/link wrong")
		takes.sees("Такого кода нет")
		takes.write("/link " + code[1])
		takes.sees("ваши аккаунты связаны")
		w.quiet()

		got := func(text string, where, elsewhere customer) {
			t.Helper()
			done := w.became(w.sent(text, news(text)).ID, broadcast.Finished)
			if want := (broadcast.Counts{Total: 1, Sent: 1}); done.Counts != want {
				t.Errorf("%s: counts %+v, want %+v", text, done.Counts, want)
			}
			w.check(text+" where they wrote last", saw(where, text), 1)
			w.check(text+" elsewhere", saw(elsewhere, text), 0)
		}
		got("Первая новость", takes, shows)
		shows.write("/help")
		w.quiet()
		got("Вторая новость", shows, takes)
	})
}

// TestBroadcast_Tagged: whoever came by a link with a tag can be asked for.
func TestBroadcast_Tagged(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		w.key()
		others := w.registered(c, 2)
		c.start("tag-beta")
		c.sees("Подписка оформлена")
		body := news("Для участников")
		body["audience"] = map[string]any{"tags": []string{"beta"}}
		if done := w.became(w.sent("tagged", body).ID, broadcast.Finished); done.Counts.Sent != 1 || done.Counts.Total != 1 {
			t.Errorf("counts %+v, want 1 sent", done.Counts)
		}
		w.check("the message to who came by the link", saw(c, "Для участников"), 1)
		w.check("the message to another", saw(others[0], "Для участников"), 0)
	})
}

// TestBroadcast_Scheduled: it starts within a minute of its time, and not before.
func TestBroadcast_Scheduled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key()
	all := w.registered(w.telegramCustomer(telegramID), 2)
	at := time.Now().Add(10 * time.Second).Truncate(time.Second)
	body := news("По расписанию")
	body["start_at"] = at.UTC().Format(time.RFC3339)
	b := w.sent("scheduled", body)
	if b.State != broadcast.Scheduled && time.Now().Before(at) {
		t.Errorf("created as %s, want scheduled", b.State)
	}
	done := w.became(b.ID, broadcast.Finished)
	if late := done.StartedAt.Sub(at); late < 0 || late > time.Minute {
		t.Errorf("it started %s after its time, want less than a minute", late)
	}
	for i, c := range all {
		w.check(fmt.Sprintf("the message at customer %d", i), saw(c, "По расписанию"), 1)
	}
}
