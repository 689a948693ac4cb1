package tracker

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// kind is the type of a field's values. In memory a value is a string (also for
// users and dictionary entries: their id or key), a []string, a float64 or a
// time.Time.
type kind string

const (
	kindString     kind = "string"
	kindText       kind = "text"
	kindNumber     kind = "float"
	kindInteger    kind = "integer"
	kindDate       kind = "date"
	kindTime       kind = "datetime"
	kindUser       kind = "user"
	kindUsers      kind = "users"
	kindTags       kind = "tags"
	kindStatus     kind = "status"
	kindStatusType kind = "statusType"
	kindType       kind = "issuetype"
	kindPriority   kind = "priority"
	kindResolution kind = "resolution"
	kindQueue      kind = "queue"
	kindIssue      kind = "issue"
	kindURI        kind = "uri"
)

// field is a global or local field.
type field struct {
	id, key, ru, en string
	kind            kind
	readonly        bool
	version         int
}

// localKind reads the class name of a local field's type, such as
// "ru.yandex.startrek.core.fields.StringFieldType".
func localKind(class string) (kind, bool) {
	kinds := map[string]kind{
		"StringFieldType": kindString, "TextFieldType": kindText, "FloatFieldType": kindNumber,
		"IntegerFieldType": kindInteger, "DateFieldType": kindDate, "DateTimeFieldType": kindTime,
		"UserFieldType": kindUser, "UriFieldType": kindURI,
	}
	name, ok := strings.CutPrefix(class, "ru.yandex.startrek.core.fields.")
	k := kinds[name]
	return k, ok && k != ""
}

// globalFields are the fields that every queue has.
func globalFields() []*field {
	f := func(id, ru, en string, k kind, readonly bool) *field {
		return &field{id: id, key: id, ru: ru, en: en, kind: k, readonly: readonly, version: 1}
	}
	return []*field{
		f("summary", "Задача", "Summary", kindString, false),
		f("description", "Описание", "Description", kindText, false),
		f("queue", "Очередь", "Queue", kindQueue, true),
		f("status", "Статус", "Status", kindStatus, true),
		f("statusType", "Тип статуса", "Status type", kindStatusType, true),
		f("statusStartTime", "Статус изменён", "Status updated", kindTime, true),
		f("previousStatus", "Предыдущий статус", "Previous status", kindStatus, true),
		f("previousQueue", "Предыдущая очередь", "Previous queue", kindQueue, true),
		f("resolution", "Резолюция", "Resolution", kindResolution, true),
		f("type", "Тип", "Type", kindType, false),
		f("priority", "Приоритет", "Priority", kindPriority, false),
		f("assignee", "Исполнитель", "Assignee", kindUser, false),
		f("followers", "Наблюдатели", "Followers", kindUsers, false),
		f("tags", "Теги", "Tags", kindTags, false),
		f("parent", "Родитель", "Parent", kindIssue, false),
		f("deadline", "Дедлайн", "Deadline", kindDate, false),
		f("start", "Начало", "Start", kindDate, false),
		f("end", "Конец", "End", kindDate, false),
		f("storyPoints", "Story points", "Story points", kindNumber, false),
		f("unique", "Уникальный ключ", "Unique", kindString, true),
		f("createdAt", "Создано", "Created", kindTime, true),
		f("createdBy", "Автор", "Author", kindUser, true),
		f("updatedAt", "Обновлено", "Updated", kindTime, true),
		f("updatedBy", "Кем изменено", "Updated by", kindUser, true),
		f("resolvedAt", "Решено", "Resolved", kindTime, true),
		f("resolvedBy", "Кем решено", "Resolver", kindUser, true),
		f("lastCommentUpdatedAt", "Последний комментарий", "Last comment", kindTime, true),
	}
}

// field gives a field of the queue by its id; local fields have their full id.
func (q *queue) field(id string) *field {
	for _, list := range [][]*field{q.local, q.global} {
		for _, f := range list {
			if f.id == id {
				return f
			}
		}
	}
	return nil
}

func (q *queue) localByKey(key string) *field {
	for _, f := range q.local {
		if strings.EqualFold(f.key, key) {
			return f
		}
	}
	return nil
}

