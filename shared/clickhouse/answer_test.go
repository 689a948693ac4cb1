package clickhouse_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/clickhouse"
	"supportbot/shared/env"
)

var nobody = log.New(io.Discard, "", 0)

// lying is a client of a server that answers as the handler does.
func lying(t *testing.T, h http.HandlerFunc) *clickhouse.DB {
	t.Helper()
	return lyingOn(t, "", h)
}

func lyingOn(t *testing.T, cluster string, h http.HandlerFunc) *clickhouse.DB {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = nobody
	srv.Start()
	t.Cleanup(srv.Close)
	return open(t, clickhouse.Config{URL: env.NewSecret(strings.Replace(srv.URL, "http://", "http://user:canary@", 1) + "/base"), Cluster: cluster})
}

// calls are all that ask the server something.
func calls(db *clickhouse.DB) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"select": func(ctx context.Context) error { _, err := db.Select(ctx, "SELECT 1", nil); return err },
		"exec":   func(ctx context.Context) error { return db.Exec(ctx, "SELECT 1") },
		"insert": func(ctx context.Context) error {
			return db.InsertAgents(ctx, []analytics.Agent{{ID: "1", Login: "canary", Name: "canary", SeenAt: day(0)}})
		},
		"known": func(ctx context.Context) error { _, err := db.Known(ctx, []string{"i"}, day(0)); return err },
		"empty": func(ctx context.Context) error { _, err := db.Empty(ctx); return err },
	}
}

// The password goes in a header: addresses are written into logs on the way.
func TestCall_SecretsAreInHeaders(t *testing.T) {
	t.Parallel()
	db := lying(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.String(), "canary") || strings.Contains(r.URL.String(), "user") {
			t.Errorf("the address is %s", r.URL)
		}
		for name, want := range map[string]string{"X-ClickHouse-User": "user", "X-ClickHouse-Key": "canary", "X-ClickHouse-Database": "base"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if r.URL.Query().Get("wait_end_of_query") != "1" {
			t.Error("the status would be told before the query ends")
		}
		_, _ = io.WriteString(w, `{"meta":[],"data":[]}`)
	})
	for name, call := range calls(db) {
		if err := call(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A way on which nobody answers is no query that takes too long.
func TestCall_NobodyAnswersOnTheWay(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	db := open(t, clickhouse.Config{URL: env.NewSecret("https://user:canary@" + l.Addr().String() + "/base")})
	_, err = db.Select(ctx, "SELECT 1", nil)
	var slow interface{ Timeout() bool }
	if err == nil || errors.As(err, &slow) && slow.Timeout() {
		t.Errorf("got %v, want an error that is no time-out", err)
	}
	late, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err = db.Select(late, "SELECT 1", nil); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &slow) || !slow.Timeout() {
		t.Errorf("with no time: got %v, want a time-out", err)
	}
}

func TestCall_Refusals(t *testing.T) {
	t.Parallel()
	const quoted = "Code: 60. DB::Exception: Table base.t does not exist: 'canary' (at row 1) (UNKNOWN_TABLE) (version 26.7.2.1 (official build))\n"
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
		code   int // 0: no *Error
		status int
	}{
		"a status": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-ClickHouse-Exception-Code", "60")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, quoted)
		}, "UNKNOWN_TABLE", 60, 404},
		"a status without words": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-ClickHouse-Exception-Code", "241")
			w.WriteHeader(http.StatusInternalServerError)
		}, "code 241", 241, 500},
		"after all was well": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "{\"meta\":[{\"name\":\"x\",\"type\":\"String\"}],\"data\":[[\"a\"],\n__exception__\r\ntag\r\n"+quoted+"93 tag\r\n__exception__\r\n")
		}, "UNKNOWN_TABLE", 60, 200},
		"within the rows": {func(w http.ResponseWriter, _ *http.Request) {
			text, _ := json.Marshal(quoted)
			_, _ = io.WriteString(w, `{"meta":[],"data":[],"exception":`+string(text)+`}`)
		}, "UNKNOWN_TABLE", 60, 200},
		"a balancer": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, "<html>canary</html>")
		}, "ClickHouse is not there: status 502", 0, 502},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "status 307", 0, 307},
		"a line that breaks": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"meta":[],"data":[]}`)
		}, "unexpected EOF", 0, 0},
		"without end": {func(w http.ResponseWriter, r *http.Request) {
			for _, err := w.Write(make([]byte, 1<<20)); err == nil && r.Context().Err() == nil; {
				_, err = w.Write(make([]byte, 1<<20))
			}
		}, "more than", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for call, do := range calls(lying(t, test.answer)) {
				err := do(ctx)
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: error %v, want one with %q", call, err, test.want)
					continue
				}
				if call == "insert" && strings.Contains(err.Error(), "canary") {
					t.Errorf("insert: the error repeats rows: %v", err)
				}
				var refused *clickhouse.Error
				if is := errors.As(err, &refused); is != (test.status != 0) || is && (refused.Code != test.code || refused.Status != test.status) {
					t.Errorf("%s: error %#v, want code %d of status %d", call, refused, test.code, test.status)
				}
			}
		})
	}
}

// What is no JSON and no error is one all the same.
func TestSelect_NoRows(t *testing.T) {
	t.Parallel()
	db := lying(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "Ok.\n") })
	if _, err := db.Select(ctx, "SELECT 1", nil); err == nil {
		t.Error("there is no error")
	}
}

// Nobody is there: the error names no address of ours with its parameters.
func TestCall_Unreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	db := open(t, clickhouse.Config{URL: env.NewSecret("http://user:canary@" + l.Addr().String() + "/base")})
	for name, call := range calls(db) {
		if err := call(ctx); err == nil || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "wait_end") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A connection that died while an instance was frozen is no failure of what may be
// repeated.
func TestCall_DeadConnection(t *testing.T) {
	t.Parallel()
	var answers atomic.Int32
	db := lying(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if answers.Add(1)%2 == 0 { // the second request of a connection finds it dead
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, `{"meta":[],"data":[]}`)
	})
	all := calls(db)
	for _, name := range []string{"select", "insert", "known", "select"} {
		if err := all[name](ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := answers.Load(); n != 7 {
		t.Errorf("%d requests, want 4 and 3 repetitions", n)
	}
	if err := all["exec"](ctx); err == nil {
		t.Error("a statement was repeated by itself")
	}
}

func TestCall_Cancelled(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	db := lying(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	for name, call := range calls(db) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		go func() { <-arrived; cancel() }()
		if err := call(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want that of the context", name, err)
		}
	}
}
