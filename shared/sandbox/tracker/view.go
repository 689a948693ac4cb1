package tracker

import (
	"errors"
	"io"
	"time"
)

// Ticket is an issue as people see it.
type Ticket struct {
	ID             string            `json:"id"`
	Key            string            `json:"key"`
	Aliases        []string          `json:"aliases,omitempty"` // keys before moves
	Queue          string            `json:"queue"`
	Version        int64             `json:"version"`
	Summary        string            `json:"summary"`
	Description    string            `json:"description"` // Markdown
	Type           string            `json:"type"`
	Priority       string            `json:"priority"`
	Status         string            `json:"status"`
	StatusType     string            `json:"status_type,omitempty"`
	PreviousStatus string            `json:"previous_status,omitempty"`
	Resolution     string            `json:"resolution,omitempty"`
	Assignee       string            `json:"assignee,omitempty"` // login
	Author         string            `json:"author"`             // login
	Followers      []string          `json:"followers,omitempty"`
	Tags           []string          `json:"tags,omitempty"`
	Unique         string            `json:"unique,omitempty"`
	Fields         map[string]string `json:"fields,omitempty"` // local fields by key
	CreatedAt      time.Time         `json:"created_at"`
	UpdatedAt      time.Time         `json:"updated_at"`
	Comments       []Comment         `json:"comments,omitempty"`
	Files          []File            `json:"files,omitempty"` // all, those of comments too
	Steps          []Step            `json:"steps,omitempty"` // what the status allows now
}

// Comment is a comment as people see it.
type Comment struct {
	ID        string    `json:"id"`
	Author    string    `json:"author"` // login
	Name      string    `json:"name"`
	Robot     bool      `json:"robot"`
	Text      string    `json:"text"` // Markdown
	Summonees []string  `json:"summonees,omitempty"`
	Files     []File    `json:"files,omitempty"`
	Version   int64     `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// File is an attachment; Server.Open gives its bytes.
type File struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime"`
	Size int64  `json:"size"` // bytes
}

// Step is a transition.
type Step struct {
	ID         string `json:"id"`
	To         string `json:"to"` // status
	Resolution bool   `json:"resolution"`
	RU         string `json:"ru"`
	EN         string `json:"en"`
}

// Catalogue is what a page needs to show and change tickets.
type Catalogue struct {
	Robot       string   `json:"robot"` // login
	Agents      []User   `json:"agents"`
	Queues      []Queue  `json:"queues"`
	Statuses    []Status `json:"statuses"`
	Types       []Name   `json:"types"`
	Priorities  []Name   `json:"priorities"`
	Resolutions []Name   `json:"resolutions"`
}

// Catalogue gives the dictionaries; tokens are left out.
func (s *Server) Catalogue() Catalogue {
	c := Catalogue{
		Robot: s.cfg.Robot.Login, Statuses: s.cfg.Statuses, Types: s.cfg.Types,
		Priorities: s.cfg.Priorities, Resolutions: s.cfg.Resolutions,
	}
	for _, u := range s.cfg.Agents {
		u.Token = ""
		c.Agents = append(c.Agents, u)
	}
	for _, q := range s.queues {
		c.Queues = append(c.Queues, q.Queue)
	}
	return c
}

// Tickets gives all tickets, newest first.
func (s *Server) Tickets() []Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Ticket, 0, len(s.issues))
	for n := len(s.issues) - 1; n >= 0; n-- {
		list = append(list, s.ticket(s.issues[n]))
	}
	return list
}

// Ticket gives a ticket by key, old key or id.
func (s *Server) Ticket(ref string) (Ticket, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(ref)
	if i == nil {
		return Ticket{}, false
	}
	return s.ticket(i), true
}

// Open gives a file and a reader of its bytes, which is valid until Close.
func (s *Server) Open(id string) (File, io.Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[id]
	if f == nil {
		return File{}, nil, errors.New("open file: no such file")
	}
	return f.view(), f.data.reader(), nil
}

func (f *file) view() File { return File{f.id, f.name, f.mime, f.data.size} }

func (s *Server) ticket(i *issue) Ticket {
	t := Ticket{
		ID: i.id, Key: i.key, Aliases: append([]string(nil), i.aliases...), Queue: i.queue.Key, Version: i.version,
		Summary: i.text("summary"), Description: i.text("description"), Type: i.text("type"), Priority: i.text("priority"),
		Status: i.text("status"), StatusType: i.text("statusType"), PreviousStatus: i.text("previousStatus"),
		Resolution: i.text("resolution"), Assignee: s.login(i.text("assignee")), Author: s.login(i.text("createdBy")),
		Tags: append([]string(nil), i.list("tags")...), Unique: i.text("unique"), Fields: map[string]string{},
		CreatedAt: i.time("createdAt"), UpdatedAt: i.time("updatedAt"),
	}
	for _, id := range i.list("followers") {
		t.Followers = append(t.Followers, s.login(id))
	}
	for _, f := range i.queue.local {
		if v, there := i.fields.get(f.id).(string); there {
			t.Fields[f.key] = v
		}
	}
	for _, m := range i.comments {
		t.Comments = append(t.Comments, m.view())
	}
	for _, f := range i.files {
		t.Files = append(t.Files, f.view())
	}
	for _, tr := range s.transitions(i) {
		t.Steps = append(t.Steps, Step{tr.ID, tr.To, tr.Resolution, tr.RU, tr.EN})
	}
	return t
}

func (m *comment) view() Comment {
	c := Comment{
		ID: m.id, Author: m.author.Login, Name: m.author.Name, Robot: m.author.robot, Text: m.text, Version: m.version,
		CreatedAt: m.created, UpdatedAt: m.updated,
	}
	for _, u := range m.summonees {
		c.Summonees = append(c.Summonees, u.Login)
	}
	for _, f := range m.files {
		c.Files = append(c.Files, f.view())
	}
	return c
}

func (s *Server) login(id string) string {
	if u := s.findUser(id); u != nil {
		return u.Login
	}
	return ""
}
