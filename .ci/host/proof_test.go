package host_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	host "supportbot/.ci/host"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/ticket"
)

// reconcilerRescues: a job whose hint could not be sent is published by the timer's
// call, and Tracker is asked what has changed.
func reconcilerRescues(t *testing.T) {
	w := newWorld(t)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	healthy := w.function("telegram-webhook")
	cut := w.function("telegram-webhook", map[string]string{"QUEUE_ENDPOINT": closed.URL})
	reconciler := w.function("reconciler")
	w.feed(w.function("tracker-worker"), ticket.QueueDeliveries)
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
	for range 2 { // the first poll ever only notes the time
		if err := reconciler.Trigger(event); err != nil {
			t.Fatal(err)
		}
	}
	w.hintOf(create)
	if got := w.theJob(ticket.KindCreate); !got.Published || got.State != "queued" {
		t.Errorf("job %+v, want it published and queued", got)
	}
	w.called(&w.calls.tracker, "POST /v3/issues/_search")
}

// triggerIsStored: a trigger's call is a row and a hint; a forged one is nothing.
func triggerIsStored(t *testing.T) {
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

func confirmsVK(t *testing.T) {
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

// migratesTwice: an empty database comes to the newest schema, and stays there; whom the
// deployment declares is let in, and it is told which archive answers.
func migratesTwice(t *testing.T) {
	dsn, analytics := backendtest.Postgres(t, nil), clickhousetest.Empty(t)
	p := function(t, "migrate", map[string]string{"DATABASE_URL": dsn, "CLICKHOUSE_URL": analytics, "ARCHIVE_SHA256": "sum"})
	for range 2 {
		a, err := p.Call([]byte(`{"staff":{"telegram:1":["admin"]},"keys":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		if a.Error != nil || string(a.Result) != `{"ok":true,"archive":"sum"}` {
			t.Fatalf("got %s, %v, want ok", a.Result, a.Error)
		}
	}
	if diff := cmp.Diff(tables(t, backendtest.Postgres(t, schema.Migrate)), tables(t, dsn)); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	if got := clickhousetest.Rows(t, clickhousetest.Open(t, analytics), "SELECT * FROM tickets_latest"); len(got) > 0 {
		t.Errorf("tickets %v, want an empty table", got)
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
