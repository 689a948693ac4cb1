// Package bench measures the platform on this machine, with real databases on disk
// at their default durability:
//
//	webhook   updates per second through the functions' handlers, beside pgbench
//	          with the statements that one such update sends
//	burst     200 new customers at once
//	jobs      lives of jobs per second at 1, 4 and 16 workers, beside pgbench with the
//	          statements of one life
//	growth    the same with 10^4 and with 10^6 finished jobs in the table
//
// and, as the set broadcast:
//
//	send      messages per second through a worker that no limit holds back
//	memory    what that worker takes with 10^4, 10^5 and 10^6 recipients
//	plan      planning of so many, beside the bare INSERT ... SELECT of the same rows
//	pace      the pace at the messenger, with one, two and four workers and answers
//
// and, as the set analytics:
//
//	loader    what the loader of analytics does with 10^4, 10^5 and 10^6 tickets, and what
//	          it takes, beside a bare insert of the same blocks
//	metrics   how long metrics over 10^7 events take, and the page that shows them
//
// What pgbench runs is not written down here: a tap between the platform and the
// database records what one specimen sends, so it cannot differ from the code.
// Everything is measured in turns, round by round, and compared within a round, since
// no machine is equally quiet for minutes.
package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// options are the command's flags.
type options struct {
	dir         string
	profile     string
	round       time.Duration
	rounds      int
	connections int
	rows        int
	recipients  int
	tickets     int
	events      int
	steady      time.Duration
}

// part is one of the measurements, set what is measured together.
type part struct {
	set, name string
	run       func(ctx context.Context, o options, r *report) error
}

const (
	updates    = "updates"
	broadcasts = "broadcast"
	analyses   = "analytics"
)

func parts() []part {
	return []part{
		{updates, "webhook", webhook}, {updates, "burst", burst}, {updates, "jobs", jobs}, {updates, "growth", growth},
		{broadcasts, "send", staged((*stage).send)}, {broadcasts, "memory", staged((*stage).memory)},
		{broadcasts, "plan", staged((*stage).plan)}, {broadcasts, "pace", staged((*stage).pace)},
		{analyses, "loader", staged((*stage).loader)}, {analyses, "metrics", staged((*stage).metrics)},
	}
}

// staged gives a part databases of its own.
func staged(run func(*stage, context.Context, options, *report) error) func(context.Context, options, *report) error {
	return func(ctx context.Context, o options, r *report) error {
		s, err := newStage(ctx, o)
		if err != nil {
			return err
		}
		defer s.close()
		return run(s, ctx, o, r)
	}
}

// errMissed means that everything was measured and something is too slow.
var errMissed = errors.New("a target was missed")

// Run measures the parts or sets that args name, updates without names, and writes a
// table to out. Its error also means that a target was missed.
func Run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		if process, ok := processes()[args[0]]; ok {
			return process(ctx, args[1:])
		}
	}
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.dir, "dir", "/var/tmp", "a `folder` on disk for the databases")
	flags.StringVar(&o.profile, "profile", "", "a `folder` for CPU profiles of the measured process")
	flags.DurationVar(&o.round, "round", 5*time.Second, "how long one round of one contender takes")
	flags.IntVar(&o.rounds, "rounds", 3, "rounds; the figures are medians")
	flags.IntVar(&o.connections, "connections", 16, "updates under way at once, and connections to the databases")
	flags.IntVar(&o.rows, "rows", 1_000_000, "finished jobs, or recipients, in the large table")
	flags.IntVar(&o.recipients, "recipients", 24_000, "people whom send writes to")
	flags.DurationVar(&o.steady, "steady", time.Minute, "how long pace is looked at")
	flags.IntVar(&o.tickets, "tickets", 1_000_000, "tickets of the largest load")
	flags.IntVar(&o.events, "events", 10_000_000, "events, of a tenth as many tickets, over which metrics are looked at")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	chosen, err := choose(flags.Args())
	if err != nil {
		return err
	}
	r := &report{out: out}
	r.machine(o)
	for _, p := range chosen {
		if err := p.run(ctx, o, r); err != nil {
			return fmt.Errorf("measure %s: %w", p.name, err)
		}
	}
	if r.close() > 0 {
		return errMissed
	}
	return nil
}

func choose(names []string) ([]part, error) {
	all := parts()
	if len(names) == 0 {
		names = []string{updates}
	}
	var chosen []part
	for _, name := range names {
		before := len(chosen)
		for _, p := range all {
			if p.name == name || p.set == name {
				chosen = append(chosen, p)
			}
		}
		if len(chosen) == before {
			known := []string{updates, broadcasts, analyses}
			for _, p := range all {
				known = append(known, p.name)
			}
			return nil, fmt.Errorf("there is no %q to measure, only %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// scratch makes the folder of one part's databases. They run as another user.
func scratch(o options) (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(o.dir, "supportbot-bench-")
	if err != nil {
		return "", nil, fmt.Errorf("make data folder: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", nil, fmt.Errorf("open data folder: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}
