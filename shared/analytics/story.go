package analytics

import (
	"slices"
	"time"
)

// Story is what a ticket's events tell of it as a whole, so that most questions need
// not look through them again.
type Story struct {
	AnsweredAt time.Time // the first answer to the customer that is still there; zero: none
	RatedAt    time.Time // when it got a rating, the last time; zero: never
	Path       []Stay    // the statuses that it had, in their order
}

// Stay is a status that a ticket had from a time on.
type Stay struct {
	Status string
	Phase  Phase
	Since  time.Time
}

// Tell gives the story of all events of a ticket, each in its latest state. Those of
// one time have to be in their order.
func Tell(events []Event) (s Story) {
	for _, e := range events {
		switch {
		case e.Deleted:
		case e.Kind == CommentOut && (s.AnsweredAt.IsZero() || e.At.Before(s.AnsweredAt)):
			s.AnsweredAt = e.At
		case e.Kind == Rating && e.After != "" && e.At.After(s.RatedAt):
			s.RatedAt = e.At
		case e.Kind == Status:
			s.Path = append(s.Path, Stay{Status: e.After, Phase: e.AfterPhase, Since: e.At})
		}
	}
	slices.SortStableFunc(s.Path, func(x, y Stay) int { return x.Since.Compare(y.Since) })
	return s
}
