package sandbox

import (
	"fmt"
	"time"

	tickets "supportbot/shared/tracker"

	"supportbot/shared/sandbox/tracker"
)

// catalogueView is what the page needs to name things of the tracker.
type catalogueView struct {
	Robot       string       `json:"robot"` // login
	Agents      []agentView  `json:"agents"`
	Queues      []queueView  `json:"queues"`
	Statuses    []statusView `json:"statuses"`
	Types       []nameView   `json:"types"`
	Priorities  []nameView   `json:"priorities"`
	Resolutions []nameView   `json:"resolutions"`
}

type agentView struct {
	Login string `json:"login"`
	Name  string `json:"name"`
}

type queueView struct {
	Key   string   `json:"key"`
	Name  string   `json:"name"`
	Types []string `json:"types"`
}

type nameView struct {
	Key string `json:"key"`
	RU  string `json:"ru"`
	EN  string `json:"en"`
}

type statusView struct {
	nameView
	Type string `json:"type"` // "" for custom ones
}

func catalogueOf(c tracker.Catalogue) *catalogueView {
	v := &catalogueView{Robot: c.Robot, Types: names(c.Types), Priorities: names(c.Priorities), Resolutions: names(c.Resolutions)}
	for _, a := range c.Agents {
		v.Agents = append(v.Agents, agentView{a.Login, a.Name})
	}
	for _, q := range c.Queues {
		v.Queues = append(v.Queues, queueView{q.Key, q.Name, q.Types})
	}
	for _, s := range c.Statuses {
		v.Statuses = append(v.Statuses, statusView{nameView{s.Key, s.RU, s.EN}, s.Type})
	}
	return v
}

func names(list []tracker.Name) []nameView {
	var views []nameView
	for _, n := range list {
		views = append(views, nameView(n))
	}
	return views
}

// ticketRow is a ticket in the list.
type ticketRow struct {
	ID        string    `json:"id"` // immutable
	Key       string    `json:"key"`
	Queue     string    `json:"queue"`
	Summary   string    `json:"summary"`
	Type      string    `json:"type"`
	Priority  string    `json:"priority"`
	Status    string    `json:"status"`
	Assignee  string    `json:"assignee,omitempty"`
	Messenger string    `json:"messenger,omitempty"` // where the customer is
	Customer  string    `json:"customer,omitempty"`
	Comments  int       `json:"comments"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func rowOf(t tracker.Ticket) ticketRow {
	return ticketRow{
		ID: t.ID, Key: t.Key, Queue: t.Queue, Summary: t.Summary, Type: t.Type, Priority: t.Priority,
		Status: t.Status, Assignee: t.Assignee, Comments: len(t.Comments), CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
		Messenger: t.Fields[string(tickets.FieldMessenger)], Customer: t.Fields[string(tickets.FieldName)],
	}
}

// ticketsShown is how many tickets a list has at the most: there may be fifty thousand.
const ticketsShown = 200

// ticketsHead says how many tickets there are besides those in the list.
type ticketsHead struct {
	Total int `json:"total"`
}

// ticketsPane is the tickets that changed last, of those in a queue ("" or "-": any)
// in which the words are found.
func (s *Sandbox) ticketsPane(queue, words string) pane {
	if queue == "-" {
		queue = ""
	}
	list, total := s.tracker.Find(tracker.Wanted{Queue: queue, Words: words, Named: string(tickets.FieldName)}, ticketsShown)
	p := pane{head: ticketsHead{total}}
	for _, t := range list {
		p.items = append(p.items, item{t.ID, rowOf(t)})
	}
	return p
}

// ticketHead is a ticket without its comments and changes.
type ticketHead struct {
	ticketRow
	Aliases     []string          `json:"aliases,omitempty"` // keys before moves
	Description []node            `json:"description,omitempty"`
	Resolution  string            `json:"resolution,omitempty"`
	Author      string            `json:"author"` // name
	Tags        []string          `json:"tags,omitempty"`
	Fields      map[string]string `json:"fields,omitempty"` // local ones by key
	Files       []fileView        `json:"files,omitempty"`  // those of no comment
	Steps       []tracker.Step    `json:"steps,omitempty"`  // what the status allows now
}

// entry is a comment or a change of a ticket.
type entry struct {
	ID     string    `json:"id"` // "c<comment id>" or "h<change id>"
	Kind   string    `json:"kind"`
	Author string    `json:"author"` // login
	Name   string    `json:"name"`
	At     time.Time `json:"at"`

	// Of comments:
	Comment   string     `json:"comment,omitempty"` // id
	Robot     bool       `json:"robot,omitempty"`
	Text      []node     `json:"text,omitempty"`
	Source    string     `json:"source,omitempty"` // Markdown
	Summonees []string   `json:"summonees,omitempty"`
	Files     []fileView `json:"files,omitempty"`
	Edited    bool       `json:"edited,omitempty"`

	// Of changes:
	Change *tracker.Change `json:"change,omitempty"`
}

func (s *Sandbox) ticketPane(ref string) (pane, error) {
	t, ok := s.tracker.Ticket(ref)
	if !ok {
		return pane{}, fmt.Errorf("ticket: %w", errNotFound)
	}
	head := ticketHead{
		ticketRow: rowOf(t), Aliases: t.Aliases, Description: markdownTree(t.Description), Resolution: t.Resolution,
		Author: t.Author, Tags: t.Tags, Fields: t.Fields, Steps: t.Steps,
	}
	var items []item
	inComments := map[string]bool{}
	for _, c := range t.Comments {
		for _, f := range c.Files {
			inComments[f.ID] = true
		}
		e := commentEntry(c)
		items = append(items, item{e.ID, e})
	}
	for _, f := range t.Files {
		if !inComments[f.ID] {
			head.Files = append(head.Files, trackerFile(f))
		}
	}
	for n, c := range s.tracker.History(ref) {
		if n == 0 {
			head.Author = c.Name // whoever created it
		}
		id := "h" + c.ID
		items = append(items, item{id, entry{ID: id, Kind: "change", Author: c.Author, Name: c.Name, At: c.At, Change: &c}})
	}
	return pane{head, items}, nil
}

func commentEntry(c tracker.Comment) entry {
	e := entry{
		ID: "c" + c.ID, Kind: "comment", Author: c.Author, Name: c.Name, At: c.CreatedAt, Comment: c.ID, Robot: c.Robot,
		Text: markdownTree(c.Text), Source: c.Text, Summonees: c.Summonees, Edited: c.Version > 1,
	}
	for _, f := range c.Files {
		e.Files = append(e.Files, trackerFile(f))
	}
	return e
}
