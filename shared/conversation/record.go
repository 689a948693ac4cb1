package conversation

import (
	"context"
	"slices"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/obs"
	"supportbot/shared/person"
)

// complete inserts the jobs of every pending entry, the oldest first.
func (t *turn) complete(ctx context.Context, o Outcome) (*Accepted, error) {
	a := t.done(o)
	a.pending, a.holds = t.snap.Pending, t.snap.Holds
	for i := range a.pending {
		e := &a.pending[i]
		if e.Recorded {
			continue
		}
		if err := a.insert(ctx, e); err != nil {
			a.letGo(ctx, "")
			return nil, unavailable(err)
		}
	}
	t.s.d.Hook(StageRecorded)
	return a, nil
}

// insert makes an entry's jobs durable. It may be repeated.
func (a *Accepted) insert(ctx context.Context, e *dialog.Pending) error {
	if !e.Group && (e.Visit || len(e.Jobs) > 0) {
		p, inserted, err := a.s.d.Records.Record(ctx, visitOf(e.Entry, e.Update), newJobs(e.Jobs))
		if err != nil {
			return err
		}
		a.inserted = append(a.inserted, inserted...)
		a.known = &dialog.Profile{Person: p, User: e.User, At: a.s.d.Now()}
		if r := e.Update.Reachable; r != nil && !*r {
			a.known, a.forget = nil, true // so that the next event says the contrary
		}
	}
	e.Recorded = true
	a.recorded = append(a.recorded, e.Key)
	return nil
}

// letGo gives the reply lease back because the entries cannot be completed now:
// else nobody could until it is over. It may be that ctx has ended, which is why.
func (t *turn) letGo(ctx context.Context, begun string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	if err := t.s.d.Store.Release(ctx, t.in.Address, t.token, begun); err != nil {
		t.s.d.Log.WarnContext(ctx, "reply lease was not given back", obs.Error, err.Error())
	}
}

func visitOf(e dialog.Entry, u person.Update) person.Visit {
	return person.Visit{Identity: person.Identity{Address: e.Address, User: e.User, SeenAt: e.At}, Update: u}
}

func newJobs(frozen []dialog.Job) []job.New {
	jobs := make([]job.New, len(frozen))
	for i, j := range frozen {
		jobs[i] = job.New(j)
	}
	return jobs
}

func (a *Accepted) wasRecorded(key string) bool { return slices.Contains(a.recorded, key) }
