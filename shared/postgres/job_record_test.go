package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/job"
)

// failed lets a job's run end with a verdict.
func failed(t *testing.T, db interface {
	Claim(ctx context.Context, queue string, id int64, token string) (job.Claim, error)
	Finish(ctx context.Context, f job.Finish) (job.Finished, error)
}, id int64, verdict job.Verdict, why string) {
	t.Helper()
	ctx := context.Background()
	claim, err := db.Claim(ctx, "tickets", id, tokenA)
	if err != nil || claim.Job == nil {
		t.Fatalf("claim: %+v, %v", claim, err)
	}
	if _, err := db.Finish(ctx, job.Finish{Job: claim.Job, Token: tokenA, Verdict: verdict, Error: why}); err != nil {
		t.Fatal(err)
	}
}

// What went wrong with a job is kept, the latest twenty.
func TestJobRecord_Failures(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, 2), context.Background()
	made, err := db.Insert(ctx, []job.New{newJob("k", "lane", 1)})
	if err != nil {
		t.Fatal(err)
	}
	id := made[0].ID
	for i := range 25 {
		failed(t, db, id, job.VerdictReview, fmt.Sprintf("failure %d", i))
		if _, err := db.Replay(ctx, id, "person:1"); err != nil {
			t.Fatal(err)
		}
	}
	failed(t, db, id, job.VerdictParked, "a service is away") // is none
	got, err := db.JobRecord(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Failures) != 20 || got.Failures[0].Error != "failure 15" || got.Failures[18].Error != "failure 24" || got.Failures[18].What != "review" || got.Failures[18].At.IsZero() {
		t.Errorf("failures %+v", got.Failures)
	}
	if last := got.Failures[19]; last.What != job.FailureReplayed || last.Error != "person:1" {
		t.Errorf("who replayed it: %+v", last)
	}
	if got.Replays != 25 || got.LastError != "a service is away" || got.State != job.Queued {
		t.Errorf("got %+v", got)
	}
	if _, err := db.JobRecord(ctx, id+1000); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("no such job: %v", err)
	}
}

// A job that is in review because no run of it came to its end shows those runs.
func TestJobRecord_Stopped(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, 2), context.Background()
	made, err := db.Insert(ctx, []job.New{newJob("k", "lane", 1)})
	if err != nil {
		t.Fatal(err)
	}
	for range job.MaxLosses {
		failed(t, db, made[0].ID, job.VerdictStopped, "stopped: the function's time is nearly over")
	}
	got, err := db.JobRecord(ctx, made[0].ID)
	if err != nil || got.State != job.NeedsReview || got.Losses != job.MaxLosses {
		t.Fatalf("%+v, %v", got, err)
	}
	if len(got.Failures) != job.MaxLosses || got.Failures[0].What != "lost" || got.Failures[0].Error != "stopped: the function's time is nearly over" {
		t.Errorf("failures %+v", got.Failures)
	}
}

// Whoever asks again to cancel a job that runs hides nothing that happened to it.
func TestCancel_IsNotedOnce(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, 2), context.Background()
	made, err := db.Insert(ctx, []job.New{newJob("k", "lane", 1)})
	if err != nil {
		t.Fatal(err)
	}
	if claim, err := db.Claim(ctx, "tickets", made[0].ID, tokenA); err != nil || claim.Job == nil {
		t.Fatalf("claim: %+v, %v", claim, err)
	}
	for i := range 25 {
		if state, err := db.Cancel(ctx, made[0].ID, fmt.Sprint("person:", i)); err != nil || state != job.Running {
			t.Fatalf("%s, %v", state, err)
		}
	}
	got, err := db.JobRecord(ctx, made[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Failures) != 1 || got.Failures[0].What != job.FailureCancelled || got.Failures[0].Error != "person:0" {
		t.Errorf("failures %+v", got.Failures)
	}
}

