package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/job"
)

const (
	tokenA = "00000000-0000-0000-0000-00000000000a"
	tokenB = "00000000-0000-0000-0000-00000000000b"
)

func newJob(key, lane string, sequence int64) job.New {
	return job.New{Queue: "tickets", Kind: "test", Key: key, Lane: job.Lane{Name: lane}, Sequence: sequence, Payload: map[string]string{"key": key}}
}

func TestInsert_FirstOfAKeyWins(t *testing.T) {
	t.Parallel()
	db := open(t, 2)
	ctx := context.Background()
	j := newJob("k", "lane", 1)
	j.Fingerprint = "one"
	first, err := db.Insert(ctx, []job.New{j, newJob("other", "lane", 2)})
	if err != nil || !first[0].New || !first[1].New {
		t.Fatalf("first insert: %+v, %v", first, err)
	}
	again, err := db.Insert(ctx, []job.New{j})
	if err != nil || again[0].New || again[0].ID != first[0].ID {
		t.Errorf("second insert: %+v, %v; want the first job", again, err)
	}
	j.Fingerprint = "two"
	if _, err := db.Insert(ctx, []job.New{newJob("third", "lane", 3), j}); !errors.Is(err, job.ErrMismatch) {
		t.Errorf("other fingerprint: %v, want ErrMismatch", err)
	}
	if found, err := db.Find(ctx, "third"); err != nil || found != nil {
		t.Errorf("a refused insert left %+v, %v", found, err)
	}
}

func TestInsert_TextThatTheDatabaseCannotHold(t *testing.T) {
	t.Parallel()
	db := open(t, 2)
	text := "a\x00b \\u0000 \\\x00 \xff конец"
	j := newJob("nul\x00key", "lane", 1)
	j.Payload = map[string]string{"text": text}
	if _, err := db.Insert(context.Background(), []job.New{j}); err != nil {
		t.Fatal(err)
	}
	got, err := db.Find(context.Background(), "nulkey")
	if err != nil || got == nil {
		t.Fatalf("find: %v, %v", got, err)
	}
	var p map[string]string
	if err := json.Unmarshal(got.Payload, &p); err != nil {
		t.Fatal(err)
	}
	if want := "a\ufffdb \\u0000 \\\ufffd \ufffd конец"; p["text"] != want {
		t.Errorf("text %q, want %q", p["text"], want)
	}
}

func TestStage_StaleWriteWhileTheNewClaimIsOpen(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 4)
	ctx := context.Background()
	made, err := db.Insert(ctx, []job.New{newJob("k", "lane", 1)})
	if err != nil {
		t.Fatal(err)
	}
	claim, err := db.Claim(ctx, "tickets", made[0].ID, tokenA)
	if err != nil || claim.Job == nil {
		t.Fatalf("claim: %+v, %v", claim, err)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	// B's claim has changed the row and is not committed when A writes.
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`UPDATE lanes SET lease_token = '` + tokenB + `', lease_until = clock_timestamp() + interval '60 s'`,
		`UPDATE jobs SET lease_token = '` + tokenB + `', losses = losses + 1`,
	} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	stale := make(chan error, 2)
	go func() { _, err := db.Stage(ctx, claim.Job.ID, tokenA, "stale", nil); stale <- err }()
	go func() {
		_, err := db.Finish(ctx, job.Finish{Job: claim.Job, Token: tokenA, Verdict: job.VerdictCompleted})
		stale <- err
	}()
	waitFor(t, url, `SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`)
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-stale; !errors.Is(err, job.ErrLost) {
			t.Errorf("stale write: %v, want ErrLost", err)
		}
	}
	got, _ := db.Find(ctx, "k")
	if got.State != job.Running || got.Stage != "" {
		t.Errorf("job is %s at stage %q after stale writes", got.State, got.Stage)
	}
}

