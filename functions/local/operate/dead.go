package operate

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// dead lists dead letters, the newest first: of a hint its job, of anything else what
// it says.
func (o *Operator) dead(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("jobs dead", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	before := flags.Int64("before", 1<<62, "")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return fmt.Errorf("%w: %s", ErrUsage, strings.Join(args, " "))
	}
	db, err := o.database()
	if err != nil {
		return err
	}
	defer db.Close()
	list, err := db.DeadLetters(ctx, *before, page)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		o.say("No dead letters.")
		return nil
	}
	t := tabwriter.NewWriter(o.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "letter\tqueue\tfound\tjob\tit was\tstage\tattempts\trequest\tmessage")
	for _, l := range list {
		job, says := "none", strconv.Quote(l.Body)
		if l.Job != 0 {
			job, says = strconv.FormatInt(l.Job, 10), l.Message
		}
		line(t, "%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s", l.ID, l.Queue, at(l.KeptAt), job, l.State, l.Stage, l.Attempts, l.CorrelationID, says)
	}
	_ = t.Flush() // to a terminal
	if len(list) == page {
		o.say("There may be more: --before %d", list[page-1].ID)
	}
	return nil
}
