package tracker

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// trigger is a trigger of a queue. Of the actions only Webhook is known.
type trigger struct {
	id         string
	name       string
	active     bool
	version    int64
	conditions []condition
	actions    []action
	log        []delivery
}

// action is an HTTP request. Body is a text or an object, both with variables.
type action struct {
	ID          int               `json:"id"`
	Type        string            `json:"type"`
	Endpoint    string            `json:"endpoint"`
	Method      string            `json:"method"`
	ContentType string            `json:"contentType"`
	Headers     map[string]string `json:"headers,omitempty"`
	Auth        auth              `json:"authContext"`
	Body        json.RawMessage   `json:"body,omitempty"`
}

type auth struct {
	Type        string `json:"type"`
	Login       string `json:"login,omitempty"`
	Password    string `json:"password,omitempty"`
	HeaderName  string `json:"headerName,omitempty"`
	TokenType   string `json:"tokenType,omitempty"`
	AccessToken string `json:"accessToken,omitempty"`
}

// triggerBody is what the API takes; absent names leave an edited trigger as it is.
type triggerBody struct {
	Name       *string     `json:"name"`
	Active     *bool       `json:"active"`
	Conditions []condition `json:"conditions"`
	Actions    []action    `json:"actions"`
	Before     any         `json:"before"`
}

func (s *Server) createTrigger(c *call) answer {
	return s.withOwned(c, func(q *queue) answer {
		t := &trigger{active: true, version: 1}
		if a := s.applyTrigger(c, q, t, true); a.status != 0 {
			return a
		}
		t.id = s.nextNumber()
		q.triggers = append(q.triggers, t)
		c.effect = true
		return created(c.triggerJSON(q, t))
	})
}

// applyTrigger reads the body into t.
func (s *Server) applyTrigger(c *call, q *queue, t *trigger, create bool) answer {
	var b triggerBody
	dec := json.NewDecoder(strings.NewReader(string(c.body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return malformed()
	}
	refused := map[string]string{}
	if create && (b.Name == nil || *b.Name == "") {
		refused["name"] = "This field is required"
	}
	if create && len(b.Actions) == 0 {
		refused["actions"] = "This field is required"
	}
	if refusal := s.checkConditions(q, b.Conditions); refusal != "" {
		refused["conditions"] = refusal
	}
	for n := range b.Actions {
		if refusal := b.Actions[n].check(); refusal != "" {
			refused["actions"] = refusal
		}
		b.Actions[n].ID = n + 1
	}
	if len(refused) > 0 {
		return invalid(refused)
	}
	if b.Name != nil {
		t.name = *b.Name
	}
	if b.Active != nil {
		t.active = *b.Active
	}
	if b.Conditions != nil {
		t.conditions = b.Conditions
	}
	if b.Actions != nil {
		t.actions = b.Actions
	}
	return answer{}
}

func (a action) check() string {
	u, err := url.Parse(a.Endpoint)
	switch {
	case a.Type != "Webhook":
		return "Unknown type of action: " + a.Type
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "Incorrect endpoint: " + a.Endpoint
	case !slices.Contains([]string{"GET", "POST", "PUT", "DELETE"}, a.Method):
		return "Incorrect method: " + a.Method
	case !slices.Contains([]string{"", "noauth", "basic", "oauth"}, a.Auth.Type):
		return "Incorrect type of authorization: " + a.Auth.Type
	}
	return ""
}

func (s *Server) withOwned(c *call, do func(*queue) answer) answer {
	return s.withQueue(c, func(q *queue) answer {
		if a := c.owner(q); a.status != 0 {
			return a
		}
		return do(q)
	})
}

func (s *Server) withTrigger(c *call, do func(*queue, *trigger) answer) answer {
	return s.withOwned(c, func(q *queue) answer {
		for _, t := range q.triggers {
			if t.id == c.args[1] {
				return do(q, t)
			}
		}
		return missing("Trigger", c.args[1])
	})
}

// triggerJSON gives the id as a number, where the changelog gives a text.
func (c *call) triggerJSON(q *queue, t *trigger) object {
	return object{
		"id": json.Number(t.id), "self": c.base() + "/queues/" + q.Key + "/triggers/" + t.id, "queue": c.queueRef(q),
		"name": t.name, "order": "0.0002", "actions": t.actions, "conditions": t.conditions,
		"version": t.version, "active": t.active,
	}
}

func (s *Server) listTriggers(c *call) answer {
	return s.withOwned(c, func(q *queue) answer {
		list := []object{}
		for _, t := range q.triggers {
			list = append(list, c.triggerJSON(q, t))
		}
		return ok(list)
	})
}

func (s *Server) getTrigger(c *call) answer {
	return s.withTrigger(c, func(q *queue, t *trigger) answer { return ok(c.triggerJSON(q, t)) })
}

func (s *Server) patchTrigger(c *call) answer {
	return s.withTrigger(c, func(q *queue, t *trigger) answer {
		if a := conflict(c, t.version); a.status != 0 {
			return a
		}
		if a := s.applyTrigger(c, q, t, false); a.status != 0 {
			return a
		}
		t.version++
		c.effect = true
		return ok(c.triggerJSON(q, t))
	})
}

func (s *Server) deleteTrigger(c *call) answer {
	return s.withTrigger(c, func(q *queue, t *trigger) answer {
		q.triggers = slices.DeleteFunc(q.triggers, func(o *trigger) bool { return o == t })
		c.effect = true
		return answer{status: http.StatusNoContent}
	})
}

// triggerLog is the log of deliveries, newest first.
func (s *Server) triggerLog(c *call) answer {
	return s.withTrigger(c, func(_ *queue, t *trigger) answer {
		limit, valid := c.number("limit", 10)
		if !valid || limit > 100 {
			return malformed()
		}
		from, hasFrom := queryTime(c.query("from"))
		to, hasTo := queryTime(c.query("to"))
		list := []delivery{}
		for _, d := range slices.Backward(t.log) {
			start, _ := time.Parse(timeLayout, d.StartTime)
			issue := c.query("issueId")
			if issue != "" && issue != d.IssueID || hasFrom && start.Before(from) || hasTo && start.After(to) {
				continue
			}
			if list = append(list, d); len(list) == limit {
				break
			}
		}
		return ok(list)
	})
}
