package notification_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCallerLeaves: a page that is closed, or asks something else, is no fault that
// somebody has to look at.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, path := range []string{"/v1/jobs", "/v1/broadcasts"} {
		ctx, leave := context.WithCancel(d.ctx)
		leave()
		r := httptest.NewRequest(http.MethodGet, path, nil).WithContext(ctx)
		r.Header.Set("X-API-Key", adminKey)
		d.api.ServeHTTP(httptest.NewRecorder(), r)
		d.log.mu.Lock()
		said := d.log.text.String()
		d.log.mu.Unlock()
		if !strings.Contains(said, "api caller left") || !strings.Contains(said, path) || strings.Contains(said, `"level":"ERROR"`) {
			t.Errorf("%s: the log says %s", path, said)
		}
	}
}
