package news_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/news"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

type lookStore struct {
	err  error
	made []job.New
}

func (s *lookStore) Look(_ context.Context, j job.New) (job.Inserted, error) {
	s.made = append(s.made, j)
	return job.Inserted{State: job.Completed}, s.err
}

func (s *lookStore) call(secrets []env.Secret, method, secret, body string) *httptest.ResponseRecorder {
	h := &news.Trigger{Secrets: secrets, Store: s, Publisher: &job.Publisher{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	r := httptest.NewRequest(method, "/tracker", strings.NewReader(body))
	if secret != "" {
		r.Header.Set(news.SecretHeader, secret)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTrigger(t *testing.T) {
	t.Parallel()
	two := []env.Secret{env.NewSecret("old"), env.NewSecret("new")}
	const good = `{"id":"6571ab","key":"SUP-1"}`
	for name, tc := range map[string]struct {
		secrets              []env.Secret
		method, secret, body string
		status               int
		lane                 string
	}{
		"both":                {two, "POST", "new", good, 200, "issue:6571ab"},
		"the other secret":    {two, "POST", "old", good, 200, "issue:6571ab"},
		"key alone":           {two, "POST", "new", `{"id":"","key":"SUP-1"}`, 200, "issue:key:SUP-1"},
		"says more than ids":  {two, "POST", "new", `{"id":"6571ab","second":true,"text":"x"}`, 200, "issue:6571ab"},
		"an id as a number":   {two, "POST", "new", `{"id":1099511627776,"key":"SUP-1"}`, 200, "issue:1099511627776"},
		"an id of no form":    {two, "POST", "new", `{"id":{"a":1},"key":"SUP-1"}`, 200, "issue:key:SUP-1"},
		"an id that is true":  {two, "POST", "new", `{"id":true,"key":"SUP-1"}`, 200, "issue:key:SUP-1"},
		"a key of no form":    {two, "POST", "new", `{"id":"6571ab","key":["SUP-1"]}`, 200, "issue:6571ab"},
		"wrong secret":        {two, "POST", "newer", good, 403, ""},
		"no secret":           {two, "POST", "", good, 403, ""},
		"none configured":     {nil, "POST", "", good, 403, ""},
		"an empty one":        {[]env.Secret{{}}, "POST", "", good, 403, ""},
		"read":                {two, "GET", "new", "", 405, ""},
		"not JSON":            {two, "POST", "new", "id=1", 400, ""},
		"of another form":     {two, "POST", "new", `[1]`, 400, ""},
		"nothing":             {two, "POST", "new", "null", 400, ""},
		"unfilled variables":  {two, "POST", "new", `{"id":"{{issue.id}}","key":""}`, 400, ""},
		"an id that is a way": {two, "POST", "new", `{"id":"../../v3/myself"}`, 400, ""},
		"an id with a break":  {two, "POST", "new", `{"id":"6571ab\n"}`, 400, ""},
		"huge":                {two, "POST", "new", `{"id":"` + strings.Repeat("a", 70<<10) + `"}`, 413, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &lookStore{}
			w := s.call(tc.secrets, tc.method, tc.secret, tc.body)
			if w.Code != tc.status {
				t.Errorf("status %d, want %d", w.Code, tc.status)
			}
			switch {
			case tc.lane == "" && len(s.made) > 0:
				t.Errorf("stored %+v", s.made)
			case tc.lane != "" && (len(s.made) != 1 || s.made[0].Lane.Name != tc.lane):
				t.Errorf("made %+v, want a look in lane %s", s.made, tc.lane)
			case tc.lane != "" && s.made[0].Payload.(ticket.Look).Second:
				t.Error("a call made itself a second look")
			}
		})
	}
}

func TestTrigger_DatabaseAway(t *testing.T) {
	t.Parallel()
	s := &lookStore{err: errors.New("connection refused")}
	w := s.call([]env.Secret{env.NewSecret("s")}, http.MethodPost, "s", `{"id":"6571ab"}`)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d, Retry-After %q, want 503 and a time", w.Code, w.Header().Get("Retry-After"))
	}
}

// Calls in any number join the look that has not started.
func TestTrigger_JoinsALook(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	k := r.Open(wiringtest.Telegrammer(), "d1")
	h := &news.Trigger{Secrets: []env.Secret{env.NewSecret("s")}, Store: r.DB, Publisher: r.Publisher, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for range 5 {
		q := httptest.NewRequest(http.MethodPost, "/tracker", strings.NewReader(`{"id":"`+k.ID+`"}`))
		q.Header.Set(news.SecretHeader, "s")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		if w.Code != http.StatusOK {
			t.Fatalf("status %d", w.Code)
		}
	}
	if got := len(r.Keys(ticket.KindLook)); got != 1 {
		t.Errorf("%d looks, want 1", got)
	}
	r.Work()
	if got := len(r.Keys(ticket.KindLook)); got != 2 {
		t.Errorf("%d looks after the first has run, want it and its second", got)
	}
}
