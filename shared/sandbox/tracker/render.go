package tracker

import (
	"strings"
	"time"
)

// timeLayout is how the API writes times: UTC, no colon in the offset.
const timeLayout = "2006-01-02T15:04:05.000-0700"

func stamp(t time.Time) string { return t.UTC().Format(timeLayout) }

// object is a JSON object.
type object = map[string]any

// english reports whether the caller asked for English names.
func (c *call) english() bool { return strings.HasPrefix(c.r.Header.Get("Accept-Language"), "en") }

func (c *call) name(ru, en string) string {
	if c.english() && en != "" {
		return en
	}
	return ru
}

func (c *call) userRef(u *user) object {
	// The original's answers under /v3 link users under /v2.
	return object{"self": strings.TrimSuffix(c.base(), "/v3") + "/v2/users/" + u.ID, "id": u.ID, "display": u.Name}
}

func (c *call) userRefs(users []*user) []object {
	refs := make([]object, 0, len(users))
	for _, u := range users {
		refs = append(refs, c.userRef(u))
	}
	return refs
}

func (c *call) queueRef(q *queue) object {
	return object{"self": c.base() + "/queues/" + q.Key, "id": q.id, "key": q.Key, "display": q.Name}
}

func (c *call) fieldRef(f *field) object {
	return object{"self": c.base() + "/fields/" + f.id, "id": f.id, "display": c.name(f.ru, f.en)}
}

// value renders a field's value.
func (s *Server) value(c *call, f *field, v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case time.Time:
		return stamp(v)
	case []string:
		if f.kind != kindUsers {
			return v
		}
		users := make([]*user, 0, len(v))
		for _, id := range v {
			users = append(users, s.findUser(id))
		}
		return c.userRefs(users)
	case string:
		return s.refValue(c, f.kind, v)
	}
	return v
}

func (s *Server) refValue(c *call, k kind, v string) any {
	switch k {
	case kindUser:
		return c.userRef(s.findUser(v))
	case kindQueue:
		return c.queueRef(s.findQueue(v))
	case kindIssue:
		i := s.find(v)
		return object{"self": c.base() + "/issues/" + i.key, "id": i.id, "key": i.key, "display": i.text("summary")}
	}
	plural := map[kind]string{
		kindStatus: "statuses", kindStatusType: "statusTypes", kindType: "issuetypes",
		kindPriority: "priorities", kindResolution: "resolutions",
	}
	for n, e := range s.dictionary(k) {
		if e.Key == v {
			id := jsonNumber(float64(n + 1))
			return object{"self": c.base() + "/" + plural[k] + "/" + id, "id": id, "key": e.Key, "display": c.name(e.RU, e.EN)}
		}
	}
	return v
}

// issue renders an issue in the given state; expand adds attachments and
// transitions.
func (s *Server) issueJSON(c *call, i *issue, st state) object {
	out := object{
		"self": c.base() + "/issues/" + st.key, "id": i.id, "key": st.key, "version": st.version,
		"queue": c.queueRef(st.queue), "votes": 0, "favorite": false,
		"commentWithoutExternalMessageCount": len(i.comments), "commentWithExternalMessageCount": 0,
	}
	for _, x := range st.fields {
		if f := st.queue.field(x.id); f != nil {
			out[x.id] = s.value(c, f, x.v)
		}
	}
	if len(i.aliases) > 0 {
		out["aliases"] = i.aliases
	}
	if st.queue.SLA > 0 {
		out["sla"] = s.slaJSON(st)
	}
	expand := c.query("expand")
	if strings.Contains(expand, "attachments") || expand == "all" {
		out["attachments"] = c.filesJSON(i, i.files)
	}
	if strings.Contains(expand, "transitions") || expand == "all" {
		out["transitions"] = s.transitionsJSON(c, i)
	}
	return out
}
