package notification_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/broadcast"
	"supportbot/shared/broadcasting"
	"supportbot/shared/catalogue"
	"supportbot/shared/dialog"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
	"supportbot/shared/metric"
	"supportbot/shared/notification"
	"supportbot/shared/person"
)

// taker is a store that takes everything, and knows who calls. Nothing asks it for more
// than its methods here.
type taker struct {
	notification.Store
	made *broadcast.Spec
}

func (s *taker) create(n broadcast.New) broadcast.Broadcast {
	s.made = &n.Spec
	return broadcast.Broadcast{ID: 1, Spec: n.Spec, State: broadcast.Running, CreatedBy: n.By}
}

func (s *taker) CreateBroadcast(_ context.Context, n broadcast.New) (broadcast.Broadcast, bool, []job.Inserted, error) {
	return s.create(n), true, nil, nil
}

func (s *taker) UpdateDraft(_ context.Context, _ int64, spec broadcast.Spec) (broadcast.Broadcast, error) {
	return s.create(broadcast.New{Spec: spec}), nil
}

func (s *taker) BroadcastByKey(context.Context, string, string, string) (b broadcast.Broadcast, ok bool, err error) {
	return b, false, nil
}

func (s *taker) Broadcast(context.Context, int64) (broadcast.Broadcast, error) {
	return broadcast.Broadcast{ID: 1, State: broadcast.Finished}, nil
}

func (s *taker) Broadcasts(context.Context, []broadcast.State, int64, int) (list []broadcast.Broadcast, next int64, err error) {
	return nil, 0, nil
}

func (s *taker) SetBroadcastRate(context.Context, int64, float64) (broadcast.Broadcast, error) {
	return broadcast.Broadcast{ID: 1}, nil
}

func (s *taker) Batches(context.Context, int64) ([]broadcast.Batch, error) { return nil, nil }

func (s *taker) Recipients(context.Context, int64, broadcast.Outcome, string, int) (list []broadcast.Listed, next string, err error) {
	return nil, "", nil
}

func (s *taker) Estimate(context.Context, broadcast.Audience, broadcast.Kind, broadcast.Bots, []messenger.Address) (map[messenger.Name]int, error) {
	return nil, nil
}

func (s *taker) Jobs(context.Context, job.Filter) ([]job.Record, error)    { return nil, nil }
func (s *taker) SettleReview(context.Context, int64, string, string) error { return nil }
func (s *taker) Backlog(context.Context, string) (int, error)              { return 0, nil }
func (s *taker) JobRecord(context.Context, int64) (job.Record, error)      { return job.Record{}, nil }
func (s *taker) Now(context.Context) (time.Time, error)                    { return time.Now(), nil }
func (s *taker) PersonByID(context.Context, int64) (*person.Person, error) {
	return &person.Person{ID: 1}, nil
}
func (s *taker) PersonOfUser(context.Context, messenger.Name, string) (int64, error) { return 1, nil }

func (s *taker) Load(context.Context, string) (*analytics.Load, error) { return nil, nil }

func (s *taker) DeadLetters(context.Context, int64, int) ([]job.DeadLetter, error) { return nil, nil }

func (s *taker) KeyByHash(context.Context, []byte) (*person.APIKey, error) {
	return &person.APIKey{Name: "key", Role: person.Admin, Person: 1}, nil
}

// closed are sessions that nobody has.
type closed struct{ notification.Sessions }

func (closed) Open(context.Context, string) (in person.Session, token string, ok bool, err error) {
	return in, "", false, nil
}

// still is a place where no progress is shown.
type still struct{ notification.Live }

func (still) SetState(context.Context, int64, broadcast.State) error { return nil }

func (still) Put(context.Context, broadcast.Broadcast, []broadcast.Batch) error { return nil }

func (still) Progress(context.Context, int64) (p broadcast.Progress, ok bool, err error) {
	return p, false, nil
}

type fixedPace struct{}

func (fixedPace) BroadcastLimit(messenger.Name) float64 { return 20 }

