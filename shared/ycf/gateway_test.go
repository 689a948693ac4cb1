package ycf_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/obs"
	"supportbot/shared/ycf"
)

func start(tb testing.TB, routes ...ycf.Route) *httptest.Server {
	tb.Helper()
	s := httptest.NewServer(ycf.Gateway(routes...))
	tb.Cleanup(s.Close)
	return s
}

func do(tb testing.TB, r *http.Request) (*http.Response, string) {
	tb.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return resp, string(body)
}

func request(tb testing.TB, method, url string, body io.Reader) *http.Request {
	tb.Helper()
	r, err := http.NewRequest(method, url, body)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestGateway_PassesRequestsOn(t *testing.T) {
	t.Parallel()
	bytesBody := string([]byte{0xff, 0xfe, 0, '"'})
	tests := map[string]struct{ format, contentType, body string }{
		"0.1 JSON":         {ycf.Format01, "application/json; charset=utf-8", `{"a":"привет"}`},
		"1.0 JSON":         {ycf.Format10, "application/json", `{"a":1}`},
		"1.0 bytes":        {ycf.Format10, "application/octet-stream", bytesBody},
		"broken JSON":      {ycf.Format01, "application/json", bytesBody},
		"default format":   {ycf.FormatDirect, "text/plain", "x"},
		"base64-like text": {ycf.Format01, "text/plain", "aGVsbG8="},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			type view struct{ Method, Path, Query, Body, Auth, Cookie, Secret, Host string }
			var got view
			var id string
			srv := start(t, ycf.Route{Path: "/v1/{path+}", Format: tc.format, Handler: http.HandlerFunc(
				func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					id = r.Header.Get("X-Request-Id")
					got = view{r.Method, r.URL.Path, r.URL.RawQuery, string(body), r.Header.Get("Authorization"),
						r.Header.Get("Cookie"), r.Header.Get("X-Telegram-Bot-Api-Secret-Token"), r.Host}
					w.Header().Add("X-Many", "1")
					w.Header().Add("X-Many", "2")
					w.WriteHeader(http.StatusAccepted)
					_, _ = w.Write(body)
				})})
			r := request(t, "POST", srv.URL+"/v1/a%20b?q=1&q=2", strings.NewReader(tc.body))
			r.Header.Set("Content-Type", tc.contentType)
			r.Header.Set("Authorization", "Bearer x")
			r.Header.Set("Cookie", "a=b")
			r.Header.Set("X-Request-Id", "made up")
			r.Header.Set("X-Telegram-Bot-Api-Secret-Token", "secret")
			resp, body := do(t, r)

			want := view{"POST", "/v1/a b", "q=1&q=2", tc.body, "", "", "secret", r.URL.Host}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if resp.StatusCode != http.StatusAccepted || body != tc.body {
				t.Errorf("response: got %d %q, want 202 %q", resp.StatusCode, body, tc.body)
			}
			if diff := cmp.Diff([]string{"1", "2"}, resp.Header.Values("X-Many")); diff != "" {
				t.Errorf("repeated header (-want +got):\n%s", diff)
			}
			if len(id) != 36 {
				t.Errorf("request id: got %q, want a UUID of the gateway's", id)
			}
		})
	}
}

