package tracker

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// createIssue is POST /v3/issues.
func (s *Server) createIssue(c *call) answer {
	body, valid := c.decode()
	if !valid {
		return malformed()
	}
	q := s.findQueue(referenceOf(body["queue"]))
	if q == nil {
		return invalid(map[string]string{"queue": "Queue is not found"})
	}
	i := &issue{id: s.nextID(), state: state{queue: q}}
	values, files, comments, refused := s.readIssue(c, i, body)
	unique, _ := values["unique"].(string)
	delete(values, "unique")
	if text, _ := values["summary"].(string); strings.TrimSpace(text) == "" && refused["summary"] == "" {
		refused["summary"] = "This field is required"
	}
	if len(refused) > 0 {
		return invalid(refused)
	}
	if unique != "" && s.unique[unique] != nil {
		return fail(http.StatusConflict, "Issue with unique %s already exists.", unique)
	}
	e, _ := c.begin(s, i)
	s.open(e, unique, values)
	e.attach(files)
	for _, n := range comments {
		e.comment(n)
	}
	c.effect = e.commit()
	return created(s.issueJSON(c, i, i.state))
}

// open gives a new issue its key, its defaults and its values.
func (s *Server) open(e *edit, unique string, values map[string]any) {
	i := e.i
	e.created = true
	s.numberIssue(i)
	s.byKey[strings.ToUpper(i.id)] = i
	s.issues = append(s.issues, i)
	i.fields.set("queue", i.queue.Key)
	i.fields.set("createdAt", e.at)
	i.fields.set("createdBy", e.by.ID)
	if unique != "" {
		s.unique[unique] = i
		i.fields.set("unique", unique)
	}
	e.enter("open", "")
	e.set("type", i.queue.DefaultType)
	e.set("priority", i.queue.DefaultPriority)
	e.follow(e.by)
	for _, id := range sortedKeys(values) {
		e.set(id, values[id])
	}
}

// readIssue reads the fields of a create or an edit. What it refuses is in
// refused, by field.
func (s *Server) readIssue(c *call, i *issue, body map[string]json.RawMessage) (values map[string]any, files []*file, comments []newComment, refused map[string]string) {
	values, refused = map[string]any{}, map[string]string{}
	for id, raw := range body {
		switch id {
		case "queue", "markupType":
			continue
		case "attachmentIds":
			var refusal string
			if files, refusal = s.takeUploads(raw); refusal != "" {
				refused[id] = refusal
			}
			continue
		case "comment":
			n, refusal := s.readComment(c, raw)
			if refusal != nil {
				refused[id] = "Incorrect data format"
			}
			comments = append(comments, n)
			continue
		}
		f := i.queue.field(id)
		creating := id == "unique" && len(i.changes) == 0
		if f == nil || f.readonly && !creating {
			refused[id] = "Unknown field or no right to change it"
			continue
		}
		v, refusal := s.parse(i.queue, f, raw, i.fields.get(id))
		if refusal != "" {
			refused[id] = refusal
			continue
		}
		values[id] = v
	}
	return values, files, comments, refused
}

func referenceOf(raw json.RawMessage) string {
	var v any
	_ = json.Unmarshal(raw, &v)
	return reference(v)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// withIssue finds the issue that a call's path names.
func (s *Server) withIssue(c *call, do func(*issue) answer) answer {
	i := s.find(c.args[0])
	if i == nil {
		return missing("Issue", c.args[0])
	}
	return do(i)
}

func (s *Server) getIssue(c *call) answer {
	return s.withIssue(c, func(i *issue) answer { return ok(s.issueJSON(c, i, i.state)) })
}

// findByUnique is what Yandex's own client calls after a 409.
func (s *Server) findByUnique(c *call) answer {
	unique := c.query("unique")
	i := s.unique[unique]
	if i == nil {
		return missing("Issue with unique", unique)
	}
	return ok(s.issueJSON(c, i, i.state))
}

// patchIssue edits fields. The status cannot be patched.
func (s *Server) patchIssue(c *call) answer {
	return s.withIssue(c, func(i *issue) answer {
		body, valid := c.decode()
		if !valid {
			return malformed()
		}
		if a := conflict(c, i.version); a.status != 0 {
			return a
		}
		values, files, comments, refused := s.readIssue(c, i, body)
		if v, there := values["summary"]; there && (v == nil || v == "") {
			refused["summary"] = "This field is required"
		}
		if len(refused) > 0 {
			return invalid(refused)
		}
		e, free := c.begin(s, i)
		if !free {
			return frozen()
		}
		for _, id := range sortedKeys(values) {
			e.set(id, values[id])
		}
		e.attach(files)
		for _, n := range comments {
			e.comment(n)
		}
		c.effect = e.commit()
		return ok(s.issueJSON(c, i, i.state))
	})
}

// conflict compares ?version with the present one.
func conflict(c *call, version int64) answer {
	text := c.query("version")
	if text == "" {
		return answer{}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return malformed()
	}
	if n != version {
		return fail(http.StatusConflict, "Version conflict: %d is not the current version.", n)
	}
	return answer{}
}

// moveIssue is POST /v3/issues/{}/_move?queue=.
func (s *Server) moveIssue(c *call) answer {
	return s.withIssue(c, func(i *issue) answer {
		q := s.findQueue(c.query("queue"))
		if q == nil {
			return missing("Queue", c.query("queue"))
		}
		if q == i.queue {
			return invalid(map[string]string{"queue": "The issue is already in this queue"})
		}
		e, free := c.begin(s, i)
		if !free {
			return frozen()
		}
		e.move(q)
		c.effect = e.commit()
		return ok(s.issueJSON(c, i, i.state))
	})
}
