package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"supportbot/functions/local/chaos/storm"
	"supportbot/shared/backend"
	"supportbot/shared/postgres/schema"
)

// calm is the share of a play's time before the storm.
const calm = 0.25

// weather plays a storm on databases of its own. The folder stays when the books do not
// balance: the log is there.
func weather(ctx context.Context, args []string, out io.Writer) (err error) {
	var o storm.Options
	var dir string
	var minutes float64
	flags := flag.NewFlagSet("chaos storm", flag.ContinueOnError)
	flags.Uint64Var(&o.Seed, "seed", rand.Uint64N(1_000_000), "what the plan of faults follows from")
	flags.Float64Var(&minutes, "minutes", 3, "how long customers live, the calm before the storm included")
	flags.IntVar(&o.Customers, "customers", 300, "half of them in each messenger")
	flags.IntVar(&o.Processes, "processes", 3, "how many run all functions")
	flags.DurationVar(&o.Lease, "lease", 15*time.Second, "how long the leases of lanes last; in production a minute")
	flags.BoolVar(&o.Hurry, "hurry", false, "let leases elapse in the databases instead of waiting for them, after the storm")
	flags.StringVar(&dir, "dir", "/var/tmp", "a `folder` on disk for the databases and the log")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all := time.Duration(minutes * float64(time.Minute)).Round(time.Second)
	o.Calm = time.Duration(calm * float64(all)).Round(time.Second)
	o.Storm = all - o.Calm
	if o.Dir, err = newFolder(dir); err != nil {
		return err
	}
	defer func() {
		if errors.Is(err, storm.ErrUnbalanced) {
			_, _ = fmt.Fprintln(out, "the processes' log:", filepath.Join(o.Dir, "storm.log"))
			return
		}
		err = errors.Join(err, os.RemoveAll(o.Dir))
	}()
	if o.Postgres, err = backend.Postgres(ctx, backend.Options{Durable: true, Dir: filepath.Join(o.Dir, "postgres")}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Postgres.Close()) }()
	if o.Redis, err = backend.Redis(ctx, backend.Options{Durable: true, Dir: filepath.Join(o.Dir, "redis")}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Redis.Close()) }()
	if err := schema.Migrate(ctx, o.Postgres.URL()); err != nil {
		return err
	}
	return storm.Play(ctx, o, out)
}
