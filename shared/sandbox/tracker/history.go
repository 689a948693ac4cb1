package tracker

import (
	"strings"
	"time"
)

// Change is one entry of a ticket's history as people see it: one operation.
type Change struct {
	ID     string      `json:"id"`
	Kind   string      `json:"kind"`   // "IssueCreated", "IssueWorkflow"...
	Author string      `json:"author"` // login
	Name   string      `json:"name"`
	At     time.Time   `json:"at"`
	Fields []FieldStep `json:"fields,omitempty"`
	Files  []string    `json:"files,omitempty"` // names of files attached
	// Comments that were written, changed and removed.
	Added    int `json:"added,omitempty"`
	Updated  int `json:"updated,omitempty"`
	Removed  int `json:"removed,omitempty"`
	Triggers int `json:"triggers,omitempty"` // that ran
}

// FieldStep is the change of one field. Users are logins, entries of
// dictionaries keys; empty is none.
type FieldStep struct {
	Key  string `json:"key"`
	RU   string `json:"ru"`
	EN   string `json:"en"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// History gives the ticket's changes, oldest first; nil for an unknown ticket.
func (s *Server) History(ref string) []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(ref)
	if i == nil {
		return nil
	}
	list := make([]Change, 0, len(i.changes))
	for _, c := range i.changes {
		list = append(list, s.changeView(c))
	}
	return list
}

func (s *Server) changeView(c *change) Change {
	v := Change{
		ID: c.id, Kind: c.kind, Author: c.by.Login, Name: c.by.Name, At: c.at,
		Added: len(c.added), Updated: len(c.updated), Removed: len(c.removed), Triggers: len(c.triggers),
	}
	for _, f := range c.files {
		v.Files = append(v.Files, f.name)
	}
	for _, d := range c.diffs {
		v.Fields = append(v.Fields, FieldStep{
			Key: d.field.key, RU: d.field.ru, EN: d.field.en,
			From: s.shown(d.field, d.from), To: s.shown(d.field, d.to),
		})
	}
	return v
}

// shown is a field's value as a line of text.
func (s *Server) shown(f *field, v any) string {
	switch v := v.(type) {
	case string:
		if f.kind == kindUser {
			return s.login(v)
		}
		return v
	case []string:
		names := make([]string, len(v))
		for n, one := range v {
			names[n] = one
			if f.kind == kindUsers {
				names[n] = s.login(one)
			}
		}
		return strings.Join(names, ", ")
	case float64:
		return jsonNumber(v)
	case time.Time:
		return stamp(v)
	}
	return ""
}
