package host_test

import (
	"strings"

	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

// customer is a person in one of the messengers.
type customer struct {
	write func(text string)
	// press presses the button with the label, once there is one.
	press func(label string)
	// sees waits until a message of the bot's contains text.
	sees func(text string)
}

func (w *world) telegramCustomer() customer {
	c := w.telegram.Customer(telegram.User{ID: 1<<40 + 4242, FirstName: "CANARY-Иван", Language: "ru"})
	wait := func(what string, ok func(telegram.Message) bool) (found telegram.Message) {
		w.t.Helper()
		err := w.telegram.Wait(w.patience(), c.Chat(), func(all []telegram.Message) bool {
			for _, m := range all {
				if m.Out && ok(m) {
					found = m
					return true
				}
			}
			return false
		})
		if err != nil {
			w.t.Fatalf("customer in Telegram waits for %s: %v", what, err)
		}
		return found
	}
	return customer{
		write: func(text string) { c.Write(text) },
		press: func(label string) {
			m := wait(label, func(m telegram.Message) bool { return dataOf(m, label) != "" })
			if _, _, err := c.Press(m.ID, dataOf(m, label)); err != nil {
				w.t.Fatal(err)
			}
		},
		sees: func(text string) {
			wait(text, func(m telegram.Message) bool { return strings.Contains(m.Text, text) })
		},
	}
}

func dataOf(m telegram.Message, label string) string {
	for _, row := range m.Keyboard {
		for _, b := range row {
			if b.Text == label {
				return b.Data
			}
		}
	}
	return ""
}

func (w *world) vkCustomer() customer {
	c := w.vk.Customer(vk.User{ID: 1<<40 + 7171, FirstName: "CANARY-Мария", LastName: "CANARY"})
	wait := func(what string, ok func(vk.Message) bool) (found vk.Message) {
		w.t.Helper()
		err := w.vk.Wait(w.patience(), c.Peer(), func(all []vk.Message) bool {
			for _, m := range all {
				if m.Out && ok(m) {
					found = m
					return true
				}
			}
			return false
		})
		if err != nil {
			w.t.Fatalf("customer in VK waits for %s: %v", what, err)
		}
		return found
	}
	return customer{
		write: func(text string) { c.Write(text) },
		press: func(label string) {
			m := wait(label, func(m vk.Message) bool { return hasButton(m, label) })
			if _, _, err := c.Press(m.ID, label); err != nil {
				w.t.Fatal(err)
			}
		},
		sees: func(text string) {
			wait(text, func(m vk.Message) bool { return strings.Contains(m.Text, text) })
		},
	}
}

func hasButton(m vk.Message, label string) bool {
	if m.Keyboard == nil {
		return false
	}
	for _, row := range m.Keyboard.Buttons {
		for _, b := range row {
			if b.Action.Label == label {
				return true
			}
		}
	}
	return false
}
