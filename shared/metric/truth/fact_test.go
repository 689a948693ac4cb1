package truth_test

import (
	"time"

	"supportbot/shared/sandbox/history"
)

// fact is what analysts may know of a ticket at some time.
type fact struct {
	opened              time.Time
	messenger, category string
	kind                string // type of the issue
	agent               string // login; "": nobody
	queue               string
	deadline            string
	resolved            time.Time // the last time; zero: it is not resolved
	stays               []stay
	reopened            int
	stars               int
	rated               time.Time // the last time
	answered            time.Time // zero: never
}

// stay is a time in a status.
type stay struct {
	status      string
	from, until time.Time // until zero: it is in it
}

// comment is what became of a comment.
type comment struct {
	to       history.Audience // "" when it was deleted
	answered time.Time        // when it became an answer, the first time
}

// telling goes through a record.
type telling struct {
	fact
	field    int // the rating that the tracker shows: a move makes it forget
	comments []comment
}

// facts gives what is known of the tickets of a history after loads at some times, in
// their order. A customer's ticket is found wherever it is. One that an agent opened is
// found in the desk's queue, and asked for elsewhere as long as it is known to be open.
func facts(all []history.Record, loads []time.Time) (list []fact) {
	for _, r := range all {
		known := false
		var f fact
		for _, at := range loads {
			if !r.Opened.Before(at) {
				continue
			}
			if now := tell(r, at); r.By == "" || now.queue == r.Queue || known && !final(f.status()) {
				f, known = now, true
			}
		}
		if known {
			list = append(list, f)
		}
	}
	return list
}

// status is the present one.
func (f fact) status() string { return f.stays[len(f.stays)-1].status }

// lastSight is when a ticket that an agent opened after a time is moved out of the
// desk's queue.
func lastSight(all []history.Record, after time.Time) time.Time {
	for _, r := range all {
		for _, s := range r.Steps {
			if r.By != "" && s.Queue != "" && r.Opened.After(after) {
				return s.At
			}
		}
	}
	return time.Time{}
}

func tell(r history.Record, before time.Time) fact {
	t := telling{fact: fact{
		opened: r.Opened, messenger: r.Customer.Messenger, category: r.Category, kind: r.Type, queue: r.Queue,
		stays: []stay{{status: "open", from: r.Opened}},
	}}
	for _, s := range r.Steps {
		if s.At.Before(before) {
			t.step(s)
		}
	}
	for _, c := range t.comments {
		if c.to == history.Out && (t.answered.IsZero() || c.answered.Before(t.answered)) {
			t.answered = c.answered
		}
	}
	return t.fact
}

func (t *telling) step(s history.Step) {
	replace(&t.agent, s.Assignee)
	replace(&t.kind, s.Type)
	replace(&t.category, s.Category)
	replace(&t.deadline, s.Deadline)
	if s.Queue != "" {
		t.queue, t.field = s.Queue, 0
	}
	if s.Status != "" {
		last := &t.stays[len(t.stays)-1]
		if final(last.status) && !final(s.Status) {
			t.reopened++
		}
		last.until = s.At
		t.stays = append(t.stays, stay{status: s.Status, from: s.At})
		t.resolved = time.Time{}
		if s.Resolution != "" {
			t.resolved = s.At
		}
	}
	if s.Rating > 0 && s.Rating != t.field { // the same again is no change
		t.field, t.stars, t.rated = s.Rating, s.Rating, s.At
	}
	t.talk(s)
}

func (t *telling) talk(s history.Step) {
	switch {
	case s.Deletes > 0:
		t.comments[s.Deletes-1].to = ""
		return
	case s.Say.To == "":
		return
	case s.Rewrites == 0:
		t.comments = append(t.comments, comment{})
		s.Rewrites = len(t.comments)
	}
	c := &t.comments[s.Rewrites-1]
	if c.to = s.Say.To; c.to == history.Out && c.answered.IsZero() {
		c.answered = s.At
	}
}

func replace(v *string, by string) {
	switch by {
	case "":
	case history.Nobody:
		*v = ""
	default:
		*v = by
	}
}

// ended is when work ended for the first time; zero: never.
func (f fact) ended() time.Time {
	for _, s := range f.stays {
		if final(s.status) {
			return s.from
		}
	}
	return time.Time{}
}

// The statuses of the tracker in which work has ended: two of Tracker's, and a custom
// one of which the catalogue says it. Of another one, "waitingSupplier", nobody has
// said what it means.
func final(status string) bool {
	switch status {
	case "resolved", "closed", "cancelled", "rejected":
		return true
	}
	return false
}
