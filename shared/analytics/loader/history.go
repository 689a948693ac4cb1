package loader

import (
	"slices"
	"strconv"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/news"
	"supportbot/shared/tracker"
)

// tombstone is a version above those of comments.
const tombstone = 1 << 48

// history is all that Tracker tells of one ticket. What it makes of it depends on
// nothing else, so that it does not matter when and how often a ticket is read.
type history struct {
	issue    tracker.Issue
	changes  []tracker.Change
	comments []tracker.Comment
	rule     news.ReplyRule
	phases   phases
}

// ticket gives the issue's present version.
func (h *history) ticket() analytics.Ticket {
	i := h.issue
	t := analytics.Ticket{
		Issue: i.ID, Version: i.Version, UpdatedAt: i.UpdatedAt, Key: i.Key, Queue: i.Queue, CreatedAt: i.CreatedAt,
		ResolvedAt: i.ResolvedAt, Type: i.Type, Priority: i.Priority, Status: i.Status.Key, Phase: h.phases.of(i.Status.Key, i.Status.Type),
		Resolution: i.Resolution, Assignee: i.AssigneeID, Messenger: h.field(tracker.FieldMessenger), Category: h.field(tracker.FieldCategory),
		Locale: h.field(tracker.FieldLocale), Rating: rating(h.field(tracker.FieldRating)), Deadline: i.Deadline,
	}
	if owner, ok := news.CustomerOf(i); ok {
		t.Messenger = string(owner.Address.Messenger)
	}
	for _, c := range i.SLA {
		kept := c.Stopped && !c.Failed // in time
		if !kept && !c.FailsAt.IsZero() && (t.SLAFailsAt.IsZero() || c.FailsAt.Before(t.SLAFailsAt)) {
			t.SLAFailsAt = c.FailsAt
		}
	}
	return t
}

// field gives a local field, or what it was when the issue was moved to another
// queue, where it has none.
func (h *history) field(f tracker.Field) string {
	if v := h.issue.Fields[f]; v != "" {
		return v
	}
	for _, c := range slices.Backward(h.changes) {
		for _, x := range c.Fields {
			if x.Field != string(f) {
				continue
			}
			if x.To.Key == "" && c.Type == tracker.TypeMoved {
				return x.From.Key
			}
			return x.To.Key
		}
	}
	return ""
}

// rating reads a rating; what is none, is 0.
func rating(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 5 {
		return 0
	}
	return n
}

// agents are those who were given the ticket, as far as Tracker names them.
func (h *history) agents() []analytics.Agent {
	names := map[string]analytics.Agent{}
	add := func(id, login, name string) {
		if id != "" && name != "" {
			names[id] = analytics.Agent{ID: id, Login: login, Name: name, SeenAt: h.issue.UpdatedAt}
		}
	}
	for _, c := range h.changes {
		for _, x := range c.Fields {
			if x.Field == fieldAssignee {
				add(x.From.Key, "", x.From.Name)
				add(x.To.Key, "", x.To.Name)
			}
		}
	}
	login := h.issue.Assignee
	if login == h.issue.AssigneeID {
		login = "" // Tracker told the id alone
	}
	add(h.issue.AssigneeID, login, h.issue.AssigneeName)
	agents := make([]analytics.Agent, 0, len(names))
	for _, a := range names {
		agents = append(agents, a)
	}
	return agents
}

// event is one of this ticket.
func (h *history) event(id string, kind analytics.Kind, at time.Time, actor, before, after string) analytics.Event {
	return analytics.Event{
		Issue: h.issue.ID, ID: id, Kind: kind, At: at, Actor: actor, Before: before, After: after, OpenedAt: h.issue.CreatedAt,
	}
}

// events gives everything that happened, values at the creation included.
func (h *history) events() []analytics.Event {
	author := ""
	for _, c := range h.changes {
		if c.Type == typeCreated {
			author = c.Author
		}
	}
	events := []analytics.Event{h.event(idCreated, analytics.Created, h.issue.CreatedAt, author, "", "")}
	for _, f := range followed {
		if first := h.first(f); first != "" {
			events = append(events, h.changed(idCreated, f, h.issue.CreatedAt, author, "", first)...)
		}
	}
	for _, c := range h.changes {
		if c.Type == typeCreated {
			continue // told by the first values
		}
		for _, x := range c.Fields {
			at := slices.IndexFunc(followed, func(f followedField) bool { return f.name == x.Field })
			lost := x.To.Key == "" && c.Type == tracker.TypeMoved && at >= 0 && followed[at].local
			if at < 0 || lost || x.From.Key == x.To.Key {
				continue
			}
			events = append(events, h.changed(c.ID, followed[at], c.At, c.Author, x.From.Key, x.To.Key)...)
		}
	}
	return append(events, h.said()...)
}

const (
	idCreated     = "created"
	typeCreated   = "IssueCreated"
	fieldAssignee = "assignee"
)

// followedField is a field whose changes are events.
type followedField struct {
	name  string
	kind  analytics.Kind
	local bool // a move takes it away
	now   func(i tracker.Issue) string
}

var followed = []followedField{
	{"status", analytics.Status, false, func(i tracker.Issue) string { return i.Status.Key }},
	{fieldAssignee, analytics.Assignee, false, func(i tracker.Issue) string { return i.AssigneeID }},
	{"priority", analytics.Priority, false, func(i tracker.Issue) string { return i.Priority }},
	{"type", analytics.Type, false, func(i tracker.Issue) string { return i.Type }},
	{"queue", analytics.Queue, false, func(i tracker.Issue) string { return i.Queue }},
	{string(tracker.FieldRating), analytics.Rating, true, func(i tracker.Issue) string { return i.Fields[tracker.FieldRating] }},
}

// first is a field's value at the creation: what the first change changed, or else
// what it still is.
func (h *history) first(f followedField) string {
	for _, c := range h.changes {
		if c.Type == typeCreated {
			continue
		}
		for _, x := range c.Fields {
			if x.Field == f.name {
				return x.From.Key
			}
		}
	}
	return f.now(h.issue)
}

// changed gives the events of one change of one field.
func (h *history) changed(change string, f followedField, at time.Time, actor, before, after string) []analytics.Event {
	e := h.event(change+":"+string(f.kind), f.kind, at, actor, before, after)
	if f.kind != analytics.Status {
		return []analytics.Event{e}
	}
	e.BeforePhase, e.AfterPhase = h.phases.of(before, ""), h.phases.of(after, "")
	if !e.BeforePhase.Final() || e.AfterPhase.Final() {
		return []analytics.Event{e}
	}
	again := e
	again.ID, again.Kind = change+":"+string(analytics.Reopened), analytics.Reopened
	return []analytics.Event{e, again}
}
