package platform_test

import (
	"fmt"
	"slices"
	"testing"

	"supportbot/shared/messenger"
	sandboxtracker "supportbot/shared/sandbox/tracker"
)

// TestTenConnections: ten connections bring the same update to two processes.
func TestTenConnections(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		form(c, "Принтер")
		w.quiet()
		press := w.caught(1, "", func() { c.press("Отправить") })
		w.delivered(slices.Repeat(press, 10)...)
		c.sees("создано")
		w.quiet()
		w.check("tickets", len(w.tracker.Tickets()), 1)
		w.check("the confirmation", saw(c, "принято"), 1)
		w.check("the number", saw(c, "создано"), 1)

		message := w.caught(1, "", func() { c.photo("CANARY-дополнение") })
		w.delivered(slices.Repeat(message, 10)...)
		w.commented("дополнение")
		w.quiet()
		k := w.ticketOf("Принтер")
		w.check("the comment", len(comments(k, "дополнение")), 1)
		w.check("files of the ticket", len(k.Files), 2)
	}, processes(2))
}

// TestDoubleTap: a double tap on Confirm is two updates.
func TestDoubleTap(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		form(c, "Принтер")
		w.quiet()
		w.delivered(w.caught(2, "", func() { c.press("Отправить"); c.press("Отправить") })...)
		c.sees("создано")
		w.quiet()
		w.check("tickets", len(w.tracker.Tickets()), 1)
		w.check("the number", saw(c, "создано"), 1)
		w.check("told that it was sent already", saw(c, "уже отправлено"), 1)
	}, processes(2))
}

// TestConfirmAndCancel: at once or one right after the other, one of the two
// happens, and the customer is told which.
func TestConfirmAndCancel(t *testing.T) {
	t.Parallel()
	ways := map[string]func(w *world, calls []call){
		"at once":        func(w *world, calls []call) { w.delivered(calls...) },
		"confirm first":  func(w *world, calls []call) { w.delivered(calls[0]); w.delivered(calls[1]) },
		"cancel first":   func(w *world, calls []call) { w.delivered(calls[1]); w.delivered(calls[0]) },
		"at once, twice": func(w *world, calls []call) { w.delivered(append(calls, calls...)...) },
	}
	for _, name := range []messenger.Name{messenger.Telegram, messenger.VK} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.start()
			n := int64(0)
			for way, deliver := range ways {
				n++
				var c customer = w.telegramCustomer(telegramID + n)
				if name == messenger.VK {
					c = w.vkCustomer(vkID + n)
				}
				subject := "Принтер " + way
				form(c, subject)
				w.quiet()
				presses := w.caught(1, "", func() { c.press("Отправить") })
				cancels := w.caught(1, "", func() { c.write("/cancel") })
				deliver(w, append(presses, cancels...))
				w.quiet()
				w.oneOfBoth(c, subject)
			}
		})
	}
}

func (w *world) oneOfBoth(c customer, subject string) {
	w.t.Helper()
	opened := slices.ContainsFunc(w.tracker.Tickets(), func(k sandboxtracker.Ticket) bool { return k.Summary == subject })
	want := map[string]int{"принято": 1, "отменить его нельзя": 1, "Обращение отменено": 0, "было отменено": 0, "создано": 1}
	if !opened {
		want = map[string]int{"принято": 0, "отменить его нельзя": 0, "Обращение отменено": 1, "было отменено": 1, "создано": 0}
	}
	for text, n := range want {
		w.check(fmt.Sprintf("%s (opened: %v): %q", subject, opened, text), saw(c, text), n)
	}
}
