// Package chaos shows that broadcasts lose nobody and write to nobody twice while
// everything around them fails: workers killed, stopped and frozen, a messenger that
// refuses, databases that restart, a queue that lies. Its child storm does the same to
// the whole platform at once.
//
// The workers are processes of their own that run the functions as the cloud does; the
// databases are real, with default durability on disk; the messengers are the strict
// stand-ins. What people have is read from the stand-ins' logs of calls, and only then
// compared with what our tables say.
package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"supportbot/functions/local/chaos/process"
)

// errFound means that a scenario did not end as it has to.
var errFound = errors.New("somebody was lost, or has it twice")

// together is how many scenarios are played at once: most of the time they wait, for
// a lease to end or a messenger's time to come.
const together = 5

// Run plays and writes what came of it to out: broadcasts as a table, the storm as a
// balance sheet. Its error also means that somebody lost something or has it twice. A
// worker is a process that a play starts.
func Run(ctx context.Context, args []string, out io.Writer) error {
	commands := map[string]func(context.Context, []string, io.Writer) error{
		"broadcast":     broadcasts,
		"storm":         weather,
		process.Command: func(ctx context.Context, _ []string, _ io.Writer) error { return process.Work(ctx) },
	}
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("what to put into chaos? There are broadcast and storm")
	}
	return commands[args[0]](ctx, args[1:], out)
}

// broadcasts plays scenarios of broadcasts.
func broadcasts(ctx context.Context, args []string, out io.Writer) error {
	o := Options{Log: io.Discard}
	var only, dir string
	var verbose bool
	flags := flag.NewFlagSet("chaos broadcast", flag.ContinueOnError)
	flags.IntVar(&o.Recipients, "recipients", 3000, "people in each broadcast")
	flags.StringVar(&only, "only", "", "play the scenarios whose `name` contains this")
	flags.StringVar(&dir, "dir", "/var/tmp", "a `folder` on disk for the databases")
	flags.BoolVar(&verbose, "v", false, "show what the workers log")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if verbose {
		o.Log = os.Stderr
	}
	chosen := slices.DeleteFunc(Scenarios(), func(s Scenario) bool { return !strings.Contains(s.Name, only) })
	if len(chosen) == 0 {
		return fmt.Errorf("no scenario is named like %q", only)
	}
	stores, err := newStores(ctx, dir)
	if err != nil {
		return err
	}
	defer stores.close()
	o.Stores = stores
	return playAll(ctx, o, chosen, out)
}

// playAll plays scenarios, several at once, and writes each one's line as it ends.
func playAll(ctx context.Context, o Options, chosen []Scenario, out io.Writer) error {
	_, _ = fmt.Fprintln(out, header)
	var (
		mu    sync.Mutex
		found error
		all   errgroup.Group
	)
	all.SetLimit(together)
	for _, s := range chosen {
		all.Go(func() error {
			r, err := s.Play(ctx, o)
			mu.Lock()
			defer mu.Unlock()
			_, _ = fmt.Fprintln(out, r)
			if err != nil {
				_, _ = fmt.Fprintf(out, "  ^ %v\n", err)
				found = errFound
			}
			return nil
		})
	}
	_ = all.Wait()
	return found
}
