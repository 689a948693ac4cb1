package ycf_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/ycf"
)

// seen is what a function sees of a call.
type seen struct {
	Method, Path, Host, Remote, Body, RequestID string
	Query                                       map[string][]string
	Length                                      int64
}

// call serves one event and gives what the function saw.
func call(tb testing.TB, event []byte) (got seen, header http.Header) {
	tb.Helper()
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			tb.Errorf("read body: %v", err)
		}
		header = r.Header
		got = seen{
			Method: r.Method, Path: r.URL.Path, Host: r.Host, Remote: r.RemoteAddr, Body: string(body),
			RequestID: ycf.RequestID(r.Context()), Query: r.URL.Query(), Length: r.ContentLength,
		}
	})
	if _, err := ycf.Serve(context.Background(), h, event); err != nil {
		tb.Fatalf("Serve: %v", err)
	}
	return got, header
}

func TestServe_Formats(t *testing.T) {
	t.Parallel()
	gateway := "d5d00000000000000gw.apigw.yandexcloud.net"
	tests := map[string]seen{
		"http-direct.json": {
			Method: "POST", Path: "/", Host: "functions.yandexcloud.net", Remote: "192.0.2.24:0",
			Body: "hello, world!", Length: 13, RequestID: "cd0d12cd-c5f1-4348-9dff-c50a78f1eb79",
			Query: map[string][]string{"a": {"1", "2"}, "b": {"1"}},
		},
		"http-gateway-01.json": {
			Method: "GET", Path: "/v1/broadcasts/17", Host: gateway, Remote: "[2001:db8::7]:0",
			RequestID: "0b8d6a35-6d1a-4b3f-a9b2-0b6c5a4f3e2d", Query: map[string][]string{"part": {"a b", "c"}},
		},
		"http-gateway-10.json": {
			Method: "POST", Path: "/v1/broadcasts/17", Host: gateway, Remote: "192.0.2.24:0",
			Body: `{"text":"привет"}`, Length: 23, RequestID: "6f1f8f5e-54c1-4a55-8d1f-5f1d1b1f9a10",
			Query: map[string][]string{},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := call(t, fixture(t, name))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServe_RequestParts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		event string
		check func(got seen, h http.Header) (any, any)
	}{
		"repeated header comes whole": {
			`{"headers":{"X-Key":"b"},"multiValueHeaders":{"X-Key":["a","b"]}}`,
			func(_ seen, h http.Header) (any, any) { return h.Values("x-key"), []string{"a", "b"} },
		},
		"only single headers": {
			`{"headers":{"x-telegram-bot-api-secret-token":"s"}}`,
			func(_ seen, h http.Header) (any, any) { return h.Get("X-Telegram-Bot-Api-Secret-Token"), "s" },
		},
		"only single parameters": {
			`{"queryStringParameters":{"a":"1"}}`,
			func(got seen, _ http.Header) (any, any) { return got.Query, map[string][]string{"a": {"1"}} },
		},
		"removed headers": {
			`{"headers":{"authorization":"Bearer x","Cookie":"a=b","Expect":"100-continue","Te":"x","Trailer":"x","Upgrade":"x",
			  "Proxy-Authenticate":"x","Connection":"x","Content-MD5":"x","Max-Forwards":"1","Server":"x","Transfer-Encoding":"x",
			  "WWW-Authenticate":"x"},"multiValueHeaders":{"Cookie":["a=b"],"X-Kept":["1"]}}`,
			func(_ seen, h http.Header) (any, any) { return h, http.Header{"X-Kept": {"1"}} },
		},
		"plain body": {
			`{"body":"aGVsbG8="}`,
			func(got seen, _ http.Header) (any, any) { return got.Body, "aGVsbG8=" },
		},
		"0.1 without url": {
			`{"path":"/v1/{id}/{rest+}","pathParams":{"id":"7","rest":"a/b"}}`,
			func(got seen, _ http.Header) (any, any) { return got.Path, "/v1/7/a/b" },
		},
		"0.1 query in url only": {
			`{"path":"/tg","url":"/tg?a=1&a=2"}`,
			func(got seen, _ http.Header) (any, any) { return got.Query, map[string][]string{"a": {"1", "2"}} },
		},
		"1.0 path is the actual one": {
			`{"version":"1.0","resource":"/v1/{path+}","path":"/v1/a%20b","url":"/other"}`,
			func(got seen, _ http.Header) (any, any) { return got.Path, "/v1/a b" },
		},
		"no method is GET": {
			`{}`,
			func(got seen, _ http.Header) (any, any) { return got.Method + got.Path, "GET/" },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := tc.check(call(t, []byte(tc.event)))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// response is a response event.
type response struct {
	StatusCode        int                 `json:"statusCode"`
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Body              string              `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
}

func TestServe_Responses(t *testing.T) {
	t.Parallel()
	header := func(kv ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for i := 0; i < len(kv); i += 2 {
				w.Header().Add(kv[i], kv[i+1])
			}
			w.WriteHeader(204)
		}
	}
	headers := func(multi map[string][]string) response {
		r := response{StatusCode: 204, Headers: map[string]string{}, MultiValueHeaders: multi}
		for k, v := range multi {
			r.Headers[k] = v[len(v)-1]
		}
		return r
	}
	none := map[string][]string{}
	tests := map[string]struct {
		handle func(http.ResponseWriter)
		want   response
	}{
		"nothing written is 200": {func(http.ResponseWriter) {}, response{200, map[string]string{}, none, "", false}},
		"text": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusForbidden)
			w.WriteHeader(http.StatusOK)
			w.Header().Set("Too", "late")
			_, _ = io.WriteString(w, "нет")
		}, response{403, map[string]string{"Content-Type": "text/plain"}, map[string][]string{"Content-Type": {"text/plain"}}, "нет", false}},
		"bytes": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte{0xff, 0, 1})
		}, response{200, map[string]string{"Content-Type": "image/png"}, map[string][]string{"Content-Type": {"image/png"}}, "/wAB", true}},
		"repeated header": {header("Link", "a", "Link", "b"), headers(map[string][]string{"Link": {"a", "b"}})},
		"removed": {header("Host", "x", "Authorization", "x", "User-Agent", "x", "Connection", "x", "Max-Forwards", "x", "Cookie", "x"),
			headers(none)},
		"remapped": {header("Content-MD5", "a", "Date", "b", "Server", "c", "WWW-Authenticate", "d"), headers(map[string][]string{
			"X-Yf-Remapped-Content-Md5": {"a"}, "X-Yf-Remapped-Date": {"b"}, "X-Yf-Remapped-Server": {"c"}, "X-Yf-Remapped-Www-Authenticate": {"d"},
		})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { tc.handle(w) })
			out, err := ycf.Serve(context.Background(), h, []byte(`{"httpMethod":"GET","path":"/"}`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, decode[response](t, out)); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServe_Failures(t *testing.T) {
	t.Parallel()
	refused := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set(name, "x") }
	}
	ok := func(http.ResponseWriter, *http.Request) {}
	tests := map[string]struct {
		event   string
		handler http.HandlerFunc
		want    string
	}{
		"not JSON":           {`{`, ok, "decode HTTP event"},
		"body not base64":    {`{"body":"*","isBase64Encoded":true}`, ok, "decode body"},
		"method":             {`{"httpMethod":"A B"}`, ok, "method"},
		"path":               {`{"path":"/%zz"}`, ok, "path"},
		"panic":              {`{}`, func(http.ResponseWriter, *http.Request) { panic("x") }, "panicked at"},
		"status":             {`{}`, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(7) }, "panicked at"},
		"Via":                {`{}`, refused("Via"), "Via"},
		"Proxy-Authenticate": {`{}`, refused("Proxy-Authenticate"), "Proxy-Authenticate"},
		"Transfer-Encoding":  {`{}`, refused("Transfer-Encoding"), "Transfer-Encoding"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ycf.Serve(context.Background(), tc.handler, []byte(tc.event))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Serve: got %v, want an error about %q", err, tc.want)
			}
			if p := (*ycf.Panic)(nil); errors.As(err, &p) != strings.HasPrefix(tc.want, "panicked") {
				t.Errorf("Serve: got %T", err)
			}
		})
	}
}

func FuzzServe(f *testing.F) {
	for _, name := range []string{"http-direct.json", "http-gateway-01.json", "http-gateway-10.json", "queue.json"} {
		f.Add(fixture(f, name))
	}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || int64(len(body)) != r.ContentLength || !strings.HasPrefix(r.URL.Path, "/") {
			panic("the request contradicts itself")
		}
		_, _ = w.Write(body)
	})
	f.Fuzz(func(t *testing.T, event []byte) {
		out, err := ycf.Serve(context.Background(), echo, event)
		if p := (*ycf.Panic)(nil); errors.As(err, &p) {
			t.Fatal(err)
		}
		if err == nil && decode[response](t, out).StatusCode != http.StatusOK {
			t.Fatalf("response: %s", out)
		}
	})
}

func FuzzQueueEvent(f *testing.F) {
	f.Add(fixture(f, "queue.json"))
	f.Add(fixture(f, "queue-camel.json"))
	f.Add([]byte(`{"messages":[1,{"details":{"message":{"body":7,"attributes":{"SentTimestamp":true}}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { roundTrip[ycf.QueueEvent](t, data) })
}

func FuzzTimerEvent(f *testing.F) {
	f.Add(fixture(f, "timer.json"))
	f.Fuzz(func(t *testing.T, data []byte) { roundTrip[ycf.TimerEvent](t, data) })
}

// roundTrip: whatever could be read is written so that it is read the same.
func roundTrip[T any](t *testing.T, data []byte) {
	var ev T
	if json.Unmarshal(data, &ev) != nil {
		return
	}
	once, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(decode[T](t, once))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(once), string(twice)); diff != "" {
		t.Errorf("second reading (-first +second):\n%s", diff)
	}
}
