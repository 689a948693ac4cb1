package notification

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// shape holds a body against the type that it is to become. encoding/json alone is
// too kind: of two fields with one name it takes the last, names may be spelt in
// any case, and null is nothing, so that a mistaken criterion would be none and the
// broadcast one to everybody. And it stops at the first mistake, without saying
// where it is.
type shape struct{ wrong []Field }

// mismatches says where a valid JSON value is not what v takes.
func mismatches(raw []byte, v any) []Field {
	s := &shape{}
	s.value(raw, reflect.TypeOf(v).Elem(), "")
	return s.wrong
}

func (s *shape) add(at, code, message string) { s.wrong = append(s.wrong, Field{at, code, message}) }

func (s *shape) value(raw []byte, t reflect.Type, at string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if string(raw) == "null" {
		s.add(at, "invalid", "null says nothing; leave the field out")
		return
	}
	is, want := expected(t)
	switch {
	case is != 0 && raw[0] != is:
		s.add(at, "invalid", want)
	case is == '{' && t.Kind() == reflect.Struct:
		s.object(raw, at, members(t))
	case is == '{':
		s.object(raw, at, func(string) (reflect.Type, bool) { return t.Elem(), true })
	case is == '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // it is valid
		for i, item := range list {
			s.value(item, t.Elem(), at+"/"+strconv.Itoa(i))
		}
	case json.Unmarshal(raw, reflect.New(t).Interface()) != nil:
		s.add(at, "invalid", want)
	}
}

// object goes through the fields in their order; each has to be known and to come
// once.
func (s *shape) object(raw []byte, at string, known func(name string) (reflect.Type, bool)) {
	seen := map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token()
	for d.More() {
		var item json.RawMessage
		token, err := d.Token()
		name, _ := token.(string)
		if err != nil || d.Decode(&item) != nil {
			return // it is valid
		}
		here := pointer(at, name)
		t, ok := known(name)
		switch {
		case !ok:
			s.add(here, "unknown", "there is no such field")
		case seen[name]:
			s.add(here, "duplicate", "the field is there twice")
		default:
			s.value(item, t, here)
		}
		seen[name] = true
	}
}

// expected gives the character with which a value of a type begins (0: several do)
// and how to say that to people.
func expected(t reflect.Type) (is byte, want string) {
	if t == reflect.TypeFor[time.Time]() {
		return '"', "a time is given as 2026-01-31T09:00:00+03:00"
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return '{', "an object is expected"
	case reflect.Slice:
		return '[', "a list is expected"
	case reflect.String:
		return '"', "a text is expected"
	case reflect.Bool:
		return 0, "true or false is expected"
	case reflect.Float64:
		return 0, "a number is expected"
	}
	return 0, "a whole number is expected"
}

// members gives the types of a struct's fields by their names in JSON; those of an
// embedded struct are its own, and a field of its own counts for more.
func members(t reflect.Type) func(name string) (reflect.Type, bool) {
	all := map[string]reflect.Type{}
	collect(t, all)
	return func(name string) (reflect.Type, bool) { t, ok := all[name]; return t, ok }
}

func collect(t reflect.Type, all map[string]reflect.Type) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			collect(f.Type, all)
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !f.Anonymous {
			all[name] = f.Type
		}
	}
}

// pointer is a JSON Pointer (RFC 6901) to something inside of at.
func pointer(at, name string) string {
	return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
