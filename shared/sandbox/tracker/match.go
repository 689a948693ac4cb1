package tracker

import (
	"fmt"
	"strings"
	"time"
)

// reader gives a field and its value for an issue in a state; a nil field when
// the issue's queue has none of that name.
type reader func(*issue, state) (*field, any)

// reader finds a field by its name in the query language: id, key, Russian or
// English name, or QUEUE.key for local ones.
func (s *Server) reader(name string) (reader, error) {
	if strings.EqualFold(name, "key") {
		f := &field{id: "key", kind: kindString}
		return func(_ *issue, st state) (*field, any) { return f, st.key }, nil
	}
	aliases := map[string]string{"created": "createdAt", "updated": "updatedAt", "resolved": "resolvedAt", "author": "createdBy"}
	if id := aliases[strings.ToLower(name)]; id != "" {
		name = id
	}
	for _, f := range s.global {
		if strings.EqualFold(name, f.id) || strings.EqualFold(name, f.en) || strings.EqualFold(name, f.ru) {
			return func(_ *issue, st state) (*field, any) { return f, st.fields.get(f.id) }, nil
		}
	}
	for _, q := range s.queues {
		for _, f := range q.local {
			if name != f.id && !strings.EqualFold(name, q.Key+"."+f.key) {
				continue
			}
			return func(_ *issue, st state) (*field, any) {
				if st.queue != q {
					return nil, nil
				}
				return f, st.fields.get(f.id)
			}, nil
		}
	}
	return nil, fmt.Errorf("unknown field %q", name)
}

// call makes the predicate of a function of the query language.
func (s *Server) call(read reader, sign, function string, me *user) (predicate, error) {
	switch strings.ToLower(function) {
	case "empty()", "notempty()":
		empty := strings.EqualFold(function, "empty()")
		return func(i *issue, st state) bool {
			_, v := read(i, st)
			return (v == nil) == empty
		}, nil
	case "me()":
		return s.compare(read, sign, me.ID), nil
	}
	return nil, fmt.Errorf("unknown function %s", function)
}

// compare makes the predicate `field sign want`.
func (s *Server) compare(read reader, sign, want string) predicate {
	at, isTime := queryTime(want)
	return func(i *issue, st state) bool {
		f, v := read(i, st)
		if f == nil || v == nil {
			return sign == "!"
		}
		switch v := v.(type) {
		case time.Time:
			return isTime && ordered(sign, v.Compare(at))
		case []string:
			found := false
			for _, item := range v {
				found = found || s.same(f, item, want)
			}
			return found == (sign == "=")
		case float64:
			return sign == "=" && jsonNumber(v) == want
		case string:
			if sign == "=" || sign == "!" {
				return s.same(f, v, want) == (sign == "=")
			}
			return ordered(sign, strings.Compare(v, want))
		}
		return false
	}
}

func ordered(sign string, c int) bool {
	switch sign {
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case "<":
		return c < 0
	case "!":
		return c != 0
	}
	return c == 0
}

// same compares a value with what was written: people by login, id or name, dictionary
// entries by key, id or name.
func (s *Server) same(f *field, v, want string) bool {
	if strings.EqualFold(v, want) {
		return true
	}
	switch f.kind {
	case kindUser, kindUsers:
		u := s.findUser(v)
		return u != nil && (u.Login == want || u.Name == want)
	case kindQueue:
		q := s.findQueue(v)
		return q != nil && (q.id == want || q.Name == want)
	}
	for n, e := range s.dictionary(f.kind) {
		if e.Key == v {
			return strings.EqualFold(e.RU, want) || strings.EqualFold(e.EN, want) || jsonNumber(float64(n+1)) == want
		}
	}
	return false
}

// queryTime reads a time of the query language, in UTC.
func queryTime(text string) (time.Time, bool) {
	layouts := []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly, timeLayout, time.RFC3339Nano}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
