package broadcasting_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"sync"

	"supportbot/shared/broadcast"
	"supportbot/shared/postgres"
)

// front stands before the fakes: a peer that lies. It says whether it has answered.
type front struct {
	mu  sync.Mutex
	lie func(w http.ResponseWriter, method string, form url.Values, next http.Handler, r *http.Request) bool
	log []call
}

type call struct {
	method string
	form   url.Values
}

func (s *studio) serve(next http.Handler) string {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(raw))
		form, _ := url.ParseQuery(string(raw))
		method := path.Base(r.URL.Path)
		s.front.mu.Lock()
		s.front.log = append(s.front.log, call{method, form})
		lie := s.front.lie
		s.front.mu.Unlock()
		if lie == nil || !lie(w, method, form, next, r) {
			next.ServeHTTP(w, r)
		}
	}))
	s.t.Cleanup(h.Close)
	return h.URL
}

// lie sets what answers in place of the fakes; false leaves it to them.
func (s *studio) lie(f func(w http.ResponseWriter, method string, form url.Values, next http.Handler, r *http.Request) bool) {
	s.front.mu.Lock()
	defer s.front.mu.Unlock()
	s.front.lie = f
}

// refuses answers in place of the fakes where it gives a text.
func (s *studio) refuses(f func(method string, form url.Values) (status int, body string)) {
	s.lie(func(w http.ResponseWriter, method string, form url.Values, _ http.Handler, _ *http.Request) bool {
		status, body := f(method, form)
		if body == "" {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	})
}

func (s *studio) calls(method string) (all []url.Values) {
	s.front.mu.Lock()
	defer s.front.mu.Unlock()
	for _, c := range s.front.log {
		if c.method == method {
			all = append(all, c.form)
		}
	}
	return all
}

// meddling is the store with somebody in between.
type meddling struct {
	*postgres.DB
	beforeClaim, afterClaim func(ns []int) error
	beforeWrite, afterWrite func(rs []broadcast.Result) error
}

func (m *meddling) ClaimRecipients(ctx context.Context, batch int64, claim string, ns []int) ([]broadcast.Recipient, broadcast.State, error) {
	if m.beforeClaim != nil {
		if err := m.beforeClaim(ns); err != nil {
			return nil, "", err
		}
	}
	got, state, err := m.DB.ClaimRecipients(ctx, batch, claim, ns)
	if m.afterClaim != nil && err == nil {
		if err := m.afterClaim(ns); err != nil {
			return nil, "", err
		}
	}
	return got, state, err
}

func (m *meddling) Write(ctx context.Context, batch int64, claim string, rs []broadcast.Result) error {
	if m.beforeWrite != nil {
		if err := m.beforeWrite(rs); err != nil {
			return err
		}
	}
	err := m.DB.Write(ctx, batch, claim, rs)
	if m.afterWrite != nil && err == nil {
		err = m.afterWrite(rs)
	}
	return err
}
