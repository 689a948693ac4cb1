package vk_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/vk"
)

// TestFault_OfFiles: a code of VK's methods is no status of HTTP; where files are it is a
// server that fails.
func TestFault_OfFiles(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]int{0: http.StatusInternalServerError, 5: http.StatusInternalServerError, http.StatusForbidden: http.StatusForbidden} {
		var faults fault.Set
		faults.Add(fault.Fault{Method: "*", Kind: fault.Status, Status: code})
		s := vk.New(vk.Config{Token: token, GroupID: group, Faults: &faults})
		for _, path := range []string{"/file/photo/1/k/photo.jpg", "/longpoll/1"} {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if w.Code != want {
				t.Errorf("%s under %d: got %d, want %d", path, code, w.Code, want)
			}
		}
		s.Close()
	}
}
