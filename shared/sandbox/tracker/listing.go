package tracker

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// hidden reports whether listings do not show yet what happened at t.
func (s *Server) hidden(t time.Time) bool { return t.Add(s.lag).After(s.now()) }

// page answers a listing that is paged by the id of the last entry.
func (c *call) page(page []object, last string, size int, more bool) answer {
	a := ok(page)
	link := func(rel, id string) string {
		q := url.Values{"perPage": {strconv.Itoa(size)}}
		if id != "" {
			q.Set("id", id)
		}
		return fmt.Sprintf("<%s%s?%s>; rel=%q", c.base(), c.r.URL.Path[len("/v3"):], q.Encode(), rel)
	}
	a.header = http.Header{"Link": {link("first", "")}}
	if more {
		a.header.Add("Link", link("next", last))
	}
	return a
}

// listChanges is the changelog, oldest first.
func (s *Server) listChanges(c *call) answer {
	return s.withIssue(c, func(i *issue) answer {
		size, valid := c.number("perPage", 50)
		if !valid {
			return malformed()
		}
		after, found := c.query("id"), c.query("id") == ""
		page := []object{}
		more, last := false, ""
		for _, ch := range i.changes {
			if !found {
				found = ch.id == after
				continue
			}
			if s.hidden(ch.at) || !c.wants(ch) {
				continue
			}
			if len(page) == size {
				more = true
				break
			}
			page = append(page, s.changeJSON(c, i, ch))
			last = ch.id
		}
		if !found {
			return missing("Change", after)
		}
		return c.page(page, last, size, more)
	})
}

// wants applies ?type= and ?field=.
func (c *call) wants(ch *change) bool {
	if t := c.query("type"); t != "" && t != ch.kind {
		return false
	}
	id := c.query("field")
	if id == "" {
		return true
	}
	for _, d := range ch.diffs {
		if d.field.id == id {
			return true
		}
	}
	return false
}

func (s *Server) changeJSON(c *call, i *issue, ch *change) object {
	self := c.base() + "/issues/" + i.key
	out := object{
		"id": ch.id, "self": self + "/changelog/" + ch.id,
		"issue":     object{"self": self, "id": i.id, "key": i.key, "display": i.text("summary")},
		"updatedAt": stamp(ch.at), "updatedBy": c.userRef(ch.by), "type": ch.kind, "transport": ch.transport,
	}
	if len(ch.diffs) > 0 {
		fields := make([]object, 0, len(ch.diffs))
		for _, d := range ch.diffs {
			fields = append(fields, object{
				"field": c.fieldRef(d.field), "from": s.value(c, d.field, d.from), "to": s.value(c, d.field, d.to),
			})
		}
		out["fields"] = fields
	}
	ref := func(id, text string) object {
		return object{"self": self + "/comments/" + id, "id": id, "display": text}
	}
	comments := object{}
	for _, r := range ch.added {
		comments["added"] = append(objects(comments["added"]), ref(r.id, r.text))
	}
	for _, r := range ch.removed {
		comments["removed"] = append(objects(comments["removed"]), ref(r.id, r.text))
	}
	for _, u := range ch.updated {
		comments["updated"] = append(objects(comments["updated"]), object{"comment": ref(u.id, u.to), "from": u.from, "to": u.to})
	}
	if len(comments) > 0 {
		out["comments"] = comments
	}
	if len(ch.files) > 0 {
		files := make([]object, 0, len(ch.files))
		for _, f := range ch.files {
			files = append(files, object{"self": self + "/attachments/" + f.id, "id": f.id, "display": f.name})
		}
		out["attachments"] = object{"added": files}
	}
	if len(ch.triggers) > 0 {
		out["executedTriggers"] = firingsJSON(c, i, ch.triggers)
	}
	return out
}

func objects(v any) []object {
	list, _ := v.([]object)
	return list
}