// An end that is told twice changes nothing the second time, least of all the lane that
// somebody else has taken meanwhile.
func TestFinish_Repeated(t *testing.T) {
	t.Parallel()
	for _, next := range []bool{false, true} {
		db, ctx := open(t, 2), context.Background()
		made, err := db.Insert(ctx, []job.New{newJob("first", "lane", 1), newJob("second", "lane", 2)})
		if err != nil {
			t.Fatal(err)
		}
		claim, err := db.Claim(ctx, "tickets", made[0].ID, tokenA)
		if err != nil || claim.Job == nil {
			t.Fatalf("claim: %+v, %v", claim, err)
		}
		f := job.Finish{Job: claim.Job, Token: tokenA, Verdict: job.VerdictCompleted}
		if _, err := db.Finish(ctx, f); err != nil {
			t.Fatal(err)
		}
		other, err := db.Claim(ctx, "tickets", made[1].ID, tokenB)
		if err != nil || other.Job == nil {
			t.Fatalf("the other's claim: %+v, %v", other, err)
		}
		f.Next = next
		if done, err := db.Finish(ctx, f); !errors.Is(err, job.ErrLost) {
			t.Errorf("told again: %+v, %v, want ErrLost", done, err)
		}
		if err := db.Renew(ctx, "lane", tokenB); err != nil {
			t.Errorf("the other has lost the lane: %v", err)
		}
		if _, err := db.Finish(ctx, job.Finish{Job: other.Job, Token: tokenB, Verdict: job.VerdictCompleted}); err != nil {
			t.Errorf("the other's end: %v", err)
		}
	}
}

// waitFor waits until a condition on the server holds.
func waitFor(t *testing.T, url, condition string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for ok := false; !ok; {
		if err := conn.QueryRow(ctx, condition).Scan(&ok); err != nil {
			t.Fatalf("wait for %s: %v", condition, err)
		}
	}
}

func TestGather(t *testing.T) {
	t.Parallel()
	db, url := openURL(t, 2)
	ctx := context.Background()
	part := func(member string) job.New {
		j := newJob("album:1", "lane", 1)
		j.Payload = member
		j.Gather = &job.Gather{Member: member, Wait: 3 * time.Second, Cap: 12 * time.Second}
		return j
	}
	insert := func(member string) job.Inserted {
		t.Helper()
		made, err := db.Insert(ctx, []job.New{part(member)})
		if err != nil {
			t.Fatal(err)
		}
		return made[0]
	}
	first := insert("u1")
	if second := insert("u2"); second.ID != first.ID || second.New {
		t.Errorf("second part made job %+v, want to join %d", second, first.ID)
	}
	insert("u2") // a repeated delivery
	for range 10 {
		if in := insert("u3"); in.RunIn > 12*time.Second {
			t.Errorf("waits %s, over the cap", in.RunIn)
		}
	}
	if got, want := members(t, db, "album:1"), "u1 u2 u3"; got != want {
		t.Errorf("members %q, want %q", got, want)
	}
	exec(t, url, `UPDATE jobs SET run_at = clock_timestamp()`)
	if claim, err := db.Claim(ctx, "tickets", first.ID, tokenA); err != nil || claim.Job == nil {
		t.Fatalf("claim: %+v, %v", claim, err)
	}
	if late := insert("u4"); !late.New || late.Key != "u4" {
		t.Errorf("late part %+v, want a job of its own", late)
	}
	if again := insert("u2"); again.ID != first.ID {
		t.Errorf("a repeated part of a started album became job %+v", again)
	}
	if again := insert("u4"); again.New {
		t.Errorf("the repeated late part became a second job")
	}
}

func members(t *testing.T, db interface {
	Find(context.Context, string) (*job.Job, error)
}, key string) string {
	t.Helper()
	j, err := db.Find(context.Background(), key)
	if err != nil || j == nil {
		t.Fatalf("find: %v, %v", j, err)
	}
	var ms []job.Member
	if err := json.Unmarshal(j.Payload, &ms); err != nil {
		t.Fatal(err)
	}
	keys := make([]string, len(ms))
	for i, m := range ms {
		keys[i] = m.Key
	}
	return strings.Join(keys, " ")
}
