package host_test

import (
	"testing"

	"supportbot/shared/sandbox/fault"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

// messengers are the two ways in: the function, what connects it, and a customer
// whose messages come to it.
var messengers = map[string]struct {
	webhook string
	connect func(w *world, address string)
	person  func(w *world) customer
	calls   func(w *world) *fault.Log
	send    string // the method of the fake that a message is sent by
}{
	"telegram": {"telegram-webhook", func(w *world, address string) { w.telegram.Connect(address, secret) },
		(*world).telegramCustomer, func(w *world) *fault.Log { return &w.calls.telegram }, "sendMessage"},
	"vk": {"vk-webhook", func(w *world, address string) { w.vk.Connect(address) },
		(*world).vkCustomer, func(w *world) *fault.Log { return &w.calls.vk }, "messages.send"},
}

// desk is a world with a customer who needs help. Each of its steps takes the ones
// before it and shows what its function is for.
type desk struct {
	*world
	customer  customer
	calls     *fault.Log // of the customer's messenger
	send      string
	delivered <-chan struct{} // of feed
}

func newDesk(t *testing.T, messenger string) *desk {
	t.Helper()
	m, w := messengers[messenger], newWorld(t)
	m.connect(w, serve(t, w.function(m.webhook)))
	return &desk{
		world: w, customer: m.person(w), calls: m.calls(w), send: m.send,
		// Answers that may not be sent at once go by way of this worker too.
		delivered: w.feed(w.function("tracker-worker"), ticket.QueueDeliveries),
	}
}

// fill goes through the form, from the first message up to its confirmation.
func (c customer) fill(subject string) {
	c.write("/start")
	c.sees("Здравствуйте")
	c.press("Новое обращение")
	c.press("Что-то не работает")
	c.sees("Коротко")
	c.write(subject)
	c.sees("Опишите")
	c.write("CANARY-описание")
	c.sees("Проверьте обращение")
}

// confirm: the customer's updates become a row, its hint, and answers.
func (d *desk) confirm() {
	d.t.Helper()
	d.customer.fill("CANARY-тема")
	d.called(d.calls, d.send)
	d.customer.press("Отправить")
	d.customer.sees("принято")
	d.hintOf(d.theJob(ticket.KindCreate))
}

// open: the row becomes a ticket of the customer's, whose key is given.
func (d *desk) open() string {
	d.t.Helper()
	d.customer.fill("CANARY-тема")
	d.customer.press("Отправить")
	d.customer.sees("принято")
	d.completes(d.feed(d.function("ticket-worker"), ticket.QueueTickets), ticket.KindCreate)
	d.called(&d.world.calls.tracker, "POST /v3/issues")
	tickets := d.tracker.Tickets()
	if len(tickets) != 1 || tickets[0].Summary != "CANARY-тема" {
		d.t.Fatalf("tickets: got %+v, want one of the customer's", tickets)
	}
	return tickets[0].Key
}

// reply is the whole way: the agent's comment on the ticket becomes a trigger's
// call, that a row, and the row the customer's answer.
func (d *desk) reply() {
	d.t.Helper()
	key := d.open()
	d.trigger(serve(d.t, d.function("tracker-handler")))
	if _, err := d.tracker.As("agent").Do(key, sandboxtracker.Edit{
		Comments: []sandboxtracker.NewComment{{Text: "/reply Проверьте **кабель**"}},
	}); err != nil {
		d.t.Fatal(err)
	}
	d.customer.sees("кабель")
	d.completes(d.delivered, ticket.KindAnswer)
}
