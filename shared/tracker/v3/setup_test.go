package v3_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"supportbot/shared/env"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/tracker"
	"supportbot/shared/tracker/v3"
)

const token = "y0_canary-token"

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a client and the Tracker that it calls.
type world struct {
	*v3.Client
	server *sandbox.Server
	agent  *sandbox.Agent
	clock  *clock
	url    string
}

func fieldKeys() []string {
	keys := make([]string, 0, len(tracker.Fields))
	for _, f := range tracker.Fields {
		keys = append(keys, string(f))
	}
	return keys
}

// setup makes a Tracker with the queues SUP and BIL, which have our fields, and
// RAW, which has not.
func setup(t *testing.T, change ...func(*sandbox.Config, *v3.Config)) *world {
	t.Helper()
	clock := newClock()
	server := sandbox.Config{
		Token: token, OrgID: "77", Now: clock.Now,
		Queues: []sandbox.Queue{
			sandbox.DefaultQueue("SUP", fieldKeys()...), sandbox.DefaultQueue("BIL", fieldKeys()...), sandbox.DefaultQueue("RAW"),
		},
	}
	client := v3.Config{Token: env.NewSecret(token), OrgID: "77", Queue: "SUP", Timeout: 20 * time.Second, Now: clock.Now}
	for _, c := range change {
		c(&server, &client)
	}
	s := sandbox.New(server)
	web := httptest.NewServer(s)
	client.URL = web.URL
	c, err := v3.New(client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); c.Close(); web.Close() })
	return &world{Client: c, server: s, agent: s.As("agent"), clock: clock, url: web.URL}
}

// against makes a client of a handler.
func against(t *testing.T, h http.HandlerFunc, change ...func(*v3.Config)) *v3.Client {
	t.Helper()
	web := httptest.NewServer(h)
	cfg := v3.Config{URL: web.URL, Token: env.NewSecret(token), OrgID: "77", Queue: "SUP", Timeout: 20 * time.Second}
	for _, c := range change {
		c(&cfg)
	}
	c, err := v3.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); web.Close() })
	return c
}

func (w *world) create(t *testing.T, n tracker.NewIssue) tracker.Issue {
	t.Helper()
	if n.Summary == "" {
		n.Summary = "Printer"
	}
	i, err := w.Create(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func wantKind(t *testing.T, err error, want tracker.ErrorKind) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want %s", want)
	}
	if got := tracker.KindOf(err); got != want {
		t.Fatalf("got %s (%v), want %s", got, err, want)
	}
}

func short(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestConfigFrom(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		vars    map[string]string
		refused bool // by the reader or by New
	}{
		"yandex 360":      {vars: map[string]string{"TRACKER_TOKEN": "t", "TRACKER_ORG_ID": "1", "TRACKER_QUEUE": "SUP"}},
		"cloud":           {vars: map[string]string{"TRACKER_TOKEN": "t", "TRACKER_CLOUD_ORG_ID": "bpf", "TRACKER_QUEUE": "SUP"}},
		"cloud, iam":      {vars: map[string]string{"TRACKER_TOKEN": "t", "TRACKER_TOKEN_TYPE": "Bearer", "TRACKER_CLOUD_ORG_ID": "bpf", "TRACKER_QUEUE": "SUP"}},
		"iam without org": {vars: map[string]string{"TRACKER_TOKEN": "t", "TRACKER_TOKEN_TYPE": "Bearer", "TRACKER_ORG_ID": "1", "TRACKER_QUEUE": "SUP"}, refused: true},
		"both":            {vars: map[string]string{"TRACKER_TOKEN": "t", "TRACKER_ORG_ID": "1", "TRACKER_CLOUD_ORG_ID": "b", "TRACKER_QUEUE": "SUP"}, refused: true},
		"neither":         {vars: map[string]string{"TRACKER_TOKEN": "t", "TRACKER_QUEUE": "SUP"}, refused: true},
		"no token":        {vars: map[string]string{"TRACKER_ORG_ID": "1", "TRACKER_QUEUE": "SUP"}, refused: true},
		"no queue":        {vars: map[string]string{"TRACKER_TOKEN": "t", "TRACKER_ORG_ID": "1"}, refused: true},
		"bad address":     {vars: map[string]string{"TRACKER_TOKEN": "t", "TRACKER_ORG_ID": "1", "TRACKER_QUEUE": "S", "TRACKER_API_URL": "ftp://x"}, refused: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := env.NewReaderFrom(func(name string) (string, bool) { v, ok := c.vars[name]; return v, ok })
			cfg := v3.ConfigFrom(r)
			_, err := v3.New(cfg)
			if got := r.Err() != nil || err != nil; got != c.refused {
				t.Errorf("got refused %v (%v, %v), want %v", got, r.Err(), err, c.refused)
			}
		})
	}
}
