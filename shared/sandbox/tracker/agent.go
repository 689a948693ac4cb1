package tracker

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// The refusals of an agent's actions.
var (
	ErrNotFound = errors.New("not found")
	ErrRefused  = errors.New("refused")
)

// Agent works in the tracker as a person does, without the API.
type Agent struct {
	s     *Server
	login string
}

// As gives the agent with the login; an unknown one is refused at every action.
func (s *Server) As(login string) *Agent { return &Agent{s, login} }

// NewTicket is a ticket made by hand. Empty Queue, Type and Priority get the
// defaults.
type NewTicket struct {
	Queue       string            `json:"queue"`
	Summary     string            `json:"summary"`
	Description string            `json:"description"`
	Type        string            `json:"type"`
	Priority    string            `json:"priority"`
	Fields      map[string]string `json:"fields"` // local fields by key
}

// NewComment is a comment to be written.
type NewComment struct {
	Text      string    `json:"text"`      // Markdown
	Summonees []string  `json:"summonees"` // logins
	Files     []NewFile `json:"files"`
}

// NewFile is a file to be attached.
type NewFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// Edit is one operation: comments and changes together make one version, one
// entry of the changelog and one run of the triggers. Empty parts change
// nothing; Assignee "-" takes the assignee away.
type Edit struct {
	Comments   []NewComment `json:"comments"`
	Status     string       `json:"status"`     // by a transition that leads there
	Resolution string       `json:"resolution"` // where the transition asks for one
	Assignee   string       `json:"assignee"`   // login
	Priority   string       `json:"priority"`
	Type       string       `json:"type"`
	Summary    string       `json:"summary"`
	Deadline   string       `json:"deadline"` // "2006-01-02"; "-" takes it away
}

// Create makes a ticket.
func (a *Agent) Create(n NewTicket) (Ticket, error) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	by := a.s.findUser(a.login)
	q := a.s.findQueue(n.Queue)
	if n.Queue == "" {
		q = a.s.queues[0]
	}
	if by == nil || q == nil || strings.TrimSpace(n.Summary) == "" {
		return Ticket{}, fmt.Errorf("create ticket: %w", ErrRefused)
	}
	i := &issue{id: a.s.nextID(), state: state{queue: q}}
	values := map[string]any{"summary": n.Summary}
	for key, v := range n.Fields {
		f := q.localByKey(key)
		if f == nil {
			return Ticket{}, fmt.Errorf("create ticket: field %s: %w", key, ErrRefused)
		}
		values[f.id] = v
	}
	if n.Description != "" {
		values["description"] = n.Description
	}
	if err := a.s.named(q, values, Edit{Type: n.Type, Priority: n.Priority}); err != nil {
		return Ticket{}, fmt.Errorf("create ticket: %w", err)
	}
	e, _ := a.s.begin(i, by, "front")
	a.s.open(e, "", values)
	e.commit()
	return a.s.ticket(i), nil
}

// named adds the dictionary fields of an edit to values.
func (s *Server) named(q *queue, values map[string]any, d Edit) error {
	for id, ref := range map[string]string{"type": d.Type, "priority": d.Priority, "assignee": d.Assignee} {
		if ref == "" {
			continue
		}
		if id == "assignee" && ref == "-" {
			values[id] = nil
			continue
		}
		v, known := s.resolve(q, q.field(id).kind, ref)
		if !known {
			return fmt.Errorf("%s %q: %w", id, ref, ErrRefused)
		}
		values[id] = v
	}
	return nil
}

// Do applies an edit to the ticket (by key, old key or id).
func (a *Agent) Do(ref string, d Edit) (Ticket, error) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	e, err := a.begin(ref)
	if err != nil {
		return Ticket{}, fmt.Errorf("edit ticket: %w", err)
	}
	values := map[string]any{}
	if d.Summary != "" {
		values["summary"] = d.Summary
	}
	switch d.Deadline {
	case "":
	case "-":
		values["deadline"] = nil
	default:
		values["deadline"] = d.Deadline
	}
	err = a.s.named(e.i.queue, values, d)
	comments, commentErr := a.comments(d.Comments)
	step, stepErr := a.s.step(e.i, d)
	if err = errors.Join(err, commentErr, stepErr); err != nil {
		return Ticket{}, fmt.Errorf("edit ticket: %w", err)
	}
	if step != nil {
		e.enter(step.To, d.Resolution)
	}
	for _, id := range sortedKeys(values) {
		e.set(id, values[id])
	}
	for _, n := range comments {
		for _, f := range n.files {
			a.s.keep(f)
		}
		e.comment(n)
	}
	e.commit()
	return a.s.ticket(e.i), nil
}

