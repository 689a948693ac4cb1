package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"supportbot/shared/catalogue"
	"supportbot/shared/news"
	"supportbot/shared/postgres"
	"supportbot/shared/tracker"
	v3 "supportbot/shared/tracker/v3"
)

const (
	// overlap is how far clocks and Tracker's lists may be apart.
	overlap = 2 * time.Minute
	// callsPerSecond to Tracker, which nobody else calls at such a time.
	callsPerSecond = 4
	clock          = "2006-01-02 15:04:05 MST"
)

// gap is what the database does not know of.
type gap struct {
	from, to time.Time
	jobs     []postgres.Leftover
	running  []int64         // broadcasts
	issues   []tracker.Issue // customers' tickets that changed
	known    map[string]bool // of them, those that the database knows
}

// restore makes a database fit to be worked with that was restored from a backup:
// what happened since the backup is not done again, and is listed.
func (o *Operator) restore(ctx context.Context, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] != "--yes" {
		return fmt.Errorf("%w: --yes is all that can be said", ErrUsage)
	}
	dbConfig, trackerConfig, book := postgres.ConfigFrom(o.Env), v3.ConfigFrom(o.Env), catalogue.ConfigFrom(o.Env)
	if err := o.Env.Err(); err != nil {
		return fmt.Errorf("%w\n(tickets that were opened since the backup are known to Tracker alone)", err)
	}
	trackerConfig.Pace = rate.NewLimiter(callsPerSecond, 1).Wait
	db, err := postgres.Open(dbConfig)
	if err != nil {
		return err
	}
	defer db.Close()
	client, err := v3.New(trackerConfig)
	if err != nil {
		return err
	}
	defer client.Close()
	categories, err := catalogue.Load(book)
	if err != nil {
		return err
	}
	g, err := find(ctx, db, client, categories.Queues())
	if err != nil {
		return err
	}
	o.tell(g)
	if len(args) == 0 {
		o.say("\nNothing was changed. If this database was restored from a backup, and no function works on it yet: restore --yes")
		return nil
	}
	for _, id := range g.running {
		if _, err := db.PauseBroadcast(ctx, id); err != nil {
			return err
		}
	}
	ids := make([]string, len(g.issues))
	for i, issue := range g.issues {
		ids[i] = issue.ID
	}
	if err := db.Restore(ctx, ids); err != nil {
		return err
	}
	o.say("\nDone. The functions may work on this database now.")
	return nil
}

// find reads what the database knew last, and what has happened in Tracker since.
func find(ctx context.Context, db *postgres.DB, client *v3.Client, queues []string) (gap, error) {
	from, err := db.LastTrace(ctx)
	if err != nil {
		return gap{}, err
	}
	if from.IsZero() {
		return gap{}, errors.New("there is nothing in this database: it needs no restore")
	}
	g := gap{from: from, to: time.Now()}
	if g.jobs, err = db.Leftovers(ctx); err != nil {
		return gap{}, err
	}
	if g.running, err = db.RunningBroadcasts(ctx); err != nil {
		return gap{}, err
	}
	var ids []string
	for issue, err := range client.UpdatedSince(ctx, from.Add(-overlap), queues...) {
		if err != nil {
			return gap{}, fmt.Errorf("list tickets: %w", err)
		}
		if _, ok := news.CustomerOf(issue); ok && issue.Named() {
			g.issues, ids = append(g.issues, issue), append(ids, issue.ID)
		}
	}
	g.known, err = db.KnownIssues(ctx, ids)
	return g, err
}

// tell lists the gap: what an operator may want to look at.
func (o *Operator) tell(g gap) {
	o.say("The database ends at %s; that is %s ago.", g.from.UTC().Format(clock), g.to.Sub(g.from).Round(time.Second))
	o.say("What customers were told since then is not told again. What they were not told yet is not told either:")
	o.say("\n%d tickets changed since then. If the last answer in one has not arrived, write it once more.", len(g.issues))
	for _, i := range g.issues {
		note := ""
		if !g.known[i.ID] {
			note = "  opened since then"
		}
		o.say("  %-12s %s%s", i.Key, i.UpdatedAt.UTC().Format(clock), note)
	}
	if len(g.running) > 0 {
		o.say("\n%d broadcasts are running: %v. They are paused. Nobody knows who has had them since then: going on may write to people again.",
			len(g.running), g.running)
	}
	o.say("\n%d jobs were not over, and may be by now. They are put into review: replay or cancel each.", len(g.jobs))
	for _, j := range g.jobs {
		o.say("  %-12d %s  %-18s %s", j.ID, j.CreatedAt.UTC().Format(clock), j.Kind, j.Key)
	}
}
