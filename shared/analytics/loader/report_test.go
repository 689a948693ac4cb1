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

// journal is what a loader logs.
type journal struct{ bytes.Buffer }

// of lets a loader log into it.
func (j *journal) of(d *loader.Deps) { d.Log = slog.New(slog.NewJSONHandler(j, nil)) }

// closing gives the last line.
func (j *journal) closing(t *testing.T) (line map[string]any) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(j.Bytes()), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &line); err != nil {
		t.Fatal(err)
	}
	return line
}

// gauges gives what of the last line tells how it went.
func (j *journal) gauges(t *testing.T) map[string]any {
	t.Helper()
	all, some := j.closing(t), map[string]any{}
	for _, key := range []string{"msg", "level", "duty", "outcome", "tickets", "rows", "gone", "incomplete", "owed", "lag_seconds"} {
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
	var log journal
	s := w.store(log.of)
	r := s.all(t)
	want := map[string]any{
		"msg": "load has ended", "level": "INFO", "duty": "analytics:history", "outcome": "done", "tickets": 3.0, "rows": float64(r.Rows), "gone": 0.0, "incomplete": 0.0, "owed": 0.0,
		"lag_seconds": r.Lag,
	}
	if diff := cmp.Diff(want, log.gauges(t)); diff != "" || r.Rows < 10 || r.Lag < 120 {
		t.Errorf("%+v, line (-want +got):\n%s", r, diff)
	}

	s.mustLive(t)
	w.history(1)
	w.tracker.Faults().Add(fault.Fault{Method: "POST /v3/issues/_search", Kind: fault.Status, Status: 401, Times: 1})
	r, err := s.Live(ctx)
	if err == nil {
		t.Fatal("there is no error")
	}
	want = map[string]any{
		"msg": "load broke off, the next one goes on", "level": "ERROR", "duty": "analytics", "outcome": "broken off", "tickets": 0.0, "rows": 0.0,
		"gone": 0.0, "incomplete": 0.0, "owed": 0.0, "lag_seconds": r.Lag,
	}
	if diff := cmp.Diff(want, log.gauges(t)); diff != "" || r.Lag < 3600 {
		t.Errorf("%+v, line (-want +got):\n%s", r, diff)
	}
}
