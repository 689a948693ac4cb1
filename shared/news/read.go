package news

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// news is what a look found.
type news struct {
	cursor ticket.Cursor
	jobs   []job.New
}

// read reads what is after the cursor and what of it concerns the customer.
func (l *Looker) read(ctx context.Context, r *job.Run, i tracker.Issue, who Owner) (news, error) {
	c, err := l.cursor(ctx, r, i, who)
	if err != nil {
		return news{}, err
	}
	// Comments first: the edit of a comment that comes while we read is found in
	// the changelog, now or by the look that its own trigger asks for.
	comments, err := behindOf(c.Comment, func(after string) ([]tracker.Comment, error) {
		return l.d.Tracker.Comments(ctx, i.ID, after)
	}, func(x tracker.Comment) string { return x.ID })
	if err != nil {
		return news{}, Decide(r, fmt.Errorf("read comments: %w", err))
	}
	changes, err := behindOf(c.Change, func(after string) ([]tracker.Change, error) {
		return l.d.Tracker.Changes(ctx, i.ID, after)
	}, func(x tracker.Change) string { return x.ID })
	if err != nil {
		return news{}, Decide(r, fmt.Errorf("read changelog: %w", err))
	}
	rule, err := l.d.Rule.Get(ctx)
	if err != nil {
		return news{}, Decide(r, err)
	}
	f := &finder{l: l, r: r, rule: rule, issue: i, who: who, cursor: c, edited: lastEdits(changes)}
	for _, comment := range comments {
		f.comment(comment)
	}
	for _, change := range changes {
		if err := f.change(ctx, change); err != nil {
			return news{}, err
		}
	}
	slices.SortStableFunc(f.jobs, func(a, b job.New) int { return cmp.Compare(a.Sequence, b.Sequence) })
	next := advanced(c, comments, changes)
	next.Resolved = !i.ResolvedAt.IsZero()
	return news{cursor: next, jobs: f.jobs}, nil
}

func lastEdits(changes []tracker.Change) map[string]time.Time {
	edits := map[string]time.Time{}
	for _, c := range changes {
		for _, id := range c.Updated {
			edits[id] = c.At
		}
	}
	return edits
}
