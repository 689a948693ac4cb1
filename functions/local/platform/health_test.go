package platform_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"supportbot/functions/local/deploy"
)

// TestDoctor_FromOutside: who reaches no database and has a key of the API is told by
// the platform itself what waits for a person, and which schema it has.
func TestDoctor_FromOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.fresh = true })
	w.key()
	w.until("measured", 1, `SELECT count(*) FROM gauges`)
	examine := func() (string, error) {
		var out bytes.Buffer
		vars := maps.Clone(w.env)
		vars["WEBHOOKS"], vars["CONSOLE"], vars["API_KEY"] = w.url, w.url, apiKey
		delete(vars, "DATABASE_URL")
		d, err := deploy.New(deploy.Config{Out: &out, Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }})
		if err != nil {
			t.Fatal(err)
		}
		err = d.Doctor(w.ctx)
		return out.String(), err
	}
	out, err := examine()
	if err != nil {
		t.Errorf("all is well: %v\n%s", err, out)
	}
	for _, want := range []string{"the schema of Postgres has version", "no job is in review", "the reconciler measured within"} {
		if !strings.Contains(out, "ok       "+want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
	w.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, run_at) VALUES ('tickets', 'k', 'a', 'a', true, '{}', 'needs_review', now())`)
	if out, err = examine(); !errors.Is(err, deploy.ErrUnwell) || !strings.Contains(out, "FAILURE  1 job in review") {
		t.Errorf("a job waits: %v\n%s", err, out)
	}
}
