package tracker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hit is an issue as search knows it.
type hit struct {
	issue *issue
	state state
}

// criteria is the body of _search and _count.
type criteria struct {
	Queue  string                     `json:"queue"`
	Keys   json.RawMessage            `json:"keys"`
	Filter map[string]json.RawMessage `json:"filter"`
	Query  string                     `json:"query"`
	Order  json.RawMessage            `json:"order"`
}

// hits runs a search; the last result is the refusal, if any.
func (s *Server) hits(c *call) (list []hit, scrollable bool, refused answer) {
	var b criteria
	if err := json.Unmarshal(c.body, &b); err != nil {
		return nil, false, malformed()
	}
	given := 0
	for _, is := range []bool{b.Queue != "", len(b.Keys) > 0, b.Filter != nil, b.Query != ""} {
		if is {
			given++
		}
	}
	if given > 1 {
		return nil, false, fail(http.StatusBadRequest, "You can only use keys, a queue, or a search query")
	}
	p, sort, err := s.criteria(c, b)
	if err != nil {
		return nil, false, fail(http.StatusBadRequest, "%s", err)
	}
	now := s.now()
	for _, i := range s.issues {
		if st, there := i.visible(now, s.lag); there && p(i, st) {
			list = append(list, hit{i, st})
		}
	}
	if err := s.sort(list, sort); err != nil {
		return nil, false, fail(http.StatusBadRequest, "%s", err)
	}
	return list, b.Queue == "" && len(b.Keys) == 0, answer{}
}

// criteria turns a body into a predicate and an order.
func (s *Server) criteria(c *call, b criteria) (predicate, []order, error) {
	byKey := []order{{field: "key"}}
	switch {
	case b.Queue != "":
		return func(_ *issue, st state) bool { return st.queue.Key == b.Queue }, byKey, nil
	case len(b.Keys) > 0:
		keys := []string{}
		if json.Unmarshal(b.Keys, &keys) != nil {
			keys = []string{referenceOf(b.Keys)}
		}
		return func(_ *issue, st state) bool { return slices.Contains(keys, st.key) }, byKey, nil
	case b.Query != "":
		p, sort, err := s.parseQuery(c.user, b.Query)
		return p, sort, err
	}
	p, err := s.filter(c, b.Filter)
	return p, parseOrder(b.Order), err
}

// parseOrder reads "+field" or a list of them.
func parseOrder(raw json.RawMessage) (sort []order) {
	var list []string
	if len(raw) > 0 && json.Unmarshal(raw, &list) != nil {
		list = []string{referenceOf(raw)}
	}
	for _, text := range list {
		sort = append(sort, order{field: strings.TrimLeft(text, "+-"), desc: strings.HasPrefix(text, "-")})
	}
	return sort
}

// filter reads {field: value | [values] | {"from", "to"}}.
func (s *Server) filter(c *call, fields map[string]json.RawMessage) (predicate, error) {
	var all []predicate
	for name, raw := range fields {
		read, err := s.reader(name)
		if err != nil {
			return nil, err
		}
		var span struct{ From, To string }
		if json.Unmarshal(raw, &span) == nil && span.From+span.To != "" {
			for sign, at := range map[string]string{">=": span.From, "<=": span.To} {
				if at != "" {
					all = append(all, s.compare(read, sign, at))
				}
			}
			continue
		}
		var values []json.RawMessage
		if json.Unmarshal(raw, &values) != nil {
			values = []json.RawMessage{raw}
		}
		var any []predicate
		for _, v := range values {
			want := referenceOf(v)
			if !strings.HasSuffix(want, "()") {
				any = append(any, s.compare(read, "=", want))
				continue
			}
			p, err := s.call(read, "=", want, c.user)
			if err != nil {
				return nil, err
			}
			any = append(any, p)
		}
		all = append(all, func(i *issue, st state) bool {
			return slices.ContainsFunc(any, func(p predicate) bool { return p(i, st) })
		})
	}
	return func(i *issue, st state) bool {
		return !slices.ContainsFunc(all, func(p predicate) bool { return !p(i, st) })
	}, nil
}

// sort sorts by the given fields, then by age, newest first.
func (s *Server) sort(list []hit, sort []order) error {
	readers := make([]reader, len(sort))
	for n, o := range sort {
		var err error
		if readers[n], err = s.reader(o.field); err != nil {
			return err
		}
	}
	slices.SortStableFunc(list, func(a, b hit) int {
		for n, o := range sort {
			_, va := readers[n](a.issue, a.state)
			_, vb := readers[n](b.issue, b.state)
			c := compareValues(va, vb)
			if o.field == "key" {
				c = compareKeys(a.state, b.state)
			}
			if o.desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return -strings.Compare(a.issue.id, b.issue.id)
	})
	return nil
}

func compareKeys(a, b state) int {
	number := func(st state) int {
		n, _ := strconv.Atoi(st.key[strings.LastIndexByte(st.key, '-')+1:])
		return n
	}
	return cmp.Or(strings.Compare(a.queue.Key, b.queue.Key), cmp.Compare(number(a), number(b)))
}

func compareValues(a, b any) int {
	switch a := a.(type) {
	case time.Time:
		if b, same := b.(time.Time); same {
			return a.Compare(b)
		}
	case float64:
		if b, same := b.(float64); same {
			return cmp.Compare(a, b)
		}
	}
	text := func(v any) string {
		if v == nil {
			return ""
		}
		return fmt.Sprint(v)
	}
	return strings.Compare(text(a), text(b))
}

// search is POST /v3/issues/_search, by pages or by scroll.
func (s *Server) search(c *call) answer {
	if id := c.query("scrollId"); id != "" {
		return s.nextScroll(c, id)
	}
	list, scrollable, refused := s.hits(c)
	if refused.status != 0 {
		return refused
	}
	if c.query("scrollType") != "" {
		return s.beginScroll(c, list, scrollable)
	}
	page, valid := c.number("page", 1)
	size, alsoValid := c.number("perPage", 50)
	if !valid || !alsoValid {
		return malformed()
	}
	total := len(list)
	reachable := min(total, s.cfg.SearchLimit)
	from, to := min((page-1)*size, reachable), min(page*size, reachable)
	if (page-1)*size >= s.cfg.SearchLimit {
		return fail(http.StatusBadRequest, "Search results are limited to %d entries. Use scroll.", s.cfg.SearchLimit)
	}
	a := ok(s.hitsJSON(c, list[from:to]))
	a.header = http.Header{
		"X-Total-Count": {strconv.Itoa(total)}, "X-Total-Pages": {strconv.Itoa((total + size - 1) / size)},
	}
	return a
}

func (s *Server) hitsJSON(c *call, list []hit) []object {
	out := make([]object, 0, len(list))
	for _, h := range list {
		out = append(out, s.issueJSON(c, h.issue, h.state))
	}
	return out
}

// count answers a bare number.
func (s *Server) count(c *call) answer {
	list, _, refused := s.hits(c)
	if refused.status != 0 {
		return refused
	}
	return ok(len(list))
}
