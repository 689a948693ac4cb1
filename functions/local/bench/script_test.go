package bench

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/postgres/schema"
)

// What was recorded of one life is run by pgbench: jobs live and end as the worker's do.
func TestLifeScript_PgbenchLetsJobsLive(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := backendtest.Postgres(t, schema.Migrate)
	runs := 0
	for name, life := range map[string]func() (script, error){
		"the same statements":  func() (script, error) { sc, _, err := lifeScript(ctx, url); return sc, err },
		"the least statements": func() (script, error) { return leastLife(), nil },
	} {
		sc, err := life()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, err := newPgbench(ctx, t.TempDir(), url, &runs)
		if err != nil {
			t.Fatal(err)
		}
		before := completed(t, url)
		args, err := p.args(sc, 2, "-t", "10")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(ctx, p.path, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		if got := completed(t, url) - before; got != 20 {
			t.Errorf("%s: %d jobs completed, want 20", name, got)
		}
	}
	var open, held int
	err := withConn(ctx, url, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT (SELECT count(*) FROM jobs WHERE open), (SELECT count(*) FROM lanes WHERE lease_token IS NOT NULL)`).Scan(&open, &held)
	})
	if err != nil || open != 0 || held != 0 {
		t.Errorf("%d open jobs, %d held lanes, %v; want none", open, held, err)
	}
}

func completed(t *testing.T, url string) (n int) {
	t.Helper()
	err := withConn(context.Background(), url, func(c *pgx.Conn) error {
		return c.QueryRow(context.Background(), `SELECT count(*) FROM jobs WHERE state = 'completed'`).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTap_RemembersFlights(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tap, err := newTap(backendtest.Postgres(t, schema.Migrate))
	if err != nil {
		t.Fatal(err)
	}
	defer tap.close()
	cfg, err := pgx.ParseConfig(tap.url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "begin"); err != nil {
		t.Fatal(err)
	}
	b := &pgx.Batch{}
	b.Queue("SELECT $1::text, $2::bigint", nil, 7)
	b.Queue("SELECT 1")
	if err := c.SendBatch(ctx, b).Close(); err != nil {
		t.Fatal(err)
	}
	_ = c.Close(ctx)
	got, err := tap.take()
	if err != nil {
		t.Fatal(err)
	}
	want := []flight{
		{{text: "begin"}},
		{{text: "SELECT $1::text, $2::bigint", params: []param{{null: true}, {value: "7"}}}, {text: "SELECT 1"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(statement{}, param{})); diff != "" {
		t.Errorf("flights (-want +got):\n%s", diff)
	}
}

func TestCustomerIn(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int64{
		`{"update_id":700000001,"message":{"from":{"id":3300000000017}}}`: 3_300_000_000_017,
		`{"from_id":4400000000003}`:                                       4_400_000_000_003,
		`{"id":33000000000170}`:                                           0,
		`{"id":12,"x":"1099511627777:token"}`:                             0,
	} {
		if got := customerIn([]byte(body)); got != want {
			t.Errorf("%s: customer %d, want %d", body, got, want)
		}
	}
}

func TestReport_CountsMisses(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := &report{out: &out}
	r.atLeast("fast", 0.4, 0.3)
	r.atLeast("slow", 0.2, 0.3)
	r.atMost("late", 1200, 1000, "ms")
	r.plain("nobody asks", 0.01)
	if got := r.close(); got != 2 || strings.Count(out.String(), "MISSED") != 2 {
		t.Errorf("%d missed, want 2:\n%s", got, out.String())
	}
}
