package catalogue

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"unicode/utf16"

	"supportbot/shared/ticket"
)

const (
	labelLimit    = 40  // VK's limit for a button's label; Telegram's is wider
	textLimit     = 100 // a status stands in a line of a list
	categoryLimit = 50
)

var (
	keyForm   = regexp.MustCompile(`^[a-z0-9_-]{1,24}$`)
	queueForm = regexp.MustCompile(`^[A-Z][A-Z0-9]*$`)
	statuses  = []string{"new", "inProgress", "paused", "done", "cancelled"}
	phases    = []ticket.Phase{ticket.PhaseOpen, ticket.PhaseResolved, ticket.PhaseClosed}
)

// problems lists all that is wrong, in the document's order.
func (c *Catalogue) problems() []error {
	var out []error
	bad := func(format string, args ...any) { out = append(out, fmt.Errorf(format, args...)) }
	switch {
	case len(c.Categories) == 0:
		bad("categories: there are none")
	case len(c.Categories) > categoryLimit:
		bad("categories: %d are more than %d", len(c.Categories), categoryLimit)
	}
	seen := map[string]bool{}
	for i, g := range c.Categories {
		where := fmt.Sprintf("category %d (%q)", i+1, g.Key)
		if !keyForm.MatchString(g.Key) {
			bad("%s: the key has to be 1-24 of a-z, 0-9, _ and -", where)
		}
		if seen[g.Key] {
			bad("%s: the key is there twice", where)
		}
		seen[g.Key] = true
		if !queueForm.MatchString(g.Queue) {
			bad("%s: queue %q is no Tracker queue key, and TRACKER_QUEUE does not stand in", where, g.Queue)
		}
		if g.Type == "" {
			bad("%s: type is missing", where)
		}
		if g.Priority == "" {
			bad("%s: priority is missing", where)
		}
		out = append(out, g.Title.problems(where+": title", labelLimit)...)
	}
	out = append(out, statusProblems("status", c.Statuses)...)
	out = append(out, statusProblems("status type", c.Types)...)
	for kind := range c.Types {
		if !slices.Contains(statuses, kind) {
			bad("status type %q: has to be one of %v", kind, statuses)
		}
	}
	return out
}

func statusProblems(what string, all map[string]Status) []error {
	keys := make([]string, 0, len(all))
	for key := range all {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	var out []error
	for _, key := range keys {
		where := fmt.Sprintf("%s %q", what, key)
		if !slices.Contains(phases, all[key].Phase) {
			out = append(out, fmt.Errorf("%s: phase %q has to be one of %v", where, all[key].Phase, phases))
		}
		out = append(out, all[key].Text.problems(where+": text", textLimit)...)
	}
	return out
}

func (t Texts) problems(where string, limit int) []error {
	var out []error
	for _, language := range Languages {
		s := t[language]
		switch n := len(utf16.Encode([]rune(s))); {
		case n == 0:
			out = append(out, fmt.Errorf("%s: %q is missing", where, language))
		case n > limit:
			out = append(out, fmt.Errorf("%s: %q has %d characters, more than %d", where, language, n, limit))
		}
	}
	for language := range t {
		if !slices.Contains(Languages, language) {
			out = append(out, fmt.Errorf("%s: %q is none of the languages %v", where, language, Languages))
		}
	}
	return out
}
