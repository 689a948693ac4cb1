package notification_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
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

// TestErasure_IsNotCalledOff: an operator cannot end an erasure before it is done: asked
// for again it would not begin. They replay it; other jobs are theirs to end.
func TestErasure_IsNotCalledOff(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	made, err := d.db.Insert(d.ctx, []job.New{person.EraseJob(d.person("", messenger.Telegram)), person.DetachJob(7, "i1")})
	d.must(err)
	at := func(i int, what string) string { return fmt.Sprintf("/v1/jobs/%d/%s", made[i].ID, what) }
	remark := map[string]string{"remark": "by hand"}
	for _, state := range []string{"queued", "needs_review"} {
		d.exec(`UPDATE jobs SET state = $1`, state)
		for what, body := range map[string]any{"cancel": nil, "settle": remark} {
			if got := d.call("POST", at(0, what), body); got.status != http.StatusConflict || !strings.Contains(string(got.body), "cannot be called off") {
				t.Errorf("%s while it is %s: %d %s", what, state, got.status, got.body)
			}
		}
		if n := d.number(`SELECT count(*) FROM jobs WHERE key LIKE 'erase:%' AND state = $1 AND cancel_requested_at IS NULL`, state); n != 1 {
			t.Errorf("it is not %s any more", state)
		}
	}
	if got := d.call("POST", at(0, "replay"), nil); got.status != http.StatusOK {
		t.Errorf("replay: %d %s", got.status, got.body)
	}
	if got := d.call("POST", at(1, "settle"), remark); got.status != http.StatusOK {
		t.Errorf("settle a ticket that was mended by hand: %d %s", got.status, got.body)
	}
	d.exec(`UPDATE jobs SET state = 'completed' WHERE id = $1`, made[0].ID)
	if got := d.call("POST", at(0, "cancel"), nil); got.status != http.StatusConflict || !strings.Contains(string(got.body), "what has ended") {
		t.Errorf("cancel what is over: %d %s", got.status, got.body)
	}
	for _, what := range []string{"cancel", "settle"} {
		if got := d.call("POST", "/v1/jobs/987654321/"+what, remark); got.status != http.StatusNotFound {
			t.Errorf("%s none: %d %s", what, got.status, got.body)
		}
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
