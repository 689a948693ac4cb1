package news

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/obs"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// behind is how far the cursors stay behind the newest entry.
const behind = 2 * time.Minute

// lag is how long Tracker's listings may be behind its writes.
const lag = 3 * time.Second

func (l *Looker) look(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var p ticket.Look
	if err := r.Decode(&p); err != nil {
		return job.Outcome{}, err
	}
	issue, err := l.d.Tracker.Issue(ctx, cmp.Or(p.ID, p.Key))
	if tracker.KindOf(err) == tracker.NotFound {
		return job.Outcome{Result: "gone"}, nil
	}
	if err != nil {
		return job.Outcome{}, Decide(r, fmt.Errorf("read issue: %w", err))
	}
	if p.ID == "" { // the call knew the key alone: look in the lane of the id
		next := Job(ticket.Look{ID: issue.ID}, strings.TrimPrefix(r.Key, "look:")+"@")
		return job.Outcome{Result: "sent on", Then: []job.New{next}}, nil
	}
	who, ok := CustomerOf(issue)
	if !ok {
		return job.Outcome{Result: "not a customer's"}, nil
	}
	known, err := l.d.Store.Person(ctx, who.Address)
	if err != nil {
		return job.Outcome{}, err
	}
	n, err := l.read(ctx, r, issue, who)
	if err != nil {
		return job.Outcome{}, err
	}
	if known == nil {
		n.jobs = undelivered(n.jobs, issue.ID)
	}
	made, err := l.d.Store.Advance(ctx, r.ID, r.Token(), n.cursor, n.jobs)
	if err != nil {
		return job.Outcome{}, err
	}
	if len(n.jobs) > 0 && known != nil {
		if err := l.d.Lists.Drop(ctx, who.Address); err != nil {
			l.d.Log.WarnContext(ctx, "kept list of tickets was not dropped", slog.Any(obs.Error, err))
		}
	}
	l.d.Publisher.Publish(ctx, made)
	o := job.Outcome{Result: map[string]int{"deliveries": len(n.jobs)}}
	if !p.Second {
		// Listings lag behind the call that made us look: it may have seen a part.
		second := Job(ticket.Look{ID: p.ID, Second: true}, fmt.Sprintf("second:%d", r.ID))
		second.Delay, second.CorrelationID = lag, r.CorrelationID
		o.Then = []job.New{second}
	}
	return o, nil
}

// undelivered makes of deliveries to somebody whom nobody knows (an erasure did not find
// the ticket, or Tracker refused to change it; a backup from before them was restored) what
// the agent is told. Nothing of it names the customer.
func undelivered(deliveries []job.New, issue string) (notes []job.New) {
	for _, j := range deliveries {
		a, reply := j.Payload.(ticket.Answer)
		if !reply || j.Kind != ticket.KindAnswer {
			continue
		}
		notes = append(notes, job.New{
			Queue: ticket.QueueTickets, Kind: ticket.KindNote, Key: "note:" + string(ticket.NoteUndelivered) + ":" + j.Key,
			Lane:    job.Lane{Name: ticket.NoteLane(issue)},
			Payload: ticket.Note{Ref: ticket.Ref{Issue: issue}, Note: ticket.NoteUndelivered, Comment: a.Comment},
		})
	}
	return notes
}
