package news

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// finder makes deliveries of the entries of one issue.
type finder struct {
	l      *Looker
	r      *job.Run
	rule   ReplyRule
	issue  tracker.Issue
	who    Owner
	cursor ticket.Cursor
	edited map[string]time.Time // when comments were edited last
	seen   map[string]bool      // edits that have their job
	names  map[string]tracker.Status
	jobs   []job.New
}

// comment makes the delivery of a new reply. A comment that was edited before
// anybody looked counts from its last edit, which may be what made it a reply.
func (f *finder) comment(c tracker.Comment) {
	at := c.CreatedAt
	if edit, ok := f.edited[c.ID]; ok {
		at = edit
	}
	if f.passed("c"+c.ID, at) {
		return
	}
	if _, ok := f.rule.Reply(c); ok {
		f.add(ticket.KindAnswer, ticket.AnswerKey(f.issue.ID, c.ID), at, f.answer(c))
	}
}

func (f *finder) change(ctx context.Context, c tracker.Change) error {
	if f.passed("h"+c.ID, c.At) {
		return nil
	}
	for _, id := range c.Updated {
		if err := f.edit(ctx, id, c.At); err != nil {
			return err
		}
	}
	if s := c.Status; s != nil && !f.rule.Robot.Is(c.Author) && s.From != s.To {
		return f.status(ctx, c)
	}
	return nil
}

// edit makes the deliveries of an edited comment: the reply that it may have
// become, and the edit of one that was delivered. What went out already is seen
// when they run.
func (f *finder) edit(ctx context.Context, id string, at time.Time) error {
	if f.seen[id] {
		return nil
	}
	c, err := f.l.d.Tracker.Comment(ctx, f.issue.ID, id)
	if tracker.KindOf(err) == tracker.NotFound {
		return nil // deleted since
	}
	if err != nil {
		return Decide(f.r, fmt.Errorf("read edited comment: %w", err))
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[id] = true
	if _, ok := f.rule.Reply(c); !ok {
		return nil
	}
	key := ticket.AnswerKey(f.issue.ID, c.ID)
	f.add(ticket.KindAnswer, key, at, f.answer(c))
	f.add(ticket.KindEdit, key+":v"+strconv.FormatInt(c.Version, 10), at, f.answer(c))
	return nil
}

func (f *finder) answer(c tracker.Comment) ticket.Answer {
	return ticket.Answer{Address: f.who.Address, Ref: f.who.Ref, Issue: f.issue.ID, Comment: c.ID, Version: c.Version}
}

func (f *finder) status(ctx context.Context, c tracker.Change) error {
	to, err := f.name(ctx, c.Status.To)
	if err != nil {
		return err
	}
	f.add(ticket.KindStatus, ticket.ChangeKey(f.issue.ID, c.ID), c.At, ticket.StatusNews{
		Address: f.who.Address, Ref: f.who.Ref, Issue: f.issue.ID, Key: f.issue.Key, Title: f.issue.Summary,
		From: c.Status.From, To: c.Status.To, Type: to.Type, Display: to.Display,
	})
	return nil
}

// name gives type and name of a status; custom ones are known by Tracker alone.
func (f *finder) name(ctx context.Context, key string) (tracker.Status, error) {
	if key == f.issue.Status.Key {
		return f.issue.Status, nil
	}
	if f.names == nil {
		all, err := f.l.d.Tracker.Statuses(ctx)
		if err != nil {
			return tracker.Status{}, Decide(f.r, fmt.Errorf("read statuses: %w", err))
		}
		f.names = map[string]tracker.Status{}
		for _, s := range all {
			f.names[s.Key] = s
		}
	}
	return f.names[key], nil
}

// passed: handled by an earlier look, or from before the news begin.
func (f *finder) passed(mark string, at time.Time) bool {
	return at.Before(f.cursor.StartsAt) || slices.Contains(f.cursor.Recent, mark)
}

func (f *finder) add(kind, key string, at time.Time, payload any) {
	f.jobs = append(f.jobs, job.New{
		Queue: ticket.QueueDeliveries, Kind: kind, Key: key,
		Lane: job.Lane{Name: ticket.OutboundLane(f.who.Address)}, Sequence: at.UnixMilli(),
		Payload: payload, CorrelationID: f.r.CorrelationID,
	})
}
