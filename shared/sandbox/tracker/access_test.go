package tracker_test

import (
	"encoding/json"
	"slices"
	"testing"
)

func (w *world) decode(r reply, v any) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(r.raw), v); err != nil {
		w.t.Fatal(err)
	}
}

func TestUserAccess(t *testing.T) {
	t.Parallel()
	w := setup(t)
	rights := func() (list []string) {
		t.Helper()
		var got struct {
			Permissions map[string]struct {
				Users []struct{ ID string } `json:"users"`
			} `json:"permissions"`
		}
		w.decode(w.must("GET", "/v3/queues/SUP/permissions/users/support-robot", ""), &got)
		for right, who := range got.Permissions {
			if len(who.Users) == 1 {
				list = append(list, right)
			}
		}
		slices.Sort(list)
		return list
	}
	if got := rights(); !slices.Equal(got, []string{"CREATE", "GRANT", "READ", "WRITE"}) {
		t.Errorf("got %v", got)
	}
	w.Deny("SUP", "support-robot", "CREATE")
	if got := rights(); !slices.Equal(got, []string{"GRANT", "READ", "WRITE"}) {
		t.Errorf("got %v", got)
	}
	if got := w.call("GET", "/v3/queues/SUP/permissions/users/nobody", ""); got.status != 404 {
		t.Errorf("of nobody: %d", got.status)
	}
}

func TestTeam(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var got struct {
		Team []struct{ ID string } `json:"teamUsers"`
	}
	w.Join("SUP", "support-robot")
	if w.decode(w.must("GET", "/v3/queues/SUP", ""), &got); len(got.Team) != 0 {
		t.Errorf("a team that nobody asked for: %v", got.Team)
	}
	if w.decode(w.must("GET", "/v3/queues/SUP?expand=team", ""), &got); len(got.Team) != 1 {
		t.Errorf("got %v", got.Team)
	}
}

func TestWorkflow(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var all map[string]json.RawMessage
	w.decode(w.must("GET", "/v3/queues/SUP/workflows", ""), &all)
	if len(all) != 1 {
		t.Fatalf("got %v", all)
	}
	for id := range all {
		var got struct {
			Steps []struct {
				Status  struct{ Key string } `json:"status"`
				Actions []struct {
					Target struct{ Key string } `json:"target"`
				} `json:"actions"`
			} `json:"steps"`
		}
		w.decode(w.must("GET", "/v3/workflows/"+id, ""), &got)
		var keys []string
		for _, s := range got.Steps {
			keys = append(keys, s.Status.Key)
			if len(s.Actions) == 0 {
				t.Errorf("nothing leads away from %s", s.Status.Key)
			}
		}
		if !slices.Contains(keys, "waitingSupplier") || !slices.Contains(keys, "closed") {
			t.Errorf("statuses %v", keys)
		}
	}
	if got := w.call("GET", "/v3/workflows/none", ""); got.status != 404 {
		t.Errorf("of none: %d", got.status)
	}
}
