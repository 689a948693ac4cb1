package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/person"
	"supportbot/shared/queue"
)

// fullSpec has everything that a broadcast can have.
func fullSpec() broadcast.Spec {
	at := time.Date(2027, 5, 6, 7, 8, 9, 0, time.UTC)
	return broadcast.Spec{
		Kind: broadcast.Maintenance, Title: "Работы \x00 \\u0000",
		Content: broadcast.Content{
			Texts: map[string]string{"ru": "**Работы** \x00 \u2028 😀", "en": "Work"}, Fallback: "en",
			Buttons: []broadcast.Button{{Labels: map[string]string{"ru": "Где", "en": "Where"}, URL: "https://example.org/?a=1&b=<2>"}},
		},
		Audience: broadcast.Audience{
			Messengers: []messenger.Name{messenger.VK}, Locales: []string{"ru"}, Roles: []person.Role{person.Agent}, Tags: []string{"beta"},
			Registered: &broadcast.Span{From: &at}, Seen: &broadcast.Span{To: &at}, OpenTicket: ptr(false), Customers: []int64{1 << 41},
		},
		Urgency: 9, Rate: 2.5, Hours: &broadcast.Hours{From: "09:00", To: "21:00", Zone: "Europe/Moscow"},
	}
}

func TestCreate_KeepsEverything(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	spec := fullSpec()
	b, created, jobs, err := s.db.CreateBroadcast(s.ctx, broadcast.New{Spec: spec, By: "key:ci", Key: "k", Fingerprint: "f"})
	if err != nil || !created || len(jobs) != 1 {
		t.Fatalf("create: %v, %+v, %v", created, jobs, err)
	}
	want := spec
	want.Title = "Работы  \\u0000"                  // what a text column cannot hold
	want.Texts["ru"] = "**Работы** \ufffd \u2028 😀" // nor jsonb
	if diff := cmp.Diff(want, s.broadcast(b.ID).Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if b.State != broadcast.Planning || b.CreatedBy != "key:ci" || b.CreatedAt.IsZero() || b.StartedAt != nil {
		t.Errorf("broadcast %+v", b)
	}
	draft := broadcast.New{Spec: spec, By: "person:7"}
	draft.Draft = true
	d, _, jobs, err := s.db.CreateBroadcast(s.ctx, draft)
	if err != nil || d.State != broadcast.Draft || !d.Draft || len(jobs) != 0 {
		t.Errorf("draft: %+v, %+v, %v", d.State, jobs, err)
	}
	d, err = s.db.UpdateDraft(s.ctx, d.ID, news("other"))
	if err != nil {
		t.Fatal(err)
	}
	other := news("other")
	other.Draft = true
	if diff := cmp.Diff(other, d.Spec); diff != "" {
		t.Errorf("changed draft (-want +got):\n%s", diff)
	}
}

func TestCreate_ThePlanningJob(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		start time.Duration
		state broadcast.State
	}{{"at once", 0, broadcast.Planning}, {"in the past", -time.Hour, broadcast.Planning}, {"later", 3 * time.Hour, broadcast.Scheduled}} {
		for _, draft := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, draft first: %v", tc.name, draft), func(t *testing.T) {
				t.Parallel()
				s := newStudio(t, 2)
				s.ctx = obs.WithCorrelation(s.ctx, "request-1")
				spec := news("text")
				spec.Urgency, spec.Draft = 3, draft
				if tc.start != 0 {
					spec.StartAt = ptr(time.Now().Add(tc.start).UTC())
				}
				b, jobs := s.create(spec)
				if draft {
					var err error
					if b, jobs, err = s.db.StartBroadcast(s.ctx, b.ID); err != nil {
						t.Fatal(err)
					}
				}
				if b.State != tc.state || len(jobs) != 1 {
					t.Fatalf("state %s, jobs %+v; want %s", b.State, jobs, tc.state)
				}
				want := max(tc.start, 0)
				if d := jobs[0].RunIn - want; d > time.Second || d < -time.Minute {
					t.Errorf("runs in %s, want %s", jobs[0].RunIn, want)
				}
				j, err := s.db.Find(s.ctx, broadcast.PlanKey(b.ID))
				if err != nil || j == nil {
					t.Fatal(j, err)
				}
				if j.Lane != broadcast.PlanLane(b.ID) || j.Queue != broadcast.Queue || j.Kind != broadcast.KindPlan || j.Priority != 3 || j.CorrelationID != "request-1" {
					t.Errorf("job %+v", j)
				}
			})
		}
	}
}

