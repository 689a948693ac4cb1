package host_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	host "supportbot/.ci/host"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/sandbox/fault"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

// messengers are the two ways in: the function, its path, and a customer whose
// messages come to it.
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

// The whole way through loaded plugins: a customer's update becomes a row and an
// answer, the row a ticket, the agent's comment a row, and that the customer's
// answer.
func TestFunctions_MainJob(t *testing.T) {
	t.Parallel()
	for name, m := range messengers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			webhook, worker := w.function(m.webhook), w.function("ticket-worker")
			w.trigger(serve(t, w.function("tracker-handler")))
			w.deliver(w.function("tracker-worker"))
			m.connect(w, serve(t, webhook))
			c := m.person(w)

			c.fill("CANARY-тема")
			w.called(m.calls(w), m.send)
			c.press("Отправить")
			c.sees("принято")
			create := w.theJob(ticket.KindCreate)
			hint := w.hintOf(create)

			w.work(worker, create.Queue, hint)
			tickets := w.tracker.Tickets()
			if len(tickets) != 1 || tickets[0].Summary != "CANARY-тема" {
				t.Fatalf("tickets: got %+v, want one of the customer's", tickets)
			}
			if got := w.theJob(ticket.KindCreate).State; got != "completed" {
				t.Errorf("job is %s, want completed", got)
			}

			if _, err := w.tracker.As("agent").Do(tickets[0].Key, sandboxtracker.Edit{
				Comments: []sandboxtracker.NewComment{{Text: "/reply Проверьте **кабель**"}},
			}); err != nil {
				t.Fatal(err)
			}
			c.sees("кабель")
		})
	}
}

// called waits until a method of a fake's was called and has done something.
func (w *world) called(calls *fault.Log, method string) {
	w.t.Helper()
	if err := calls.Wait(w.patience(), func(all []fault.Call) bool {
		return slices.ContainsFunc(all, func(c fault.Call) bool { return c.Method == method && c.Effect })
	}); err != nil {
		w.t.Fatalf("%s was not called: %v", method, err)
	}
}

// A job whose hint could not be sent is published by the timer's call.
func TestFunctions_Reconciler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	healthy := w.function("telegram-webhook")
	cut := w.function("telegram-webhook", map[string]string{"QUEUE_ENDPOINT": closed.URL})
	reconciler := w.function("reconciler")
	w.deliver(w.function("tracker-worker"))
	var isCut atomic.Bool
	served := make(chan struct{}, 1)
	w.telegram.Connect(serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !isCut.Load() {
			healthy.ServeHTTP(rw, r)
			return
		}
		cut.ServeHTTP(rw, r)
		served <- struct{}{}
	})), secret)
	c := w.telegramCustomer()
	c.fill("subject")
	isCut.Store(true)
	c.press("Отправить")
	select {
	case <-served:
	case <-w.patience().Done():
		t.Fatal("the press was not delivered")
	}
	create := w.theJob(ticket.KindCreate)
	if create.Published {
		t.Fatalf("job %+v is published, with no queue to publish to", create)
	}

	event, err := host.TimerEvent()
	if err != nil {
		t.Fatal(err)
	}
	if err := reconciler.Trigger(event); err != nil {
		t.Fatal(err)
	}
	w.hintOf(create)
	if got := w.theJob(ticket.KindCreate); !got.Published || got.State != "queued" {
		t.Errorf("job %+v, want it published and queued", got)
	}
}

// A trigger's call is a row and a hint; a forged one is nothing.
func TestFunctions_TrackerHandler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := serve(t, w.function("tracker-handler"))
	post := func(key string) int {
		r, err := http.NewRequest(http.MethodPost, address+"/tracker", strings.NewReader(`{"id":"5f2a00000000000000000001","key":"SUP-1"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"X-Webhook-Secret": {key}, "Content-Type": {"application/json; charset=UTF-8"}}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	if got := post("forged"); got/100 != 4 || len(w.jobs(ticket.KindLook)) != 0 {
		t.Errorf("forged call: got %d and jobs %+v, want it refused", got, w.jobs(ticket.KindLook))
	}
	if got := post(secret); got != http.StatusOK {
		t.Errorf("call: got %d, want 200", got)
	}
	look := w.theJob(ticket.KindLook)
	if look.Queue != ticket.QueueDeliveries || !strings.Contains(look.Payload, "5f2a00000000000000000001") {
		t.Errorf("job %+v, want one of the issue in deliveries", look)
	}
	w.hintOf(look)
}

func TestFunctions_VKConfirmation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := serve(t, w.function("vk-webhook"))
	res, err := http.Post(address+"/vk", "application/json", strings.NewReader(`{"type":"confirmation","group_id":209,"secret":"`+secret+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if got, want := string(body), w.env["VK_CONFIRMATION"]; res.StatusCode != http.StatusOK || got != want || err != nil {
		t.Errorf("got %d %q, %v, want 200 %q", res.StatusCode, got, err, want)
	}
}

// migrate brings an empty database to the newest schema, and finds it there.
func TestFunctions_Migrate(t *testing.T) {
	t.Parallel()
	dsn := backendtest.Postgres(t, nil)
	p := function(t, "migrate", map[string]string{"DATABASE_URL": dsn})
	for range 2 {
		a, err := p.Call([]byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if a.Error != nil || string(a.Result) != `{"ok":true}` {
			t.Fatalf("got %s, %v, want ok", a.Result, a.Error)
		}
	}
	if diff := cmp.Diff(tables(t, backendtest.Postgres(t, schema.Migrate)), tables(t, dsn)); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

func tables(t *testing.T, dsn string) []string {
	t.Helper()
	ctx := context.Background()
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(ctx) }()
	rows, err := db.Query(ctx, "SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Error("no tables")
	}
	return all
}
