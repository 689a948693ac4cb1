package tracker

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// template fills the variables {{...}} of a trigger's address, headers and body.
// An unknown or empty variable is empty text. ".json" at the end quotes simple
// values.
type template struct {
	e         *edit
	variables *regexp.Regexp
}

func (e *edit) template() template {
	return template{e, regexp.MustCompile(`\{\{\s*([^{}]+?)\s*\}\}`)}
}

func (t template) fill(text string) string {
	return t.variables.ReplaceAllStringFunc(text, func(m string) string {
		name := t.variables.FindStringSubmatch(m)[1]
		plain, quoted := strings.CutSuffix(name, ".json")
		v := t.value(strings.Split(plain, "."))
		if quoted {
			return quote(v)
		}
		return t.text(v)
	})
}

// quote gives a JSON text of simple values; objects have none.
func quote(v any) string {
	switch v.(type) {
	case string, float64, []string:
		out, _ := json.Marshal(v)
		return string(out)
	}
	return ""
}

func (t template) text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return jsonNumber(v)
	case []string:
		return strings.Join(v, ", ")
	case time.Time:
		return stamp(v)
	case *user:
		if v != nil {
			return v.Name
		}
	}
	return ""
}

func (t template) value(path []string) any {
	rest := path[1:]
	switch path[0] {
	case "issue":
		return t.issue(rest)
	case "currentUser":
		return person(t.e.by, rest)
	case "currentDateTime":
		return clock(t.e.at, rest)
	case "userComment":
		if len(t.e.added) > 0 && len(rest) > 0 {
			return comments(t.e.added[0], rest)
		}
	}
	return nil
}

func comments(m *comment, path []string) any {
	switch path[0] {
	case "id":
		return m.id
	case "text":
		return m.text
	case "author":
		return person(m.author, path[1:])
	}
	return nil
}

func (t template) issue(path []string) any {
	i := t.e.i
	if len(path) == 0 {
		return i.key
	}
	switch path[0] {
	case "key":
		return i.key
	case "id":
		return i.id
	case "version":
		return float64(i.version)
	case "votes":
		return float64(0)
	case "author":
		path = append([]string{"createdBy"}, path[1:]...)
	case "local":
		if len(path) > 1 {
			if f := i.queue.localByKey(path[1]); f != nil {
				return t.part(f, i.fields.get(f.id), path[2:])
			}
		}
		return nil
	}
	f := i.queue.field(path[0])
	if f == nil {
		return nil
	}
	return t.part(f, i.fields.get(f.id), path[1:])
}

// part gives a field's value, or a part of it such as "key" or "login".
func (t template) part(f *field, v any, path []string) any {
	text, isText := v.(string)
	at, isTime := v.(time.Time)
	switch {
	case isText && f.kind == kindUser:
		return person(t.e.s.findUser(text), path)
	case isTime:
		return clock(at, path)
	case isText && f.kind == kindQueue:
		q := t.e.s.findQueue(text)
		return entry(Name{q.Key, q.Name, q.Name}, q.id, path)
	}
	for n, e := range t.e.s.dictionary(f.kind) {
		if isText && e.Key == text {
			return entry(e, strconv.Itoa(n+1), path)
		}
	}
	if len(path) > 0 {
		return nil
	}
	return v
}

func entry(e Name, id string, path []string) any {
	if len(path) == 0 {
		return e.RU
	}
	switch path[0] {
	case "key":
		return e.Key
	case "id":
		return id
	case "display", "name":
		return e.RU
	}
	return nil
}

func person(u *user, path []string) any {
	if u == nil {
		return nil
	}
	if len(path) == 0 {
		return u
	}
	first, last, _ := strings.Cut(u.Name, " ")
	switch path[0] {
	case "login":
		return u.Login
	case "uid", "id", "passportUid":
		return u.ID
	case "firstName":
		return first
	case "lastName":
		return last
	case "email":
		return u.Login + "@example.com"
	}
	return nil
}

func clock(at time.Time, path []string) any {
	if len(path) == 0 {
		return at
	}
	switch path[0] {
	case "iso8601":
		return stamp(at)
	case "unixEpoch":
		return float64(at.Unix())
	case "date":
		return at.Format(time.DateOnly)
	}
	return nil
}