// takerDeps are an API without anything behind it.
func takerDeps(f *testing.F) notification.Deps {
	f.Helper()
	must := func(err error) {
		f.Helper()
		if err != nil {
			f.Fatal(err)
		}
	}
	vars := map[string]string{
		"TELEGRAM_TOKEN": telegramBot + ":token", "TELEGRAM_WEBHOOK_SECRET": "secret", "TELEGRAM_API_URL": "http://127.0.0.1:1",
		"VK_TOKEN": "token", "VK_GROUP_ID": vkBot, "VK_SECRET": "secret", "VK_CONFIRMATION": "x", "VK_API_URL": "http://127.0.0.1:1",
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	messengers, err := all.New(all.ConfigFrom(env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })), log, nil)
	must(err)
	metrics, err := metric.New(metric.Files)
	must(err)
	book, err := catalogue.Load(catalogue.Config{Queue: "SUP"})
	must(err)
	return notification.Deps{
		Live: still{}, Sessions: closed{}, Pacer: fixedPace{}, Publisher: nobody{}, Bots: messengers.Bots(), Locales: catalogue.Languages,
		Buttons: dialog.UnsubscribeButtons, Tickets: func(context.Context) ([]messenger.Address, error) { return nil, nil },
		Senders: func(m messenger.Name, id string) (broadcasting.Sender, bool) {
			return messengers.For(messenger.Address{Messenger: m, Bot: id})
		},
		Now: func() time.Time { return time.Date(2026, 8, 27, 12, 0, 0, 0, time.UTC) }, Log: log,
		Metrics: metrics, Analytics: &shelf{metrics: metrics}, Catalogue: book, Zone: time.UTC,
	}
}

// fuzzed are the calls that take something to be read.
var fuzzed = []struct{ method, path string }{
	{http.MethodPost, "/v1/broadcasts"}, {http.MethodPut, "/v1/broadcasts/1"}, {http.MethodPatch, "/v1/broadcasts/1"},
	{http.MethodPost, "/v1/broadcasts/1/correct"}, {http.MethodPost, "/v1/broadcasts/1/test"}, {http.MethodPost, "/v1/preview"},
	{http.MethodPost, "/v1/audience/estimate"}, {http.MethodPost, "/v1/messages"}, {http.MethodPost, "/v1/session"},
	{http.MethodPost, "/v1/jobs/replay"}, {http.MethodPost, "/v1/jobs/1/settle"},
	{http.MethodGet, "/v1/jobs"}, {http.MethodGet, "/v1/broadcasts"}, {http.MethodGet, "/v1/broadcasts/1/recipients"}, {http.MethodGet, "/v1/dead-letters"},
	{http.MethodGet, "/v1/metrics"}, {http.MethodGet, "/v1/metrics/tickets_by_category"}, {http.MethodGet, "/v1/customers"},
}

// FuzzAPI: whatever a call says, it is done or refused with a problem, and never breaks.
func FuzzAPI(f *testing.F) {
	deps := takerDeps(f)
	for _, body := range []string{
		``, `{}`, `null`, `[]`, `{"a":1`, "\xff", `{"code":"abc"}`, `{"rate":0.1}`, `{"rate":1e400}`, `{"remark":"done"}`, `{"dry_run":true,"kind":"deliver."}`, `{"dry_run":false,"until":"2026-01-02T03:04:05Z"}`,
		`{"kind":"news","texts":{"ru":"**Привет**","en":"Hi"},"fallback":"ru","audience":{"messengers":["vk"],"open_ticket":false}}`,
		`{"kind":"news","texts":{"ru":"a"},"audience":{"tags":["a"],"Tags":["b"]}}`, `{"kind":"system","texts":{"en":"<&[](x)"},"audience":{"roles":["agent"]},"urgency":9,"rate":1}`,
		`{"kind":"news","texts":{"ru":"a"},"audience":{"seen":{"from":"2026-01-01T00:00:00Z"},"customers":[1,2]},"hours":{"from":"09:00","to":"21:00","zone":"Europe/Moscow"},"draft":true}`,
		`{"kind":"maintenance","texts":{"ru":"a"},"audience":{},"buttons":[{"labels":{"ru":"b"},"url":"https://example.org"}],"start_at":"2026-09-01T00:00:00+03:00"}`,
		`{"customer":1,"texts":{"ru":"a"}}`,
	} {
		for i := range fuzzed[:11] {
			f.Add(i, "", body, "")
		}
	}
	for _, query := range []string{
		"?from=2026-01-01&to=2026-02-01&tz=Europe/Moscow&messenger=vk&format=csv&locale=en", "?from=0000-00-00&to=9999-99-99", "?tz=../../etc/passwd", "?tz=Local",
		"?category=%00&category=x", "?limit=99999999999999999999", "?before=-1", "?state=needs_review&kind=%25", "?;&%zz", "?telegram=1&vk=2&user=3",
	} {
		for i := range fuzzed[11:] {
			f.Add(11+i, query, "", "")
		}
	}
	for i := range fuzzed {
		for _, header := range []string{"text/csv;q=0, */*", "application/json; charset=\"", ";", ",;,", "\xff\x00", strings.Repeat("д", 201)} {
			f.Add(i, "", `{}`, header)
		}
	}
	f.Fuzz(func(t *testing.T, which int, query, body, header string) {
		if which < 0 || which >= len(fuzzed) {
			return
		}
		to := fuzzed[which]
		r, err := http.NewRequest(to.method, "http://api.example"+to.path+query, strings.NewReader(body))
		if err != nil || r.URL.Path != to.path {
			return
		}
		r.Header.Set("X-API-Key", "key")
		r.Header.Set("Idempotency-Key", "1")
		if header != "" {
			for _, name := range []string{"Accept", "Content-Type", "Idempotency-Key"} {
				r.Header.Set(name, header)
			}
		}
		store := &taker{}
		d := deps
		d.Store = store
		w := httptest.NewRecorder()
		notification.New(d).ServeHTTP(w, r)
		checkAnswer(t, w)
		if store.made != nil && to.path == "/v1/broadcasts" {
			checkAudience(t, body, store.made.Audience)
		}
	})
}

