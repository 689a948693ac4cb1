package tracker

import (
	"slices"
	"strings"
	"time"
)

// user is a User with its role.
type user struct {
	User
	robot bool
}

// queue is a queue with its local fields and triggers.
type queue struct {
	Queue
	id       string
	last     int // number of the newest issue
	local    []*field
	global   []*field // the same for all queues
	triggers []*trigger
}

// state is what of an issue can be edited, searched and asked for by a trigger.
// The fields are shared with what was indexed: only an edit changes them, and it
// begins with a copy.
type state struct {
	key     string
	queue   *queue
	version int64
	fields  values
}

func (st state) clone() state {
	st.fields = slices.Clone(st.fields)
	return st
}

func (st state) text(id string) string {
	v, _ := st.fields.get(id).(string)
	return v
}

func (st state) list(id string) []string {
	v, _ := st.fields.get(id).([]string)
	return v
}

func (st state) time(id string) time.Time {
	v, _ := st.fields.get(id).(time.Time)
	return v
}

// issue is an issue with its past.
type issue struct {
	state
	id       string
	aliases  []string
	comments []*comment
	files    []*file
	changes  []*change
	indexed  []indexed // what search knows, oldest first
}

// indexed is a state and the time from which search may show it.
type indexed struct {
	at    time.Time
	state state
}

// comment is a comment of an issue.
type comment struct {
	id, longID       string
	text             string
	author, editor   *user
	summonees        []*user
	created, updated time.Time
	version          int64
	files            []*file
}

// file is an attachment, or an upload that may become one.
type file struct {
	id, name, mime string
	data           blob
	by             *user
	created        time.Time
	comment        string // id of its comment, if any
}

// change is an entry of the changelog.
type change struct {
	id        string
	at        time.Time
	by        *user
	kind      string // IssueCreated, IssueWorkflow...
	transport string
	diffs     []diff
	added     []commentRef
	removed   []commentRef
	updated   []commentEdit
	files     []*file
	triggers  []*firing
}

// diff is the change of one field.
type diff struct {
	field    *field
	from, to any
}

// commentRef names a comment as it was at the time.
type commentRef struct{ id, text string }

type commentEdit struct{ id, from, to string }

// find gives the issue by key, old key or id.
func (s *Server) find(ref string) *issue { return s.byKey[strings.ToUpper(ref)] }

func (s *Server) findQueue(ref string) *queue {
	for _, q := range s.queues {
		if q.Key == ref || q.id == ref {
			return q
		}
	}
	return nil
}

// findUser gives the user by login or id.
func (s *Server) findUser(ref string) *user {
	for _, u := range s.users {
		if u.Login == ref || u.ID == ref {
			return u
		}
	}
	return nil
}

func (i *issue) comment(id string) *comment {
	at := slices.IndexFunc(i.comments, func(c *comment) bool { return c.id == id || c.longID == id })
	if at < 0 {
		return nil
	}
	return i.comments[at]
}

// visible is the state that search shows at now, and false while it shows none.
func (i *issue) visible(now time.Time, lag time.Duration) (state, bool) {
	for n := len(i.indexed) - 1; n >= 0; n-- {
		if !i.indexed[n].at.Add(lag).After(now) {
			return i.indexed[n].state, true
		}
	}
	return state{}, false
}

// index makes the present state known to search. States that search can no
// longer show are dropped.
func (i *issue) index(now time.Time, lag time.Duration) {
	i.indexed = append(i.indexed, indexed{now, i.state})
	for len(i.indexed) > 1 && !i.indexed[1].at.Add(lag).After(now) {
		i.indexed = i.indexed[1:]
	}
}

// addQueue adds a queue with its defaults. Each queue has field ids of its own.
func (s *Server) addQueue(c Queue) *queue {
	if c.Lead == "" {
		c.Lead = s.users[0].Login
	}
	if len(c.Types) == 0 {
		for _, t := range s.cfg.Types {
			c.Types = append(c.Types, t.Key)
		}
	}
	if c.DefaultType == "" {
		c.DefaultType = c.Types[0]
	}
	if c.DefaultPriority == "" {
		c.DefaultPriority = "normal"
	}
	if len(c.Workflow) == 0 {
		c.Workflow = DefaultWorkflow()
	}
	q := &queue{Queue: c, id: s.nextNumber(), global: s.global}
	for _, key := range c.Fields {
		s.addLocal(q, key, key, key, kindString)
	}
	s.queues = append(s.queues, q)
	return q
}

func (s *Server) addLocal(q *queue, key, ru, en string, k kind) *field {
	f := &field{id: s.nextID() + "--" + key, key: key, ru: ru, en: en, kind: k, version: 1}
	q.local = append(q.local, f)
	return f
}
