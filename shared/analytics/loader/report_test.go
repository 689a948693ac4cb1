package loader_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics/loader"
	"supportbot/shared/sandbox/fault"
)

// closing gives some of the last line of a log.
func closing(t *testing.T, log *bytes.Buffer) map[string]any {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n"))
	var all map[string]any
	if err := json.Unmarshal(lines[len(lines)-1], &all); err != nil {
		t.Fatal(err)
	}
	log.Reset()
	some := map[string]any{}
	for _, key := range []string{"msg", "level", "duty", "outcome", "tickets", "rows", "owed", "lag_seconds"} {
		if v, there := all[key]; there {
			some[key] = v
		}
	}
	return some
}

// Each call ends with a line that has the load's gauges, whatever became of it.
func TestLoad_ClosingLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.history(3)
	var log bytes.Buffer
	s := w.store(func(d *loader.Deps) { d.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	r := s.all(t)
	want := map[string]any{
		"msg": "load has ended", "level": "INFO", "duty": "analytics:history", "outcome": "done", "tickets": 3.0, "rows": float64(r.Rows), "owed": 0.0,
		"lag_seconds": r.Lag,
	}
	if diff := cmp.Diff(want, closing(t, &log)); diff != "" || r.Rows < 10 || r.Lag < 120 {
		t.Errorf("%+v, line (-want +got):\n%s", r, diff)
	}

	s.mustLive(t)
	closing(t, &log)
	w.history(1)
	w.tracker.Faults().Add(fault.Fault{Method: "POST /v3/issues/_search", Kind: fault.Status, Status: 401, Times: 1})
	r, err := s.Live(ctx)
	if err == nil {
		t.Fatal("there is no error")
	}
	want = map[string]any{
		"msg": "load broke off, the next one goes on", "level": "ERROR", "duty": "analytics", "outcome": "broken off", "tickets": 0.0, "rows": 0.0,
		"owed": 0.0, "lag_seconds": r.Lag,
	}
	if diff := cmp.Diff(want, closing(t, &log)); diff != "" || r.Lag < 3600 {
		t.Errorf("%+v, line (-want +got):\n%s", r, diff)
	}
}
