package loader

import (
	"slices"

	"supportbot/shared/analytics"
	"supportbot/shared/catalogue"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// phases says what statuses mean, and remembers those of which nobody has said it.
type phases struct {
	types     map[string]string // by the status' key
	catalogue *catalogue.Catalogue
}

func newPhases(statuses []tracker.Status, book *catalogue.Catalogue) phases {
	p := phases{types: map[string]string{}, catalogue: book}
	for _, s := range statuses {
		p.types[s.Key] = s.Type
	}
	return p
}

// of gives the phase of a status; kind is its type, if the caller knows it.
func (p phases) of(key, kind string) analytics.Phase {
	if kind == "" {
		kind = p.types[key]
	}
	if kind != "" || key == "" {
		return analytics.Phase(kind)
	}
	s, listed := p.catalogue.Statuses[key]
	switch {
	case !listed:
		return ""
	case s.Phase == ticket.PhaseOpen:
		return analytics.InProgress
	}
	return analytics.Done
}

// names are the statuses as analysts see them; unknown those without a phase.
func (p phases) names(statuses []tracker.Status) (names []analytics.StatusName, unknown []string) {
	for _, s := range statuses {
		n := analytics.StatusName{Key: s.Key, Name: s.Display, Phase: p.of(s.Key, s.Type)}
		if names = append(names, n); n.Phase == "" {
			unknown = append(unknown, s.Key)
		}
	}
	slices.Sort(unknown)
	return names, unknown
}
