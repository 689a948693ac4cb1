package bench

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/shared/backend"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/postgres/schema"
)

// TestMain lets the test's own program be ClickHouse and the measured processes.
func TestMain(m *testing.M) {
	backend.ServeClickHouse()
	if len(os.Args) > 1 && os.Args[1] == "bench" {
		if err := Run(context.Background(), os.Args[2:], os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	// A function keeps its pool of connections as long as its instance lives.
	pools := goleak.IgnoreTopFunction("github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck")
	goleak.VerifyTestMain(m, append(backendtest.Goroutines(), pools)...)
}

// Each part gives its figures; what they are is not asked here.
func TestBroadcast_PartsMeasure(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		name string
		run  func(*stage, context.Context, options, *report) error
		want []string
	}{
		{"send", (*stage).send, []string{"telegram, broadcast without a limit, messages/s", "vk, broadcast without a limit: statements, per 1000"}},
		{"memory", (*stage).memory, []string{"worker, 300 recipients: peak", "memory, 300 recipients : 3, heap"}},
		{"plan", (*stage).plan, []string{"plan, 300 recipients: the bare INSERT", "plan, 3 recipients : the bare INSERT"}},
		{"pace", (*stage).pace, []string{"pace, 4 workers: news a second", "pace, 1 workers: news in any second, by Redis"}},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := quick(t)
			o := options{rounds: 1, connections: 4, rows: 300, recipients: 60, steady: 2 * time.Second}
			var out strings.Builder
			r := &report{out: &out}
			if err := p.run(s, context.Background(), o, r); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			r.close()
			for _, want := range p.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
		})
	}
}

// quick is a stage on servers that are not durable.
func quick(t *testing.T) *stage {
	t.Helper()
	s := &stage{
		dir: t.TempDir(), remove: func() {},
		postgres: backendtest.PostgresServer(t, backend.Options{}), redis: backendtest.RedisServer(t, backend.Options{}),
	}
	base, err := s.database(context.Background(), migrated, "template1")
	if err == nil {
		err = schema.Migrate(context.Background(), base)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBusiest(t *testing.T) {
	t.Parallel()
	at := func(ms ...int) (list []time.Time) {
		for _, n := range ms {
			list = append(list, time.UnixMilli(int64(n)))
		}
		return list
	}
	for name, test := range map[string]struct {
		moments []time.Time
		want    int
	}{
		"none":                    {nil, 0},
		"a second apart":          {at(0, 1000, 2000), 1},
		"a second is half open":   {at(0, 500, 999, 1000), 3},
		"in any order":            {at(2500, 100, 2600, 2400), 3},
		"across the clock's tick": {at(800, 1100, 1300, 1700, 1900), 4},
	} {
		if got := busiest(test.moments); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"": "webhook burst jobs growth", "broadcast": "send memory plan pace", "pace jobs": "pace jobs", "updates send": "webhook burst jobs growth send",
		"analytics": "loader metrics",
	} {
		chosen, err := choose(strings.Fields(args))
		var names []string
		for _, p := range chosen {
			names = append(names, p.name)
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", args, got, err, want)
		}
	}
	if _, err := choose([]string{"send", "nothing"}); err == nil {
		t.Error("there is no such part, and no error")
	}
}