// What the gateway makes of a request has the fields of the documented events.
func TestGateway_EventsAsDocumented(t *testing.T) {
	t.Parallel()
	get := httptest.NewRequest("GET", "/v1/broadcasts/17?part=a%20b&part=c", nil)
	get.Header = http.Header{"Accept": {"application/json"}, "X-Key": {"first", "second"}, "Cookie": {"a=b"}, "Authorization": {"x"}}
	post := httptest.NewRequest("POST", "/v1/broadcasts/17", nil)
	post.Header = http.Header{"Content-Type": {"application/json"}}
	tests := map[string]struct {
		r            *http.Request
		format, body string
	}{
		"http-gateway-01.json": {get, ycf.Format01, ""},
		"http-gateway-10.json": {post, ycf.Format10, `{"text":"привет"}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.r.Host = "d5d00000000000000gw.apigw.yandexcloud.net"
			got, err := ycf.EventJSON(ycf.Route{Path: "/v1/{path+}", Format: tc.format}, tc.r, []byte(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			want := fixture(t, name)
			if diff := cmp.Diff(comparable(t, want), comparable(t, got)); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

// comparable leaves out of an event what differs from call to call.
func comparable(t *testing.T, event []byte) map[string]any {
	m := decode[map[string]any](t, event)
	for _, headers := range []string{"headers", "multiValueHeaders"} {
		delete(m[headers].(map[string]any), "X-Request-Id")
		delete(m[headers].(map[string]any), "X-Real-Remote-Address")
	}
	delete(m, "requestContext")
	delete(m, "operationId") // the specification's, which the gateway here does not have
	if m["isBase64Encoded"] == false {
		delete(m, "isBase64Encoded") // not in all documented events
	}
	return m
}

func TestGateway_Answers(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	const limit = 2621440
	srv := start(t,
		ycf.Route{Path: "/telegram", Handler: ok},
		ycf.Route{Path: "/v1/{path+}", Handler: ok},
		ycf.Route{Path: "/panic", Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret") })},
		ycf.Route{Path: "/large", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, limit+1)) })},
	)
	tests := map[string]struct {
		path   string
		body   int
		status int
		failed bool // by the function
	}{
		"exact path":             {"/telegram", 1, 200, false},
		"below an exact path":    {"/telegram/x", 1, 404, false},
		"trailing slash":         {"/telegram/", 1, 404, false},
		"greedy":                 {"/v1/a/b", 1, 200, false},
		"greedy needs something": {"/v1/", 1, 404, false},
		"unknown":                {"/", 1, 404, false},
		"largest":                {"/telegram", limit, 200, false},
		"too large":              {"/telegram", limit + 1, 413, false},
		"panic":                  {"/panic", 1, 502, true},
		"response too large":     {"/large", 1, 502, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body := do(t, request(t, "POST", srv.URL+tc.path, bytes.NewReader(make([]byte, tc.body))))
			if resp.StatusCode != tc.status {
				t.Errorf("status: got %d, want %d", resp.StatusCode, tc.status)
			}
			if got := resp.Header.Get("X-Function-Error") == "true"; got != tc.failed {
				t.Errorf("X-Function-Error: got %v, want %v", got, tc.failed)
			}
			if strings.Contains(body, "secret") {
				t.Errorf("body tells what the panic carried: %s", body)
			}
		})
	}
}

func TestRecover(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := obs.NewLogger(&out, "telegram-webhook", slog.LevelInfo)
	h := ycf.Recover(log, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		log.InfoContext(r.Context(), "began")
		panic("a customer's words")
	}))
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/", nil)
	r.Header.Set("X-Request-Id", "r-1"+strings.Repeat("x", 100))
	h.ServeHTTP(w, r)

	if w.Code != http.StatusInternalServerError {
		t.Errorf("status: got %d, want 500", w.Code)
	}
	if got := strings.Count(out.String(), `"request_id":"r-1`+strings.Repeat("x", 61)+`"`); got != 2 {
		t.Errorf("log: got %s, want a short request id in both records", out.String())
	}
	if got := out.String(); !strings.Contains(got, "gateway_test.go:") || strings.Contains(got, "customer") {
		t.Errorf("log: got %s, want the place of the panic and not its words", got)
	}
}

// Each sender is told the wait in the form that it reads.
func TestUnavailable_RetryAfter(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("POST", "/", nil)
	seconds, date := httptest.NewRecorder(), httptest.NewRecorder()
	before := time.Now().Truncate(time.Second)
	ycf.Unavailable(seconds, r, io.ErrUnexpectedEOF)
	ycf.UnavailableUntil(date, r, io.ErrUnexpectedEOF)
	if got := seconds.Header().Get("Retry-After"); got != "5" {
		t.Errorf("in seconds: got %q, want 5", got)
	}
	at, err := http.ParseTime(date.Header().Get("Retry-After"))
	if err != nil || at.Before(before.Add(5*time.Second)) || at.After(time.Now().Add(5*time.Second)) {
		t.Errorf("as a date: got %q, %v, want in 5 s", date.Header().Get("Retry-After"), err)
	}
	if seconds.Code != http.StatusServiceUnavailable || date.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d and %d, want 503", seconds.Code, date.Code)
	}
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := httptest.NewRecorder()
	ctx := context.WithValue(ycf.WithRequestID(context.Background(), "r-1"), "lambdaRuntimeFunctionName", "vk-webhook") //nolint:staticcheck // the runtime's key
	ycf.Unavail(&out, w, httptest.NewRequest("POST", "/", nil).WithContext(ctx), io.ErrUnexpectedEOF, "7")

	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "7" {
		t.Errorf("got %d, Retry-After %q, want 503 and 7", w.Code, w.Header().Get("Retry-After"))
	}
	if strings.Contains(w.Body.String(), io.ErrUnexpectedEOF.Error()) {
		t.Errorf("the sender is told what went wrong: %s", w.Body)
	}
	for _, want := range []string{`"level":"ERROR"`, `"function":"vk-webhook"`, `"request_id":"r-1"`, "unexpected EOF"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("log: got %s, want it to contain %s", out.String(), want)
		}
	}
}
