package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"supportbot/shared/job"
)

// A letter is kept once. The job that it hints at is told of it, unless it has ended.
func TestKeepDead(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, 2), context.Background()
	made, err := db.Insert(ctx, []job.New{newJob("done", "a", 1), newJob("running", "b", 1), newJob("review", "c", 1)})
	if err != nil {
		t.Fatal(err)
	}
	failed(t, db, made[0].ID, job.VerdictCompleted, "")
	failed(t, db, made[2].ID, job.VerdictReview, "broken")
	running, err := db.Claim(ctx, "tickets", made[1].ID, tokenB)
	if err != nil || running.Job == nil {
		t.Fatalf("claim: %+v, %v", running, err)
	}
	sent := time.Now().Add(-time.Hour).Truncate(time.Microsecond).UTC()
	var letters []job.DeadLetter
	for i, m := range []string{"m-0", "m-1", "m-2"} {
		letters = append(letters, job.DeadLetter{Queue: "tickets", Message: m, Job: made[i].ID, CorrelationID: "vk:1", Body: "the hint", SentAt: sent})
	}
	letters = append(letters,
		job.DeadLetter{Queue: "tickets", Message: "m-3", Job: 1 << 40, Body: `{"job":1099511627776}`},
		job.DeadLetter{Queue: "tickets", Message: "m-4", Body: "a\x00\xff" + strings.Repeat("ю", job.DeadBody)},
		job.DeadLetter{Queue: "deliveries", Message: "m-4", Body: "another queue's"})
	for i, want := range []int{len(letters), 0} {
		if kept, err := db.KeepDead(ctx, letters); err != nil || kept != want {
			t.Fatalf("time %d: kept %d, %v, want %d", i, kept, err, want)
		}
	}
	for i, want := range []int{0, 1, 1} {
		r, err := db.JobRecord(ctx, made[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		dead := 0
		for _, f := range r.Failures {
			if f.What == job.FailureDead && strings.Contains(f.Error, letters[i].Message+" of tickets") && !f.At.IsZero() {
				dead++
			}
		}
		if dead != want {
			t.Errorf("%s: %d dead letters in %+v, want %d", r.Key, dead, r.Failures, want)
		}
	}
	if _, err := db.Finish(ctx, job.Finish{Job: running.Job, Token: tokenB, Verdict: job.VerdictCompleted}); err != nil {
		t.Errorf("the one that ran: %v", err)
	}
	got, err := db.DeadLetters(ctx, 1<<62, 10)
	if err != nil || len(got) != len(letters) {
		t.Fatalf("listed %+v, %v", got, err)
	}
	first, cut, gone := got[5], got[1], got[2]
	if first.Job != made[0].ID || first.State != job.Completed || first.Body != "" || first.CorrelationID != "vk:1" || !first.SentAt.Equal(sent) || first.KeptAt.IsZero() {
		t.Errorf("of a job: %+v", first)
	}
	if gone.Job != 0 || gone.State != "" || gone.Body != letters[3].Body || !gone.SentAt.IsZero() {
		t.Errorf("of no job: %+v", gone)
	}
	if n := len(cut.Body); n > job.DeadBody || n < job.DeadBody-3 || !utf8.ValidString(cut.Body) {
		t.Errorf("%d bytes are kept: %.20q", n, cut.Body)
	}
	if page, err := db.DeadLetters(ctx, got[0].ID, 1); err != nil || len(page) != 1 || page[0].ID != got[1].ID {
		t.Errorf("the next page: %+v, %v", page, err)
	}
}
