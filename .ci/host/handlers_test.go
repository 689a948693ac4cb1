package host_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	host "supportbot/.ci/host"
)

// handlers gives the host and the plugin of testdata/handlers.
func handlers(t *testing.T) (program, plugin string) {
	t.Helper()
	w, program := tools(t)
	return program, compile(t, "handlers", func(ctx context.Context) (string, error) {
		return w.Plugin(ctx, "handlers", "./.ci/host/testdata/handlers")
	})
}

func handler(t *testing.T, name string, env map[string]string) *host.Process {
	t.Helper()
	program, plugin := handlers(t)
	return start(t, host.Config{Host: program, Plugin: plugin, Handler: name, Function: "handlers", Env: env})
}

// Each form of a handler that is documented is called with its event.
func TestRuntime_Handlers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		handler, event, want, err string
	}{
		"event":          {"Trigger", `{"name":"a"}`, "", ""},
		"error":          {"Trigger", `{"name":""}`, "", "UserCodeError: no name"},
		"other type":     {"Trigger", `{"name":1}`, "", "UserCodeError: decode event: json: cannot unmarshal number into Go struct field Event.name of type string"},
		"value":          {"Value", `{"name":"a"}`, `{"name":"a!"}`, ""},
		"bytes":          {"Bytes", `{"name":"a"}`, `{"function":"handlers","size":12}`, ""},
		"text":           {"Text", `{"name":"a"}`, `"{\"name\":\"a\"}"`, ""},
		"neither":        {"Nothing", `{}`, "", ""},
		"panic":          {"Panics", `{}`, "", "UserCodePanic: as it does"},
		"no HTTP event":  {"Function", `[]`, "", "UserCodeError: decode HTTP event: json: cannot unmarshal array into Go value of type main.httpEvent"},
		"no HTTP method": {"Function", `{"httpMethod":"?"}`, "", `UserCodeError: make request: net/http: invalid method "?"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := handler(t, tc.handler, nil)
			for range 2 { // an instance lives on, also after a panic
				a, err := p.Call([]byte(tc.event))
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if a.Error != nil {
					got = a.Error.Error()
				}
				if got != tc.err || string(a.Result) != tc.want {
					t.Errorf("got %s, error %q, want %s, %q", a.Result, got, tc.want, tc.err)
				}
			}
		})
	}
}

func TestRuntime_RefusesHandlers(t *testing.T) {
	t.Parallel()
	program, plugin := handlers(t)
	for name, want := range map[string]string{
		"NoError": "no documented form", "TooMuch": "more than a context and a body", "Absent": "symbol Absent not found",
	} {
		_, err := host.Start(host.Config{Host: program, Plugin: plugin, Handler: name})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("handler %s: got %v, want an error that contains %q", name, err, want)
		}
	}
}

// What a function writes to standard output is its log, and does not get between
// the answers.
func TestRuntime_Log(t *testing.T) {
	t.Parallel()
	p := handler(t, "Trigger", nil)
	if err := p.Trigger([]byte(`{"name":"one"}`)); err != nil {
		t.Fatal(err)
	}
	p.Close() // its log is whole then
	if got, want := p.Log.String(), "logged one\n"; got != want {
		t.Errorf("log: got %q, want %q", got, want)
	}
}

func TestRuntime_HTTP(t *testing.T) {
	t.Parallel()
	gateway := httptest.NewServer(handler(t, "Function", nil))
	t.Cleanup(gateway.Close)
	for contentType, body := range map[string]string{
		"application/json": `{"a":"привет"}`, "application/octet-stream": "\xff\x00\"", "": "",
	} {
		r, err := http.NewRequest("PUT", gateway.URL+"/v1/a%20b?q=1&q=2", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("X-Secret", "s")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		want := "PUT /v1/a%20b?q=1&q=2 " + r.URL.Host + " s " + body
		if res.StatusCode != http.StatusAccepted || string(text) != want {
			t.Errorf("%s: got %d %q, want 202 %q", contentType, res.StatusCode, text, want)
		}
		if diff := cmp.Diff([]string{"1", "2"}, res.Header.Values("X-Many")); diff != "" {
			t.Errorf("repeated header (-want +got):\n%s", diff)
		}
	}
}

// The host decides a plugin's GODEBUG: without the setting in the environment a
// pattern of Go 1.22 is not understood.
func TestRuntime_Settings(t *testing.T) {
	t.Parallel()
	event, err := json.Marshal(map[string]any{"httpMethod": "GET", "path": "/v1/17"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		env  map[string]string
		want int
	}{
		"set": {nil, http.StatusOK}, "not set": {map[string]string{"GODEBUG": ""}, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := handler(t, "Object", tc.env).Call(event)
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ StatusCode int }
			if err := json.Unmarshal(a.Result, &got); err != nil || got.StatusCode != tc.want {
				t.Errorf("got %s, %v, want status %d", a.Result, err, tc.want)
			}
		})
	}
}
