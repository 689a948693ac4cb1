// Package catalogue holds what an operator words and sorts without touching
// code: the categories that a customer chooses from, with the Tracker queue,
// type and priority that they mean, and what each status of Tracker means to a
// customer.
//
// The built-in document is default.json. The environment variable CATALOGUE
// holds another one, or the path of a file with it, of the same form:
//
//	{"categories": [{"key": "problem", "title": {"ru": "...", "en": "..."},
//	                 "queue": "SUP", "type": "bug", "priority": "normal"}],
//	 "statuses": {"inProgress": {"text": {"ru": "...", "en": "..."}, "phase": "open"}},
//	 "types":    {"done": {"text": {"ru": "...", "en": "..."}, "phase": "resolved"}}}
//
// Given categories replace the built-in ones; statuses and types are laid over
// them key by key. A category without a queue belongs to TRACKER_QUEUE.
package catalogue

import (
	"supportbot/shared/ticket"
)

// The languages that every text has to have. The first one is the default.
const (
	Russian = "ru"
	English = "en"
)

// Languages lists them, the default first.
var Languages = []string{Russian, English}

// Texts is one text in each language, by language.
type Texts map[string]string

// In gives the text in a language, or in the default one.
func (t Texts) In(language string) string {
	if s, ok := t[language]; ok {
		return s
	}
	return t[Russian]
}

// Category is what a ticket can be about.
type Category struct {
	Key      string `json:"key"`   // a-z, 0-9, "-" and "_", at most 24: it stands in buttons and in a field of the ticket
	Title    Texts  `json:"title"` // at most 40 characters: it is the label of a button
	Queue    string `json:"queue"` // Tracker queue key
	Type     string `json:"type"`  // Tracker issue type key
	Priority string `json:"priority"`
}

// Status is what a Tracker status means to a customer.
type Status struct {
	Text  Texts        `json:"text"`
	Phase ticket.Phase `json:"phase"`
}

// Catalogue is immutable once loaded.
type Catalogue struct {
	Categories []Category        `json:"categories"`
	Statuses   map[string]Status `json:"statuses"` // by status key
	Types      map[string]Status `json:"types"`    // by status type, for statuses that are not listed
}

// Category finds a category by its key.
func (c *Catalogue) Category(key string) (Category, bool) {
	for _, g := range c.Categories {
		if g.Key == key {
			return g, true
		}
	}
	return Category{}, false
}

// Queues lists the Tracker queues that categories belong to, each once.
func (c *Catalogue) Queues() []string {
	var queues []string
	seen := map[string]bool{}
	for _, g := range c.Categories {
		if !seen[g.Queue] {
			seen[g.Queue] = true
			queues = append(queues, g.Queue)
		}
	}
	return queues
}

// Status resolves a Tracker status: by its key, else by its type ("new",
// "inProgress", "paused", "done", "cancelled"; Tracker gives one to standard
// statuses only). A status that is not listed shows display, Tracker's own name
// of it, and counts as open when nothing says otherwise.
func (c *Catalogue) Status(key, kind, display string) Status {
	if s, ok := c.Statuses[key]; ok {
		return s
	}
	s, ok := c.Types[kind]
	if !ok {
		s = Status{Phase: ticket.PhaseOpen}
	}
	switch {
	case display != "":
		s.Text = Texts{Russian: display, English: display}
	case !ok:
		s.Text = Texts{Russian: key, English: key}
	}
	return s
}
