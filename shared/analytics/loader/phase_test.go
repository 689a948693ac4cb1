package loader_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics/loader"
	"supportbot/shared/catalogue"
	"supportbot/shared/clickhouse/clickhousetest"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

// A custom status means what the catalogue says; of others nobody has said it, and
// they count as open.
func TestPhases_CustomStatuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n, status := range []string{"waitingSupplier", "needInfo", "closed"} {
		e := sandbox.Edit{Status: status}
		if status == "closed" {
			e.Resolution = "fixed"
		}
		w.do(w.open(n), e)
	}
	w.clock.Add(time.Hour)
	query := "SELECT status, phase FROM tickets_latest"
	silent := w.store()
	silent.all(t)
	want := []string{"('closed','done')", "('needInfo','paused')", "('waitingSupplier','')"}
	if diff := cmp.Diff(want, clickhousetest.Rows(t, silent.rows, query)); diff != "" {
		t.Errorf("nobody has said (-want +got):\n%s", diff)
	}
	told := w.store(func(d *loader.Deps) {
		book := *d.Catalogue
		book.Statuses = map[string]catalogue.Status{"waitingSupplier": {Phase: ticket.PhaseResolved}, "closed": {Phase: ticket.PhaseOpen}}
		d.Catalogue = &book
	})
	told.all(t)
	want = []string{"('closed','done')", "('needInfo','paused')", "('waitingSupplier','done')"}
	if diff := cmp.Diff(want, clickhousetest.Rows(t, told.rows, query)); diff != "" {
		t.Errorf("the catalogue says so (-want +got):\n%s", diff)
	}
}
