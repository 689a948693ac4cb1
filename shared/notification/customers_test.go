package notification_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
	"supportbot/shared/tracker"
)

// dossiers stands for package privacy: what the database knows, and Tracker, which may
// be away.
type dossiers struct {
	db   *postgres.DB
	away bool
}

func (d *dossiers) Dossier(ctx context.Context, id int64) (person.Dossier, error) {
	if d.away {
		return person.Dossier{}, &tracker.Error{Kind: tracker.Temporary, Call: "CANARY"}
	}
	all, err := d.db.Dossier(ctx, id)
	all.Tickets = []person.Ticket{}
	return all, err
}

// customers looks one up, and lets them be exported and forgotten.
func (d *desk) customers() {
	id := d.person(`tags = '{beta}', banned_at = now(), ban_reason = 'CANARY'`, messenger.Telegram)
	d.call("GET", "/v1/customers", nil)
	d.call("GET", "/v1/customers?messenger=icq&user=1", nil)
	d.call("GET", "/v1/customers?messenger=vk&user=1", nil)
	var found struct{ Customer int64 }
	d.call("GET", fmt.Sprintf("/v1/customers?messenger=telegram&user=%d", 1<<40+id), nil).into(&found)
	if found.Customer != id {
		d.t.Errorf("found %d, want %d", found.Customer, id)
	}
	at := func(what string) string { return fmt.Sprintf("/v1/customers/%d/%s", id, what) }
	d.call("GET", at("export"), nil)
	var first, second struct {
		Job   int64
		State job.State
	}
	d.call("POST", at("erase"), nil).into(&first)
	d.call("POST", at("erase"), nil).into(&second)
	if first != second || first.Job == 0 {
		d.t.Errorf("erasures %+v and %+v, want one", first, second)
	}
	d.forget(id)
	d.exec(`UPDATE jobs SET state = 'completed', finished_at = now() WHERE id = $1`, first.Job)
	d.call("POST", at("erase"), nil).into(&second)
	if second.Job != first.Job || second.State != job.Completed {
		d.t.Errorf("after it: %+v", second)
	}
	if got := d.call("GET", at("export"), nil); got.status != http.StatusNotFound {
		d.t.Errorf("export after it: %d", got.status)
	}
}

// TestCustomers_TrackerAway: an export without the tickets would not be all.
func TestCustomers_TrackerAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.dossiers.away = true
	got := d.call("GET", "/v1/customers/1/export", nil)
	if p := got.problem(); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || p.Detail == "" {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// forget erases a customer as they are now.
func (d *desk) forget(id int64) {
	d.t.Helper()
	steps, err := d.db.Steps(d.ctx, id)
	d.must(err)
	_, err = d.db.Forget(d.ctx, id, steps)
	d.must(err)
}
