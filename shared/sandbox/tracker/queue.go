package tracker

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

func (s *Server) withQueue(c *call, do func(*queue) answer) answer {
	for _, q := range s.queues {
		if q.Key == c.args[0] || q.id == c.args[0] { // keys are case-sensitive
			return do(q)
		}
	}
	return missing("Queue", c.args[0])
}

// owner refuses who is not the queue's lead.
func (c *call) owner(q *queue) answer {
	if c.user.Login != q.Lead {
		return fail(http.StatusForbidden, "Only the owner of the queue may do this")
	}
	return answer{}
}

func (s *Server) queueJSON(c *call, q *queue) object {
	id, _ := strconv.Atoi(q.id)
	out := object{
		"self": c.base() + "/queues/" + q.Key, "id": id, "key": q.Key, "version": 1, "name": q.Name,
		"lead":        c.userRef(s.findUser(q.Lead)),
		"defaultType": s.refValue(c, kindType, q.DefaultType), "defaultPriority": s.refValue(c, kindPriority, q.DefaultPriority),
		"assignAuto": false, "denyVoting": false,
	}
	if c.query("expand") != "" {
		types := []any{}
		for _, t := range q.Types {
			types = append(types, s.refValue(c, kindType, t))
		}
		out["issueTypes"] = types
		out["teamUsers"] = s.teamJSON(c, q)
	}
	return out
}

func (s *Server) getQueue(c *call) answer {
	return s.withQueue(c, func(q *queue) answer { return ok(s.queueJSON(c, q)) })
}

func (s *Server) listQueues(c *call) answer {
	list := []object{}
	for _, q := range s.queues {
		list = append(list, s.queueJSON(c, q))
	}
	return ok(list)
}

func (s *Server) requiredFields(c *call) answer {
	return s.withQueue(c, func(*queue) answer { return ok([]object{}) })
}

func (s *Server) fieldJSON(c *call, f *field) object {
	typ := object{"type": string(f.kind), "required": false}
	switch f.kind {
	case kindText, kindURI:
		typ["type"] = "string"
	case kindUsers:
		typ = object{"type": "array", "items": "user", "required": false}
	case kindTags:
		typ = object{"type": "array", "items": "string", "required": false}
	}
	return object{
		"self": c.base() + "/fields/" + f.id, "id": f.id, "key": f.key, "name": c.name(f.ru, f.en), "version": f.version,
		"schema": typ, "readonly": f.readonly, "options": false, "suggest": false, "type": "standard",
	}
}

func (s *Server) localFieldJSON(c *call, q *queue, f *field) object {
	out := s.fieldJSON(c, f)
	out["self"] = c.base() + "/queues/" + q.Key + "/localFields/" + f.key
	out["type"], out["queue"] = "local", c.queueRef(q)
	return out
}

func (s *Server) listFields(c *call) answer {
	list := []object{}
	for _, f := range s.global {
		list = append(list, s.fieldJSON(c, f))
	}
	return ok(list)
}

// categoryID is the only category of fields.
const categoryID = "000000000000000000000003"

func (s *Server) listCategories(c *call) answer {
	return ok([]object{{"id": categoryID, "name": c.name("Системные", "System"), "version": 1}})
}

func (s *Server) listLocalFields(c *call) answer {
	return s.withQueue(c, func(q *queue) answer {
		list := []object{}
		for _, f := range q.local {
			list = append(list, s.localFieldJSON(c, q, f))
		}
		return ok(list)
	})
}

// createLocalField is POST /v3/queues/{}/localFields.
func (s *Server) createLocalField(c *call) answer {
	return s.withQueue(c, func(q *queue) answer {
		if a := c.owner(q); a.status != 0 {
			return a
		}
		var body struct {
			ID       string `json:"id"`
			Name     struct{ EN, RU string }
			Category string `json:"category"`
			Type     string `json:"type"`
		}
		if err := json.Unmarshal(c.body, &body); err != nil {
			return malformed()
		}
		refused := map[string]string{}
		k, known := localKind(body.Type)
		if !known {
			refused["type"] = "Unknown type of field"
		}
		if body.Category != categoryID {
			refused["category"] = "Category is not found"
		}
		if body.Name.EN == "" || body.Name.RU == "" {
			refused["name"] = "This field is required"
		}
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`).MatchString(body.ID) {
			refused["id"] = "Incorrect data format"
		}
		if len(refused) > 0 {
			return invalid(refused)
		}
		if q.localByKey(body.ID) != nil {
			return fail(http.StatusConflict, "Field %s already exists", body.ID)
		}
		c.effect = true
		return created(s.localFieldJSON(c, q, s.addLocal(q, body.ID, body.Name.RU, body.Name.EN, k)))
	})
}

func (s *Server) dictionaryJSON(c *call, plural string, k kind) []object {
	list := []object{}
	for n, e := range s.dictionary(k) {
		list = append(list, object{
			"self": c.base() + "/" + plural + "/" + strconv.Itoa(n+1), "id": n + 1, "version": 1,
			"key": e.Key, "name": c.name(e.RU, e.EN), "order": (n + 1) * 100,
		})
	}
	return list
}

// listStatuses gives the type as a plain text; custom statuses carry none.
func (s *Server) listStatuses(c *call) answer {
	list := s.dictionaryJSON(c, "statuses", kindStatus)
	for n, st := range s.cfg.Statuses {
		if st.Type != "" {
			list[n]["type"] = st.Type
		}
	}
	return ok(list)
}

func (s *Server) listResolutions(c *call) answer {
	return ok(s.dictionaryJSON(c, "resolutions", kindResolution))
}

func (s *Server) listPriorities(c *call) answer {
	return ok(s.dictionaryJSON(c, "priorities", kindPriority))
}

func (s *Server) listTypes(c *call) answer { return ok(s.dictionaryJSON(c, "issuetypes", kindType)) }

func (s *Server) userJSON(c *call, u *user) object {
	uid, _ := strconv.ParseInt(u.ID, 10, 64)
	first, last, _ := strings.Cut(u.Name, " ")
	return object{
		"self": c.base() + "/users/" + u.ID, "uid": uid, "trackerUid": uid, "passportUid": uid, "login": u.Login,
		"display": u.Name, "firstName": first, "lastName": last, "email": u.Login + "@example.com",
		"external": false, "hasLicense": true, "dismissed": false,
	}
}

func (s *Server) myself(c *call) answer { return ok(s.userJSON(c, c.user)) }

func (s *Server) listUsers(c *call) answer {
	list := []object{}
	for _, u := range s.users {
		list = append(list, s.userJSON(c, u))
	}
	return ok(list)
}

func (s *Server) getUser(c *call) answer {
	u := s.findUser(c.args[0])
	if u == nil {
		return missing("User", c.args[0])
	}
	return ok(s.userJSON(c, u))
}
