// Command bench measures how functions start: from loading the plugin to the first
// answered call, beside a plugin that only answers 200.
//
//	go run ./.ci/host/bench [-n 15] [function ...]
//
// Each run is a new process. A webhook's call is a new customer's /start, with real
// databases, and is answered when the bot's reply has been sent; tracker-handler's
// is a trigger's and makes a job; notification-api's estimates an audience; that of
// the workers and the reconciler is an event with nothing to do, so that of them
// the wiring is measured. "cold" is with the plugin's file not in memory, as on a
// machine that has not run the function yet.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	host "supportbot/.ci/host"
	"supportbot/.ci/package/archive"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bare is the plugin that the functions are held against.
const bare = "bare"

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	root := flags.String("root", ".", "the module's `folder`")
	n := flags.Int("n", 15, "runs of each function, warm and cold")
	if err := flags.Parse(args); err != nil {
		return err
	}
	names := flags.Args()
	if len(names) == 0 {
		var err error
		if names, err = archive.Functions(*root); err != nil {
			return err
		}
		// Nobody waits for these: the deployment calls one, a timer the other each hour.
		names = slices.DeleteFunc(names, func(name string) bool { return name == "migrate" || name == "analytics-loader" })
	}
	workshop, err := host.NewWorkshop(ctx, *root)
	if err != nil {
		return err
	}
	program, err := workshop.Host(ctx)
	if err != nil {
		return err
	}
	s, err := newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()

	_, _ = fmt.Fprintf(stdout, "medians of %d starts, milliseconds: the plugin's load, the first call, both\n%-18s %21s %21s\n", *n, "", "warm", "cold")
	for _, name := range append([]string{bare}, names...) {
		plugin, err := compile(ctx, workshop, name)
		if err != nil {
			return err
		}
		row := fmt.Sprintf("%-18s", name)
		for _, cold := range []bool{false, true} {
			m, err := s.median(ctx, host.Config{Host: program, Plugin: plugin, Function: name, Env: s.env}, *n, cold)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			row += fmt.Sprintf(" %6.0f %6.0f %7.0f", m.load, m.first, m.both)
		}
		_, _ = fmt.Fprintln(stdout, row)
	}
	return nil
}

func compile(ctx context.Context, w *host.Workshop, name string) (string, error) {
	if name == bare {
		return w.Plugin(ctx, bare, "./.ci/host/testdata/bare")
	}
	return w.Function(ctx, name)
}

// timing is in milliseconds.
type timing struct{ load, first, both float64 }

func (s *stage) median(ctx context.Context, c host.Config, n int, cold bool) (timing, error) {
	var load, first, both []float64
	for range n {
		if cold {
			if err := forget(c.Plugin); err != nil {
				return timing{}, err
			}
		}
		t, err := s.start(ctx, c)
		if err != nil {
			return timing{}, err
		}
		load, first, both = append(load, t.load), append(first, t.first), append(both, t.load+t.first)
	}
	return timing{middle(load), middle(first), middle(both)}, nil
}

func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
