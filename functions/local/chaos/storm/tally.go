package storm

import (
	"maps"
	"slices"
)

// tally is of faults, by kind: how many were injected, and how many calls, messages or
// processes met them.
type tally map[string]met

type met struct{ Injected, Met int }

func (t tally) inject(kind string, n int) {
	m := t[kind]
	m.Injected += n
	t[kind] = m
}

func (t tally) meet(kind string, n int) {
	m := t[kind]
	m.Met += n
	t[kind] = m
}

// done counts a fault that is met when it happens.
func (t tally) done(kind string) {
	t.inject(kind, 1)
	t.meet(kind, 1)
}

func (t tally) add(other tally) {
	for kind, m := range other {
		t.inject(kind, m.Injected)
		t.meet(kind, m.Met)
	}
}

func (t tally) kinds() []string { return slices.Sorted(maps.Keys(t)) }

// unmet lists the faults that nothing met; the folder that is gone is there for nobody.
func (t tally) unmet() (kinds []string) {
	for _, kind := range t.kinds() {
		if t[kind].Met == 0 && kind != crammed {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