func TestJobs_Filter(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, 2), context.Background()
	var news []job.New
	for i, kind := range []string{"deliver.answer", "deliver_answer", "deliver.status", "ticket.create"} {
		j := newJob(fmt.Sprint("k", i), fmt.Sprint("lane", i), 1)
		j.Kind, j.CorrelationID = kind, fmt.Sprint("c", i%2)
		news = append(news, j)
	}
	made, err := db.Insert(ctx, news)
	if err != nil {
		t.Fatal(err)
	}
	failed(t, db, made[3].ID, job.VerdictReview, "the queue is gone: 100%")
	for name, test := range map[string]struct {
		filter job.Filter
		want   []int
	}{
		"all, the newest first": {job.Filter{}, []int{3, 2, 1, 0}},
		"some":                  {job.Filter{Limit: 2}, []int{3, 2}},
		"the next":              {job.Filter{Limit: 2, Before: made[2].ID}, []int{1, 0}},
		"below any id":          {job.Filter{Before: 1 << 62}, []int{3, 2, 1, 0}},
		"of a state":            {job.Filter{States: []job.State{job.NeedsReview, job.Cancelled}}, []int{3}},
		"of a kind":             {job.Filter{Kind: "deliver.answer"}, []int{0}},
		"of kinds":              {job.Filter{Kind: "deliver."}, []int{2, 0}},
		"of a lane":             {job.Filter{Lane: "lane1"}, []int{1}},
		"of a request":          {job.Filter{CorrelationID: "c0"}, []int{2, 0}},
		"with an error":         {job.Filter{Error: "100%"}, []int{3}},
		"with another":          {job.Filter{Error: "100_"}, nil},
	} {
		if test.filter.Limit == 0 {
			test.filter.Limit = 10
		}
		list, err := db.Jobs(ctx, test.filter)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range list {
			got = append(got, r.Key)
		}
		var want []string
		for _, i := range test.want {
			want = append(want, fmt.Sprint("k", i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A review that is settled by hand is over; what waited for the job is for a person.
func TestSettleReview(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, 2), context.Background()
	made, err := db.Insert(ctx, []job.New{newJob("first", "a", 1), newJob("second", "b", 1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.SettleReview(ctx, made[0].ID, "person:1", "early"); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("of a job that is not in review: %v", err)
	}
	claim, err := db.Claim(ctx, "tickets", made[1].ID, tokenB)
	if err != nil || claim.Job == nil {
		t.Fatal(claim, err)
	}
	if _, err := db.Finish(ctx, job.Finish{Job: claim.Job, Token: tokenB, Verdict: job.VerdictHeld, HeldFor: "first"}); err != nil {
		t.Fatal(err)
	}
	failed(t, db, made[0].ID, job.VerdictReview, "nobody knows")
	if err := db.SettleReview(ctx, made[0].ID, "person:1", "called the customer"); err != nil {
		t.Fatal(err)
	}
	got, err := db.JobRecord(ctx, made[0].ID)
	if err != nil || got.State != job.Cancelled || got.Remark != "called the customer" || got.SettledBy != "person:1" || got.FinishedAt.IsZero() {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err = db.JobRecord(ctx, made[1].ID); err != nil || got.State != job.NeedsReview {
		t.Errorf("what waited for it: %+v, %v", got, err)
	}
	if err := db.SettleReview(ctx, made[0].ID, "person:2", "again"); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
}

// Who looks at one request, at what waits for a person or at what is under way, again and
// again, reads little of what is kept.
func TestJobs_ReadsLittle(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, finished_at, correlation_id)
		SELECT 'tickets', 'k', 'over ' || n, 'lane ' || n, true, '{}', 'completed', now(), 'c' || n FROM generate_series(1, 20000) n`)
	s.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, held_at) SELECT 'tickets', 'k', s || n, s || n, true, '{}', s, CASE WHEN n > 2 THEN now() END
		FROM generate_series(1, 3) n, unnest('{accepted,queued}'::text[]) s`)
	s.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, finished_at) VALUES ('tickets', 'k', 'r', 'r', true, '{}', 'needs_review', now())`)
	s.exec(`VACUUM ANALYZE jobs`)
	read := func() int64 {
		s.settleStats()
		return get[int64](s, `SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'jobs'`)
	}
	for name, test := range map[string]struct {
		filter job.Filter
		want   int
	}{
		"a request":        {job.Filter{CorrelationID: "c77"}, 1},
		"reviews":          {job.Filter{States: []job.State{job.NeedsReview}}, 1},
		"what is to begin": {job.Filter{States: []job.State{job.Accepted, job.Queued}}, 6},
		"what runs":        {job.Filter{States: []job.State{job.Running}}, 0},
	} {
		before := read()
		test.filter.Limit = 50
		list, err := s.db.Jobs(s.ctx, test.filter)
		if err != nil || len(list) != test.want {
			t.Errorf("%s: %d, %v, want %d", name, len(list), err, test.want)
		}
		if n := read() - before; n > 200 {
			t.Errorf("%s: %d rows were read", name, n)
		}
	}
}