func TestCreate_Idempotent(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 8)
	n := broadcast.New{Spec: news("text"), By: "key:a", Key: "one", Fingerprint: "f"}
	ids, made := make([]int64, 8), make([]bool, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Add(1)
		go func() {
			defer wg.Done()
			b, created, jobs, err := s.db.CreateBroadcast(s.ctx, n)
			if err != nil || len(jobs) != 1 || jobs[0].New != created {
				t.Errorf("create: %v, %+v, %v", created, jobs, err)
			}
			ids[i], made[i] = b.ID, created
		}()
	}
	wg.Wait()
	slices.Sort(ids)
	if ids[0] != ids[7] || ids[0] == 0 {
		t.Errorf("broadcasts %v, want one", ids)
	}
	if n := len(slices.DeleteFunc(made, func(b bool) bool { return !b })); n != 1 {
		t.Errorf("created %d times", n)
	}
	other := n
	other.Fingerprint = "g"
	if _, _, _, err := s.db.CreateBroadcast(s.ctx, other); !errors.Is(err, job.ErrMismatch) {
		t.Errorf("another body: %v, want ErrMismatch", err)
	}
	other.By = "key:b" // somebody else's key is another
	if b, created, _, err := s.db.CreateBroadcast(s.ctx, other); err != nil || !created || b.ID == ids[0] {
		t.Errorf("another caller: %d, %v, %v", b.ID, created, err)
	}
	other.Key = ""
	for range 2 {
		if _, created, _, err := s.db.CreateBroadcast(s.ctx, other); err != nil || !created {
			t.Errorf("without a key: %v, %v", created, err)
		}
	}
	// What it has become since is what the same request is answered with.
	s.exec(`UPDATE broadcasts SET state = 'finished' WHERE id = $1`, ids[0])
	b, created, jobs, err := s.db.CreateBroadcast(s.ctx, n)
	if err != nil || created || b.State != broadcast.Finished || len(jobs) != 0 {
		t.Errorf("later: %s, %v, %+v, %v", b.State, created, jobs, err)
	}
}

func TestCreate_Parents(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	for _, from := range broadcast.States {
		s.exec(`DELETE FROM identities`)
		id, _ := inState(s, from)
		for relation, ok := range map[broadcast.Relation]bool{
			broadcast.Test:       true,
			broadcast.Correction: from == broadcast.Cancelled || from == broadcast.Finished,
		} {
			b, _, _, err := s.db.CreateBroadcast(s.ctx, broadcast.New{Spec: news("child"), By: "key:a", Parent: id, Relation: relation})
			if ok && (err != nil || b.Parent != id || b.Relation != relation) || !ok && !errors.Is(err, job.ErrNotFound) {
				t.Errorf("%s of a %s one: %+v, %v; want allowed %v", relation, from, b, err, ok)
			}
		}
	}
	if n := get[int](s, `SELECT count(*) FROM broadcasts WHERE relation = 'correction'`); n != 2 {
		t.Errorf("%d corrections, want 2: a refused one leaves nothing", n)
	}
	s.exec(`UPDATE broadcasts SET finished_at = finished_at - interval '90 days'`)
	id := get[int64](s, `SELECT id FROM broadcasts WHERE state = 'finished' LIMIT 1`)
	for _, parent := range []int64{id, 1 << 40} {
		if _, _, _, err := s.db.CreateBroadcast(s.ctx, broadcast.New{Spec: news("late"), By: "key:a", Parent: parent, Relation: broadcast.Correction}); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("correction of one that is not there (any more): %v, want ErrNotFound", err)
		}
	}
}

// A scheduled broadcast starts on time: the reconciler's pass before it sends a hint
// that arrives then.
func TestScheduled_IsHintedAtItsTime(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	spec := news("text")
	spec.StartAt = ptr(time.Now().Add(3 * time.Hour))
	b, jobs := s.create(spec)
	if jobs[0].RunIn <= queue.MaxDelay {
		t.Fatalf("runs in %s", jobs[0].RunIn)
	}
	forgotten := func() []job.Inserted {
		t.Helper()
		list, err := s.db.Forgotten(s.ctx, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got := forgotten(); len(got) != 0 {
		t.Errorf("hours before: %+v", got)
	}
	s.exec(`UPDATE jobs SET run_at = clock_timestamp() + interval '50 s' WHERE key = $1`, broadcast.PlanKey(b.ID))
	got := forgotten()
	if len(got) != 1 || got[0].RunIn < 40*time.Second || got[0].RunIn > 50*time.Second {
		t.Fatalf("a minute before: %+v, want one with what is left", got)
	}
	if err := s.db.Published(s.ctx, []int64{got[0].ID}); err != nil {
		t.Fatal(err)
	}
	if got := forgotten(); len(got) != 0 {
		t.Errorf("hinted at again: %+v", got)
	}
}