// step finds the transition that the edit asks for; nil for none.
func (s *Server) step(i *issue, d Edit) (*Transition, error) {
	if d.Status == "" {
		return nil, nil
	}
	for _, t := range s.transitions(i) {
		if t.To != d.Status {
			continue
		}
		_, known := s.resolve(i.queue, kindResolution, d.Resolution)
		if t.Resolution != (d.Resolution != "") || t.Resolution && !known {
			return nil, fmt.Errorf("resolution %q: %w", d.Resolution, ErrRefused)
		}
		return &t, nil
	}
	return nil, fmt.Errorf("no transition from %s to %s: %w", i.text("status"), d.Status, ErrRefused)
}

func (a *Agent) comments(list []NewComment) (out []newComment, err error) {
	by := a.s.findUser(a.login)
	for _, n := range list {
		if refuseText(n.Text) != nil {
			return nil, fmt.Errorf("comment's text: %w", ErrRefused)
		}
		c := newComment{text: n.Text, follow: true}
		for _, login := range n.Summonees {
			u := a.s.findUser(login)
			if u == nil {
				return nil, fmt.Errorf("summoned user: %w", ErrNotFound)
			}
			c.summonees = append(c.summonees, u)
		}
		for _, f := range n.Files {
			data, _, err := newBlob(bytes.NewReader(f.Data), maxFile)
			if err != nil {
				return nil, fmt.Errorf("keep file: %w", err)
			}
			c.files = append(c.files, &file{name: f.Name, mime: mimeType(f.Name), data: data, by: by})
		}
		out = append(out, c)
	}
	return out, nil
}

func (a *Agent) begin(ref string) (*edit, error) {
	i, by := a.s.find(ref), a.s.findUser(a.login)
	if i == nil || by == nil {
		return nil, ErrNotFound
	}
	e, free := a.s.begin(i, by, "front")
	if !free {
		return nil, fmt.Errorf("version limit: %w", ErrRefused)
	}
	return e, nil
}

// Comment writes one comment.
func (a *Agent) Comment(ref, text string, summonees ...string) (Comment, error) {
	t, err := a.Do(ref, Edit{Comments: []NewComment{{Text: text, Summonees: summonees}}})
	if err != nil {
		return Comment{}, err
	}
	return t.Comments[len(t.Comments)-1], nil
}

// EditComment replaces a comment's text and, unless nil, its summonees.
func (a *Agent) EditComment(ref, id, text string, summonees ...string) error {
	return a.onComment(ref, id, func(e *edit, m *comment) error {
		checked, err := a.comments([]NewComment{{Text: text, Summonees: summonees}})
		if err != nil {
			return err
		}
		e.rewrite(m, text)
		if checked[0].summonees != nil {
			m.summonees = checked[0].summonees
		}
		return nil
	})
}

// DeleteComment removes a comment.
func (a *Agent) DeleteComment(ref, id string) error {
	return a.onComment(ref, id, func(e *edit, m *comment) error { e.remove(m); return nil })
}

func (a *Agent) onComment(ref, id string, do func(*edit, *comment) error) error {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	e, err := a.begin(ref)
	if err != nil {
		return fmt.Errorf("change comment: %w", err)
	}
	m := e.i.comment(id)
	if m == nil {
		return fmt.Errorf("change comment: %w", ErrNotFound)
	}
	if err := do(e, m); err != nil {
		return fmt.Errorf("change comment: %w", err)
	}
	e.commit()
	return nil
}

// Move takes a ticket to another queue: its key changes, local fields are lost.
func (a *Agent) Move(ref, to string) (Ticket, error) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	e, err := a.begin(ref)
	if err != nil {
		return Ticket{}, fmt.Errorf("move ticket: %w", err)
	}
	q := a.s.findQueue(to)
	if q == nil || q == e.i.queue {
		return Ticket{}, fmt.Errorf("move ticket: %w", ErrRefused)
	}
	e.move(q)
	e.commit()
	return a.s.ticket(e.i), nil
}
