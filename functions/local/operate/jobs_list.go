package operate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/postgres"
)

// page is how many jobs are listed, or looked at, at once.
const page = 50

// list is the command jobs: what there is, one of them, and what a person does to
// those that wait in review.
func (o *Operator) list(ctx context.Context, args []string) error {
	verb := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "":
		return o.showMany(ctx, args)
	case "show":
		return o.each(args, "is not there", func(db *postgres.DB, id int64) error { return o.showOne(ctx, db, id) })
	case "replay":
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			return o.replay(ctx, args)
		}
		return o.replayMany(ctx, args)
	case "cancel":
		return o.cancel(ctx, args)
	case "settle":
		return o.settle(ctx, args)
	case "dead":
		return o.dead(ctx, args)
	}
	return fmt.Errorf("%w: jobs knows no %q", ErrUsage, verb)
}

// filter reads which jobs are meant; states are those without --state.
func filter(args []string, states string, more func(*flag.FlagSet)) (job.Filter, error) {
	f := job.Filter{Limit: page}
	flags := flag.NewFlagSet("jobs", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&states, "state", states, "")
	flags.StringVar(&f.Kind, "kind", "", "")
	flags.StringVar(&f.Lane, "lane", "", "")
	flags.StringVar(&f.CorrelationID, "request", "", "")
	flags.StringVar(&f.Error, "error", "", "")
	flags.Int64Var(&f.Before, "before", 0, "")
	if more != nil {
		more(flags)
	}
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return f, fmt.Errorf("%w: %s", ErrUsage, strings.Join(args, " "))
	}
	for _, s := range strings.Split(states, ",") {
		switch state := job.State(s); {
		case slices.Contains(job.States, state):
			f.States = append(f.States, state)
		case s != "all":
			return f, fmt.Errorf("%w: %q is no state", ErrUsage, s)
		}
	}
	return f, nil
}

func (o *Operator) showMany(ctx context.Context, args []string) error {
	f, err := filter(args, string(job.NeedsReview), nil)
	if err != nil {
		return err
	}
	db, err := o.database()
	if err != nil {
		return err
	}
	defer db.Close()
	list, err := db.Jobs(ctx, f)
	if err != nil {
		return err
	}
	o.table(list)
	if len(list) == page {
		o.say("There may be more: --before %d", list[page-1].ID)
	}
	return nil
}

func (o *Operator) table(list []job.Record) {
	if len(list) == 0 {
		o.say("No such jobs.")
		return
	}
	t := tabwriter.NewWriter(o.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "job\tkind\tstate\tstage\tattempts\tmade\terror")
	for _, r := range list {
		line(t, "%d\t%s\t%s\t%s\t%d\t%s\t%s", r.ID, r.Kind, r.State, r.Stage, r.Attempts, r.CreatedAt.UTC().Format(clock), r.LastError)
	}
	_ = t.Flush() // to a terminal
}

func (o *Operator) showOne(ctx context.Context, db *postgres.DB, id int64) error {
	r, err := db.JobRecord(ctx, id)
	if err != nil {
		return err
	}
	o.say("job %d  %s  %s", r.ID, r.Kind, r.State)
	for _, line := range [][2]string{
		{"key", r.Key}, {"request", r.CorrelationID}, {"queue", r.Queue}, {"lane", r.Lane}, {"stage", r.Stage}, {"waits for", r.HeldFor},
		{"made", at(r.CreatedAt)}, {"due", at(r.RunAt)}, {"started", at(r.StartedAt)}, {"ended", at(r.FinishedAt)},
		{"attempts", fmt.Sprintf("%d of %d, %d lost, %d replays", r.Attempts, job.Attempts, r.Losses, r.Replays)},
		{"error", r.LastError}, {"settled by", r.SettledBy}, {"remark", r.Remark},
	} {
		if line[1] != "" {
			o.say("  %-10s %s", line[0], line[1])
		}
	}
	for _, f := range r.Failures {
		o.say("  %s  %-9s %s  %s", at(f.At), f.What, f.Stage, f.Error)
	}
	return nil
}

func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(clock)
}

// replayMany replays the reviews that the flags choose; without --yes it only tells
// which.
func (o *Operator) replayMany(ctx context.Context, args []string) error {
	var yes bool
	var until time.Time
	f, err := filter(args, string(job.NeedsReview), func(flags *flag.FlagSet) {
		flags.BoolVar(&yes, "yes", false, "")
		flags.Func("until", "", func(s string) (err error) { until, err = time.Parse(time.RFC3339Nano, s); return err })
	})
	if err != nil {
		return err
	}
	if len(args) == 0 || len(f.States) != 1 || f.States[0] != job.NeedsReview {
		return fmt.Errorf("%w: which reviews? --kind, --lane, --request, --error choose them", ErrUsage)
	}
	db, err := o.database()
	if err != nil {
		return err
	}
	defer db.Close()
	if f.Until = until; until.IsZero() {
		if f.Until, err = db.Now(ctx); err != nil {
			return err
		}
	}
	found, err := everyOne(ctx, db, f)
	if err != nil {
		return err
	}
	if !yes {
		o.table(found)
		o.say("%d would get new attempts; with --yes --until %s they do, and none that came later.", len(found), f.Until.UTC().Format(time.RFC3339Nano))
		return nil
	}
	replayed := 0
	for _, r := range found {
		_, err := db.ReplayUntil(ctx, r.ID, o.by(), f.Until)
		if errors.Is(err, job.ErrNotFound) {
			continue // somebody else has dealt with it meanwhile
		}
		if err != nil {
			return fmt.Errorf("%d are replayed: %w", replayed, err)
		}
		replayed++
	}
	o.say("%d get new attempts; the reconciler starts them within a minute.", replayed)
	return nil
}

// everyOne pages through all that a filter chooses.
func everyOne(ctx context.Context, db *postgres.DB, f job.Filter) (all []job.Record, err error) {
	for {
		list, err := db.Jobs(ctx, f)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if len(list) < f.Limit {
			return all, nil
		}
		f.Before = list[len(list)-1].ID
	}
}

// settle ends a review by hand.
func (o *Operator) settle(ctx context.Context, args []string) error {
	remark, ok := job.Remark(strings.Join(args[min(1, len(args)):], " "))
	if !ok {
		return fmt.Errorf("%w: which job, and what was done about it (up to %d characters)?", ErrUsage, job.RemarkMost)
	}
	return o.each(args[:1], "is not in review, or there is no such job", func(db *postgres.DB, id int64) error {
		if err := mayEnd(ctx, db, id); err != nil {
			return err
		}
		if err := db.SettleReview(ctx, id, o.by(), remark); err != nil {
			return err
		}
		o.say("job %d is settled.", id)
		return nil
	})
}
