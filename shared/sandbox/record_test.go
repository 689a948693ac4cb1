package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
)

// TestCalls_Whose: of each call the logs say whom its caller asked, and whether a fault
// answered it or the server itself.
func TestCalls_Whose(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(*fault.Set, *fault.Log) (h http.Handler, path string, end func()){
		"Telegram": func(s *fault.Set, l *fault.Log) (http.Handler, string, func()) {
			h := telegram.New(telegram.Config{Token: "1:a", Faults: s, Calls: l})
			return h, "/bot1:a/getMe", h.Close
		},
		"VK": func(s *fault.Set, l *fault.Log) (http.Handler, string, func()) {
			h := vk.New(vk.Config{Token: "a", GroupID: 1, Faults: s, Calls: l})
			return h, "/method/users.get", h.Close
		},
		"Tracker": func(s *fault.Set, l *fault.Log) (http.Handler, string, func()) {
			h := tracker.New(tracker.Config{Token: "a", Faults: s, Calls: l})
			return h, "/v3/myself", h.Close
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var faults fault.Set
			var calls fault.Log
			h, path, end := serve(&faults, &calls)
			t.Cleanup(end)
			kinds := []fault.Kind{"", fault.Status, fault.HTMLAfter, fault.Delay, fault.HTMLBefore, ""}
			for i, kind := range kinds {
				if kind != "" {
					faults.Add(fault.Fault{Method: "*", Kind: kind, Status: http.StatusInternalServerError, Times: 1})
					faults.Add(fault.Fault{Method: "GET /v3/*", Kind: kind, Status: http.StatusInternalServerError, Times: 1})
				}
				r := httptest.NewRequest(http.MethodGet, path, strings.NewReader(""))
				r.Host = "process.test"
				h.ServeHTTP(httptest.NewRecorder(), r)
				faults.Clear()
				got := calls.Since(i)
				if len(got) != 1 || got[0].From != "process.test" || got[0].Fault != kind {
					t.Errorf("under %q: got %+v", kind, got)
				}
			}
		})
	}
}
