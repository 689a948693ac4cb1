package tracker

import (
	"reflect"
	"slices"
	"time"
)

// edit is one operation on an issue: whatever it does becomes one version, one
// entry of the changelog and one run of the triggers. The lock is held from
// begin to commit.
type edit struct {
	s         *Server
	i         *issue
	by        *user
	transport string // "api" or "front"
	at        time.Time
	past      bool // it is told of, not happening: no trigger runs
	before    state
	created   bool
	moved     bool
	diffs     []diff
	added     []*comment
	updated   []commentEdit
	removed   []commentRef
	files     []*file
}

// begin starts an operation; false when the issue has used up its versions.
func (s *Server) begin(i *issue, by *user, transport string) (*edit, bool) {
	limit := s.cfg.VersionLimit
	if !by.robot {
		limit += 1000
	}
	if i.version >= limit {
		return nil, false
	}
	e := &edit{s: s, i: i, by: by, transport: transport, at: s.now(), before: i.state}
	i.state = i.state.clone()
	return e, true
}

// begin starts the operation of a call, at the time that the call tells of.
func (c *call) begin(s *Server, i *issue) (*edit, bool) {
	e, free := s.begin(i, c.user, "api")
	if free && !c.past.IsZero() {
		e.at, e.past = c.past, true
	}
	return e, free
}

// set changes a field; nil clears it.
func (e *edit) set(id string, v any) {
	f := e.i.queue.field(id)
	from := e.i.fields.get(id)
	if reflect.DeepEqual(from, v) {
		return
	}
	e.i.fields.set(id, v)
	e.diffs = append(e.diffs, diff{f, from, v})
}

// enter puts the issue into a status. Leaving a final status clears the
// resolution, as the original's workflows do.
func (e *edit) enter(status, resolution string) {
	was := e.i.text("status")
	if was != "" {
		e.set("previousStatus", was)
	}
	e.set("status", status)
	e.set("statusStartTime", e.at)
	var kind any
	if t := e.s.status(status).Type; t != "" {
		kind = t
	}
	e.set("statusType", kind)
	if resolution != "" {
		e.set("resolution", resolution)
		e.set("resolvedAt", e.at)
		e.set("resolvedBy", e.by.ID)
		return
	}
	for _, id := range []string{"resolution", "resolvedAt", "resolvedBy"} {
		e.set(id, nil)
	}
}

// newComment is what a comment is made of.
type newComment struct {
	text      string
	summonees []*user
	files     []*file
	follow    bool // the author becomes a follower
}

func (e *edit) comment(n newComment) *comment {
	c := &comment{
		id: e.s.nextNumber(), longID: e.s.nextID(), text: n.text, author: e.by, editor: e.by,
		summonees: n.summonees, created: e.at, updated: e.at, version: 1, files: n.files,
	}
	for _, f := range n.files {
		f.comment = c.id
	}
	e.attach(n.files)
	e.i.comments = append(e.i.comments, c)
	e.added = append(e.added, c)
	if n.follow {
		e.follow(e.by)
	}
	return c
}

func (e *edit) follow(u *user) {
	if followers := e.i.list("followers"); !slices.Contains(followers, u.ID) {
		e.set("followers", append(slices.Clone(followers), u.ID))
	}
}

// attach turns uploads into the issue's files.
func (e *edit) attach(files []*file) {
	for _, f := range files {
		delete(e.s.uploads, f.id)
	}
	e.i.files = append(e.i.files, files...)
	e.files = append(e.files, files...)
}

func (e *edit) rewrite(c *comment, text string) {
	e.updated = append(e.updated, commentEdit{c.id, c.text, text})
	c.text, c.editor, c.updated, c.version = text, e.by, e.at, c.version+1
}

func (e *edit) remove(c *comment) {
	e.removed = append(e.removed, commentRef{c.id, c.text})
	e.i.comments = slices.DeleteFunc(e.i.comments, func(o *comment) bool { return o == c })
}

// move takes the issue to another queue: a new key, and the local fields are gone.
func (e *edit) move(q *queue) {
	e.moved = true
	for _, f := range e.i.queue.local {
		e.set(f.id, nil)
	}
	e.set("previousQueue", e.i.queue.Key)
	e.set("queue", q.Key)
	e.i.aliases = append(e.i.aliases, e.i.key)
	e.i.queue = q
	e.s.numberIssue(e.i)
	if !slices.Contains(q.Types, e.i.text("type")) {
		e.set("type", q.DefaultType)
	}
}

// numberIssue gives the issue the next key of its queue.
func (s *Server) numberIssue(i *issue) {
	i.queue.last++
	i.key = i.queue.Key + "-" + jsonNumber(float64(i.queue.last))
	s.byKey[i.key] = i
}

// commit ends the operation. Nothing changed: nothing happens.
func (e *edit) commit() bool {
	talk := len(e.added)+len(e.updated)+len(e.removed) > 0
	if !e.created && !talk && len(e.diffs)+len(e.files) == 0 {
		return false
	}
	i := e.i
	i.version++
	i.fields.set("updatedAt", e.at)
	i.fields.set("updatedBy", e.by.ID)
	if talk {
		i.fields.set("lastCommentUpdatedAt", e.at)
	}
	c := &change{
		id: e.s.nextID(), at: e.at, by: e.by, kind: e.kind(), transport: e.transport,
		diffs: slices.Clone(e.diffs), updated: e.updated, removed: e.removed, files: e.files,
	}
	for _, a := range e.added {
		c.added = append(c.added, commentRef{a.id, a.text})
	}
	i.changes = append(i.changes, c)
	i.index(e.at, e.s.lag)
	if !e.past {
		e.s.fire(e, c)
	}
	e.s.touch()
	return true
}

// kind is the type of the changelog's entry.
func (e *edit) kind() string {
	status := slices.ContainsFunc(e.diffs, func(d diff) bool { return d.field.id == "status" })
	switch {
	case e.created:
		return "IssueCreated"
	case e.moved:
		return "IssueMoved"
	case status:
		return "IssueWorkflow"
	case len(e.diffs) > 0:
		return "IssueUpdated"
	case len(e.added) > 0:
		return "IssueCommentAdded"
	case len(e.updated) > 0:
		return "IssueCommentUpdated"
	case len(e.removed) > 0:
		return "IssueCommentRemoved"
	}
	return "IssueAttachmentAdded"
}