// parse reads a value of the API. null gives nil: the field is cleared. The text
// of a refusal quotes the value, as the original's may.
func (s *Server) parse(q *queue, f *field, raw json.RawMessage, before any) (v any, refusal string) {
	var in any
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, "Incorrect data format"
	}
	if in == nil {
		return nil, ""
	}
	switch f.kind {
	case kindUsers, kindTags:
		return s.parseList(f, in, before)
	case kindNumber, kindInteger:
		n, ok := in.(float64)
		if !ok || f.kind == kindInteger && n != float64(int64(n)) {
			return nil, "Incorrect data format"
		}
		return n, ""
	case kindDate, kindTime:
		return parseTime(f.kind, in)
	case kindString, kindText, kindURI:
		text, ok := in.(string)
		if !ok {
			return nil, "Incorrect data format"
		}
		if f.id == "summary" && len([]rune(text)) > 255 {
			return nil, "Value is too long: " + text
		}
		return text, ""
	}
	ref := reference(in)
	if key, ok := s.resolve(q, f.kind, ref); ok {
		return key, ""
	}
	return nil, "Value is not found: " + ref
}

func parseTime(k kind, in any) (any, string) {
	text, _ := in.(string)
	layout := time.DateOnly
	if k == kindTime {
		layout = timeLayout
	}
	if _, err := time.Parse(layout, text); err != nil {
		return nil, "Incorrect date format: " + text
	}
	if k == kindDate {
		return text, ""
	}
	t, _ := time.Parse(layout, text)
	return t.UTC(), ""
}

// parseList reads a list, or the operators set, add and remove on it.
func (s *Server) parseList(f *field, in, before any) (any, string) {
	list, _ := before.([]string)
	list = slices.Clone(list)
	operators, ok := in.(map[string]any)
	if !ok {
		operators = map[string]any{"set": in}
	}
	for _, name := range []string{"set", "add", "remove"} {
		if operators[name] == nil {
			continue
		}
		values, refusal := s.items(f, operators[name])
		if refusal != "" {
			return nil, refusal
		}
		switch name {
		case "set":
			list = values
		case "add":
			list = append(list, values...)
		case "remove":
			list = slices.DeleteFunc(list, func(v string) bool { return slices.Contains(values, v) })
		}
	}
	seen := map[string]bool{}
	list = slices.DeleteFunc(list, func(v string) bool { was := seen[v]; seen[v] = true; return was })
	if len(list) == 0 {
		return nil, ""
	}
	return list, ""
}

// items reads the values of a list, or one value; people become their ids.
func (s *Server) items(f *field, in any) (out []string, refusal string) {
	values, ok := in.([]any)
	if !ok {
		values = []any{in}
	}
	for _, item := range values {
		ref := reference(item)
		if f.kind == kindUsers {
			u := s.findUser(ref)
			if u == nil {
				return nil, "User is not found: " + ref
			}
			ref = u.ID
		}
		out = append(out, ref)
	}
	return out, ""
}

// reference reads "key", a number, or {"id"} / {"key"}.
func reference(in any) string {
	if object, ok := in.(map[string]any); ok {
		for _, name := range []string{"key", "id", "login"} {
			if object[name] != nil {
				return reference(object[name])
			}
		}
	}
	switch v := in.(type) {
	case string:
		return v
	case float64:
		return jsonNumber(v)
	}
	return ""
}

// resolve gives the key (for users the id) that ref names.
func (s *Server) resolve(q *queue, k kind, ref string) (string, bool) {
	switch k {
	case kindUser:
		if u := s.findUser(ref); u != nil {
			return u.ID, true
		}
	case kindQueue:
		if q := s.findQueue(ref); q != nil {
			return q.Key, true
		}
	case kindIssue:
		if i := s.find(ref); i != nil {
			return i.key, true
		}
	default:
		for n, e := range s.dictionary(k) {
			if e.Key != ref && jsonNumber(float64(n+1)) != ref {
				continue
			}
			return e.Key, k != kindType || slices.Contains(q.Types, e.Key)
		}
	}
	return "", false
}

// dictionary is the list behind a kind; an entry's id is its place in it.
func (s *Server) dictionary(k kind) []Name {
	switch k {
	case kindType:
		return s.cfg.Types
	case kindPriority:
		return s.cfg.Priorities
	case kindResolution:
		return s.cfg.Resolutions
	case kindStatus:
		names := make([]Name, 0, len(s.cfg.Statuses))
		for _, st := range s.cfg.Statuses {
			names = append(names, Name{st.Key, st.RU, st.EN})
		}
		return names
	case kindStatusType:
		return []Name{
			{"new", "Начальный", "Initial"}, {"paused", "На паузе", "Paused"}, {"inProgress", "В процессе", "In progress"},
			{"done", "Завершён", "Done"}, {"cancelled", "Отменён", "Cancelled"},
		}
	}
	return nil
}

func (s *Server) status(key string) Status {
	for _, st := range s.cfg.Statuses {
		if st.Key == key {
			return st
		}
	}
	return Status{}
}
