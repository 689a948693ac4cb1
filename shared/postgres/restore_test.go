package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
)

func TestRestore_NothingEarlierGoesOut(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 4)
	ctx := context.Background()
	if at, err := db.LastTrace(ctx); !at.IsZero() || err != nil {
		t.Errorf("of an empty database: %v, %v", at, err)
	}
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, issue := range []string{"known", "other"} {
		if err := db.BeginCursor(ctx, issue, old); err != nil {
			t.Fatal(err)
		}
	}
	for name, at := range map[string]time.Time{"missed:vk:209": old, "tracker": old} {
		if err := db.RaiseWatermark(ctx, name, at); err != nil {
			t.Fatal(err)
		}
	}
	if at, err := db.LastTrace(ctx); !at.Equal(old) || err != nil {
		t.Errorf("last trace: %v, %v, want %v", at, err, old)
	}
	made, err := db.Insert(ctx, []job.New{
		newJob("waits", "a", 1), newJob("runs", "b", 1), newJob("held", "c", 1), newJob("done", "d", 1),
		{Queue: ticket.QueueDeliveries, Kind: ticket.KindLook, Key: "look", Lane: job.Lane{Name: "issue:known"}, Payload: ticket.Look{ID: "known"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if claim, err := db.Claim(ctx, "tickets", made[1].ID, "6ba7b810-9dad-11d1-80b4-00c04fd430c8"); err != nil || claim.Job == nil {
		t.Fatalf("claim: %v, %v", claim, err)
	}
	exec(t, url, `UPDATE jobs SET held_at = now(), held_for = 'waits' WHERE key = 'held'`)
	exec(t, url, `UPDATE jobs SET state = 'completed', finished_at = now() WHERE key = 'done'`)
	if at, err := db.LastTrace(ctx); time.Since(at) > time.Minute || err != nil {
		t.Errorf("last trace: %v, %v, want a moment ago", at, err)
	}
	var keys []string
	left, err := db.Leftovers(ctx)
	for _, l := range left {
		keys = append(keys, l.Key)
	}
	if diff := cmp.Diff([]string{"waits", "runs", "held"}, keys); diff != "" || err != nil {
		t.Errorf("%v, leftovers (-want +got):\n%s", err, diff)
	}

	begun := time.Now().Add(-time.Minute)
	for range 2 { // an operator may not be sure
		if err := db.Restore(ctx, []string{"known", "unknown"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, issue := range []string{"known", "other", "unknown"} {
		if c, err := db.Cursor(ctx, issue); err != nil || c == nil || c.StartsAt.Before(begun) {
			t.Errorf("cursor of %s: %+v, %v, want it to begin now", issue, c, err)
		}
	}
	if err := db.BeginCursor(ctx, "unknown", old); err != nil { // its creation is replayed
		t.Fatal(err)
	}
	if c, err := db.Cursor(ctx, "unknown"); err != nil || c.StartsAt.Before(begun) {
		t.Errorf("cursor of an issue that was opened meanwhile: %+v, %v", c, err)
	}
	for key, want := range map[string]job.State{
		"waits": job.NeedsReview, "runs": job.NeedsReview, "held": job.NeedsReview, "done": job.Completed, "look": job.Accepted,
	} {
		if j, err := db.Find(ctx, key); err != nil || j.State != want {
			t.Errorf("job %s: %v, %v, want %s", key, j.State, err, want)
		}
	}
	if told, err := db.Untold(ctx, 10); len(told) != 0 || err != nil {
		t.Errorf("%d reviews would be told to people, %v", len(told), err)
	}
	if left, err := db.Leftovers(ctx); len(left) != 0 || err != nil {
		t.Errorf("leftovers: %v, %v", left, err)
	}
	if at, err := db.Watermark(ctx, "missed:vk:209"); at.Before(begun) || err != nil {
		t.Errorf("messages are looked for from %v on, %v", at, err)
	}
	if _, err := db.Replay(ctx, made[2].ID, "person:1"); err != nil {
		t.Errorf("replay: %v", err)
	}
	known, err := db.KnownIssues(ctx, []string{"known", "nobody"})
	if diff := cmp.Diff(map[string]bool{"known": true}, known); diff != "" || err != nil {
		t.Errorf("%v, known issues (-want +got):\n%s", err, diff)
	}
}
