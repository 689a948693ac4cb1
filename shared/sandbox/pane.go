package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// pane is one part of the page as it is now.
type pane struct {
	head  any
	items []item
}

// item is an entry of a pane's list; its view carries the id as "id".
type item struct {
	id   string
	view any
}

// Update is what the page has to change in a pane.
type Update struct {
	Pane  string            `json:"pane"`            // its path under /sandbox/api/
	Whole bool              `json:"whole,omitempty"` // this is all of it
	Gone  bool              `json:"gone,omitempty"`  // there is no such pane
	Head  json.RawMessage   `json:"head,omitempty"`  // if it changed
	Put   []json.RawMessage `json:"put,omitempty"`   // entries that are new or changed
	Drop  []string          `json:"drop,omitempty"`  // ids of entries that are gone
}

// find gives the pane of a path.
func (s *Sandbox) find(path string) (pane, error) {
	part := strings.Split(path, "/")
	switch {
	case path == "faults":
		return s.faultPane(), nil
	case path == "history":
		return s.historyPane(), nil
	case path == "tickets" && s.tracker != nil:
		return s.ticketsPane("", ""), nil
	case len(part) >= 3 && part[0] == "found" && s.tracker != nil:
		return s.ticketsPane(part[1], strings.Join(part[2:], "/")), nil
	case len(part) == 2 && part[0] == "tickets" && s.tracker != nil:
		return s.ticketPane(part[1])
	case len(part) == 2 && part[0] == "calls":
		return s.callPane(part[1])
	case len(part) == 2 && part[0] == "chats":
		return s.peoplePane(part[1])
	case len(part) == 3 && part[0] == "chats":
		return s.chatPane(part[1], part[2])
	}
	return pane{}, fmt.Errorf("pane %q: %w", path, errNotFound)
}

// getPane answers with a whole pane.
func (s *Sandbox) getPane(r *http.Request) (any, error) {
	path := r.PathValue("pane")
	p, err := s.find(path)
	if err != nil {
		return nil, err
	}
	u, _, err := (&memory{path: path}).update(p)
	return u, err
}

// memory is what one reader has of a pane.
type memory struct {
	path  string
	known bool
	head  []byte
	items map[string][]byte
}

// update gives what the reader lacks, and whether that is anything.
func (m *memory) update(p pane) (u Update, any bool, err error) {
	u = Update{Pane: m.path, Whole: !m.known}
	head, err := json.Marshal(p.head)
	if err != nil {
		return u, false, fmt.Errorf("encode head: %w", err)
	}
	if !bytes.Equal(head, m.head) {
		u.Head = head
	}
	items := make(map[string][]byte, len(p.items))
	for _, i := range p.items {
		view, err := json.Marshal(i.view)
		if err != nil {
			return u, false, fmt.Errorf("encode entry: %w", err)
		}
		items[i.id] = view
		if !bytes.Equal(view, m.items[i.id]) {
			u.Put = append(u.Put, view)
		}
	}
	for id := range m.items {
		if items[id] == nil {
			u.Drop = append(u.Drop, id)
		}
	}
	m.known, m.head, m.items = true, head, items
	return u, u.Whole || u.Head != nil || len(u.Put)+len(u.Drop) > 0, nil
}

// lose gives the update for a pane that is not there, and whether the reader has
// yet to learn it.
func (m *memory) lose() (Update, bool) {
	news := m.known || m.items == nil
	*m = memory{path: m.path, items: map[string][]byte{}}
	return Update{Pane: m.path, Gone: true}, news
}
