package storm

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

// sheet is what a play came to.
type sheet struct {
	Options
	began, struck, over time.Time // of the calm, of the storm, of the peace
	converged           time.Duration
	news                int // broadcasts that were taken
	balance             *Balance
	faults              tally
	calm, storm         traffic
	uncertain, reviews  []string
	logged, lost        int64          // lines; leases, by processes that went on
	refusals            map[string]int // by messengers, for being too many, by method
	held                string         // what came to rest last
	postscripts         int
}

// traffic is messages within a time.
type traffic struct {
	in, out int
	took    time.Duration
}

func (t traffic) rate() float64 { return float64(t.in+t.out) / t.took.Seconds() }

func (s *sheet) head(out io.Writer) {
	leases := fmt.Sprintf("leases %s renewed every %s, waited for", s.Lease, job.RenewEvery(s.Lease))
	if s.Hurry {
		leases = fmt.Sprintf("leases %s, let elapse in the databases when the storm is over, while nobody works", s.Lease)
	}
	_, _ = fmt.Fprintf(out, `storm: seed %d, %s of calm and %s of storm, %d processes, %d customers, half in each messenger
databases on disk with default durability: Postgres with fsync and synchronous_commit, Redis with an append-only file synced each second
%s; the reconciler's timer every second
plan:
`, s.Seed, s.Calm, s.Storm, s.Processes, s.Customers, leases)
}

// count reads what is told beside the balance.
func (s *sheet) count(ctx context.Context, w *world) error {
	s.calm, s.storm = w.traffic(s.began, s.struck), w.traffic(s.struck, s.over)
	s.logged, s.lost = w.log.written()
	for _, n := range w.asked {
		if n.Taken {
			s.news++
		}
	}
	s.refusals = map[string]int{}
	for _, c := range append(w.calls.telegram.Since(0), w.calls.vk.Since(0)...) {
		if c.Fault == "" && (c.Status == http.StatusTooManyRequests || strings.Contains(string(c.Result), tooMany)) {
			when := ""
			if c.At.Before(w.struck) {
				when = " in calm"
			}
			s.refusals[c.Method+when]++
		}
	}
	type line struct{ Text string }
	for sql, into := range map[string]*[]string{
		`SELECT concat_ws(' ', count(*), kind, 'sent once more') AS text FROM jobs WHERE (result ->> 'resent')::int > 0 GROUP BY kind ORDER BY kind`:          &s.uncertain,
		`SELECT concat_ws(' ', count(*), kind, stage, last_error) AS text FROM jobs WHERE state = 'needs_review' GROUP BY kind, stage, last_error ORDER BY 1`: &s.reviews,
	} {
		found, err := rows[line](ctx, w, sql)
		if err != nil {
			return fmt.Errorf("read jobs: %w", err)
		}
		for _, l := range found {
			*into = append(*into, l.Text)
		}
	}
	return nil
}

// traffic counts what the platform took and what it wrote, by the messengers' logs.
func (w *world) traffic(from, to time.Time) traffic {
	t := traffic{took: to.Sub(from)}
	for _, calls := range [][]fault.Call{w.calls.telegram.Since(0), w.calls.vk.Since(0)} {
		for _, c := range calls {
			if !c.Effect || c.At.Before(from) || c.At.After(to) {
				continue
			}
			switch {
			case c.Method == telegram.WebhookMethod, c.Method == vk.CallbackMethod && !strings.Contains(string(c.Params), `"message_reply"`):
				t.in++
			case strings.HasPrefix(c.Method, "send"), c.Method == "messages.send":
				t.out++
			}
		}
	}
	return t
}

func (s *sheet) print(out io.Writer) {
	b := s.balance
	p := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(p, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("\nfaults by kind", "injected, met")
	for _, kind := range s.faults.kinds() {
		if m := s.faults[kind]; kind == crammed {
			row("  "+kind, "%d, nobody looks there: no process leaves anything in it", m.Injected)
		} else {
			row("  "+kind, "%d, %d", m.Injected, m.Met)
		}
	}
	row("messages of customers", "%d: %d in exactly one ticket, %d left with the customer by a question, %d in review, %d that VK never brought and a wipe hid",
		b.Said, b.Recorded, b.Returned, b.Held, b.Unbrought)
	row("of them, after the storm", "%d that VK failed to bring, found in its conversations", s.postscripts)
	row("came late without a word", "%d, since a wipe made what came before forgotten", b.Unmarked)
	row("photos", "%d, byte by byte in their tickets", b.Photos)
	row("forms", "%d begun, %d tickets, %d begun again, %d forgotten by a wipe and said so, %d whose word of that the next wipe took",
		b.Forms, b.Tickets, b.Again, b.Told, b.Unsaid)
	row("ratings", "%d", b.Ratings)
	row("answers, files, statuses", "%d: %d came once, %d twice and said to be so, %d in review", b.Answers, b.Once, b.Twice, b.Review)
	row("notes for colleagues", "%d", b.Notes)
	row("broadcasts", "%d: %d copies came once, %d uncertain", s.news, b.News, b.NewsUncertain)
	row("messages that queues gave up", "%d", b.Letters)
	row("uncertain", "%s", listing(s.uncertain))
	row("in review", "%s", listing(s.reviews))
	row("into the ticket", "median %s, longest %s", b.Ticket.Median.Round(time.Millisecond), b.Ticket.Longest.Round(time.Millisecond))
	row("to the customer", "median %s, longest %s", b.Answer.Median.Round(time.Millisecond), b.Answer.Longest.Round(time.Millisecond))
	row("at rest after the last fault", "%s, the last was %s", s.converged.Round(time.Millisecond), s.held)
	row("messages a second", "%.1f in calm (%d in, %d out), %.1f in the storm (%d in, %d out): %.2f", s.calm.rate(), s.calm.in, s.calm.out,
		s.storm.rate(), s.storm.in, s.storm.out, s.storm.rate()/s.calm.rate())
	for _, w := range b.Windows {
		row("most of "+w.Name, "%d, the limit is %d, allowed are %d%s", w.Most, w.Limit, w.Allowed, s.when(w))
	}
	row("calls in no window", "%d of processes just thawed, %d just after a wipe", b.Thawed, b.Wiped)
	if b.Alone > 0 {
		row("calls and places", "compared but for what processes gave themselves, which were without the limiter for %s", b.Alone.Round(time.Millisecond))
	}
	row("refused for being too many", "%v", s.refusals)
	row("leases lost by who went on", "%d", s.lost)
	row("lines of logs", "%d", s.logged)
	_ = p.Flush()
	if len(b.Wrong) == 0 {
		_, _ = fmt.Fprintln(out, "the books balance")
		return
	}
	for _, w := range b.Wrong {
		_, _ = fmt.Fprintln(out, "WRONG:", w)
	}
}

// when says when a window was.
func (s *sheet) when(w Window) string {
	if w.Most == 0 {
		return ""
	}
	return fmt.Sprintf("; %.1f s after the storm began", w.At.Sub(s.struck).Seconds())
}

func listing(lines []string) string {
	if len(lines) == 0 {
		return "none"
	}
	return strings.Join(lines, "; ")
}
