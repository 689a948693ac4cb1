package tracker

import "slices"

// values are the fields of an issue by their ids; unset fields are absent. There are
// some twenty: a list takes a third of a map's memory, which counts when there are
// fifty thousand issues, and is searched as fast.
type values []value

type value struct {
	id string
	v  any
}

func (l values) get(id string) any {
	for _, x := range l {
		if x.id == id {
			return x.v
		}
	}
	return nil
}

// set changes a field; nil takes it away.
func (l *values) set(id string, v any) {
	at := slices.IndexFunc(*l, func(x value) bool { return x.id == id })
	switch {
	case v == nil && at >= 0:
		*l = slices.Delete(*l, at, at+1)
	case v == nil:
	case at >= 0:
		(*l)[at].v = v
	default:
		*l = append(*l, value{id, v})
	}
}
