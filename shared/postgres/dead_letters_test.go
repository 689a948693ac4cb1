package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"supportbot/shared/job"
)

// A letter is kept once. The job that it hints at is told of it, unless it has ended.
func TestKeepDead(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 2)
	ctx := context.Background()
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
	exec(t, url, `UPDATE jobs SET stage = 'begin send', attempts = 3 WHERE key = 'running'`)
	sent := time.Now().Add(-time.Hour).Truncate(time.Microsecond).UTC()
	var letters []job.DeadLetter
	for i, m := range []string{"m-0", "m-1", "m-2"} {
		letters = append(letters, job.DeadLetter{Queue: "tickets", Message: m, Job: made[i].ID, CorrelationID: "vk:1", Body: "the hint", SentAt: sent, Receives: 5})
	}
	letters = append(letters,
		job.DeadLetter{Queue: "tickets", Message: "m-3", Job: 1 << 40, CorrelationID: "telegram:1:2", Body: `{"job":1099511627776,"correlation_id":"telegram:1:2"}`},
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
	first, second, cut, gone := got[5], got[4], got[1], got[2]
	if second.State != job.Running || second.Stage != "begin send" || second.Attempts != 3 || second.Receives != 5 {
		t.Errorf("of one that ran: %+v, want it as it was", second)
	}
	if first.Job != made[0].ID || first.State != job.Completed || first.Body != "" || first.CorrelationID != "vk:1" || !first.SentAt.Equal(sent) || first.KeptAt.IsZero() {
		t.Errorf("of a job: %+v", first)
	}
	if gone.Job != 0 || gone.State != "" || gone.Body+gone.CorrelationID != "" || !gone.SentAt.IsZero() {
		t.Errorf("of a job that is gone: %+v, want nothing of it", gone)
	}
	if n := len(cut.Body); n > job.DeadBody || n < job.DeadBody-3 || !utf8.ValidString(cut.Body) {
		t.Errorf("%d bytes are kept: %.20q", n, cut.Body)
	}
	if page, err := db.DeadLetters(ctx, got[0].ID, 1); err != nil || len(page) != 1 || page[0].ID != got[1].ID {
		t.Errorf("the next page: %+v, %v", page, err)
	}
}

// A queue that gives up hint after hint of a job leaves what else happened to it in sight.
func TestKeepDead_LeavesFailuresInSight(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, 2), context.Background()
	made, err := db.Insert(ctx, []job.New{newJob("k", "lane", 1)})
	if err != nil {
		t.Fatal(err)
	}
	letter := func(n int) {
		if _, err := db.KeepDead(ctx, []job.DeadLetter{{Queue: "tickets", Message: fmt.Sprint("m-", n), Job: made[0].ID}}); err != nil {
			t.Fatal(err)
		}
	}
	letter(0)
	for range 9 { // and is replayed
		failed(t, db, made[0].ID, job.VerdictReview, "broken")
		if _, err := db.Replay(ctx, made[0].ID, "person:1"); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 30 {
		letter(n + 1)
	}
	r, err := db.JobRecord(ctx, made[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	what := ""
	for _, f := range r.Failures {
		what += f.What[:1]
	}
	if want := "d" + strings.Repeat("rr", 9) + "d"; what != want || !strings.Contains(r.Failures[len(r.Failures)-1].Error, "m-30 of") {
		t.Errorf("failures are %s, the last is %+v; want %s, and the latest letter", what, r.Failures[len(r.Failures)-1], want)
	}
}