// stranger is a store that knows nobody, and has to be asked for nothing else.
type stranger struct{ notification.Store }

func (stranger) KeyByHash(context.Context, []byte) (*person.APIKey, error) { return nil, nil }

// FuzzPath: whatever path is called by whatever method with whatever credential, who is
// not known is refused, but for what everybody may: the document, and to sign in.
func FuzzPath(f *testing.F) {
	deps := takerDeps(f)
	deps.Store = stranger{}
	for _, path := range []string{
		"/v1/openapi.json", "/v1/session", "/v1/jobs", "/v1/jobs/1", "/v1/jobs/1/replay", "/v1/jobs/01", "/v1/jobs/9223372036854775808", "/v1/jobs/-1/cancel",
		"/v1/metrics/\x00", "/v1/metrics/a/b", "/v1/customers/1/erase", "/v1//jobs", "/v1/jobs//", "/v1/../v1/jobs", "", "/", "v1/jobs", "/v1/jobs/{id}", "/V1/JOBS", "\xff",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, "", "get"} {
			f.Add(method, path, "key")
			f.Add(method, path, "")
		}
	}
	f.Fuzz(func(t *testing.T, method, path, key string) {
		w := httptest.NewRecorder()
		notification.New(deps).ServeHTTP(w, &http.Request{
			Method: method, URL: &url.URL{Path: path}, Header: http.Header{"X-Api-Key": {key}}, Body: http.NoBody,
		})
		checkAnswer(t, w)
		document := method == http.MethodGet && strings.TrimSuffix(path, "/") == "/v1/openapi.json"
		if w.Code != http.StatusUnauthorized && w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed && !document {
			t.Errorf("%s %q with the key %q: %d %s", method, path, key, w.Code, w.Body)
		}
	})
}

func checkAnswer(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	var problem struct{ Status int }
	switch kind := w.Header().Get("Content-Type"); {
	case w.Code >= http.StatusInternalServerError:
		t.Errorf("status %d: %s", w.Code, w.Body)
	case w.Code >= http.StatusBadRequest:
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || problem.Status != w.Code {
			t.Errorf("status %d, problem %s (%v)", w.Code, w.Body, err)
		}
	case strings.Contains(kind, "json") && !json.Valid(w.Body.Bytes()):
		t.Errorf("answer is no JSON: %s", w.Body)
	}
}

// checkAudience: a criterion that was said is one: forgotten, it would be a broadcast to
// everybody.
func checkAudience(t *testing.T, body string, got broadcast.Audience) {
	t.Helper()
	var said, taken struct{ Audience map[string]any }
	raw := encode(t, map[string]any{"Audience": got})
	if err := json.Unmarshal([]byte(body), &said); err != nil {
		t.Fatalf("the body is taken and no JSON: %v", err)
	}
	if err := json.Unmarshal(raw, &taken); err != nil {
		t.Fatal(err)
	}
	for name := range said.Audience {
		if _, ok := taken.Audience[name]; !ok {
			t.Errorf("criterion %q of %s is lost: %s", name, body, raw)
		}
	}
}
