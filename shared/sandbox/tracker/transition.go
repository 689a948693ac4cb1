package tracker

import (
	"encoding/json"
	"strings"
)

// transitions are the steps that the issue can take now.
func (s *Server) transitions(i *issue) []Transition {
	var list []Transition
	for _, t := range i.queue.Workflow {
		if t.From == i.text("status") {
			list = append(list, t)
		}
	}
	return list
}

func (s *Server) transitionsJSON(c *call, i *issue) []object {
	list := []object{}
	for _, t := range s.transitions(i) {
		out := object{
			"id": t.ID, "self": c.base() + "/issues/" + i.key + "/transitions/" + t.ID,
			"display": c.name(t.RU, t.EN), "to": s.refValue(c, kindStatus, t.To),
		}
		if t.Resolution {
			out["screen"] = object{"self": c.base() + "/screens/resolution", "id": "5a1b2c3d4e5f6a7b8c9d0e1f"}
		}
		list = append(list, out)
	}
	return list
}

func (s *Server) listTransitions(c *call) answer {
	return s.withIssue(c, func(i *issue) answer { return ok(s.transitionsJSON(c, i)) })
}

// transit executes a transition; the answer is the next transitions.
func (s *Server) transit(c *call) answer {
	return s.withIssue(c, func(i *issue) answer {
		body, valid := c.decode()
		if !valid {
			return malformed()
		}
		var step *Transition
		for _, t := range s.transitions(i) {
			if t.ID == c.args[1] {
				step = &t
			}
		}
		if step == nil {
			return missing("Transition", c.args[1])
		}
		resolution, refused := s.screen(i, *step, body)
		delete(body, "resolution")
		values, files, comments, more := s.readIssue(c, i, body)
		for id, refusal := range more {
			refused[id] = refusal
		}
		if len(refused) > 0 {
			return invalid(refused)
		}
		e, free := c.begin(s, i)
		if !free {
			return frozen()
		}
		e.enter(step.To, resolution)
		for _, id := range sortedKeys(values) {
			e.set(id, values[id])
		}
		e.attach(files)
		for _, n := range comments {
			e.comment(n)
		}
		c.effect = e.commit()
		return ok(s.transitionsJSON(c, i))
	})
}

// screen reads the resolution: required by some transitions, refused by others.
func (s *Server) screen(i *issue, t Transition, body map[string]json.RawMessage) (key string, refused map[string]string) {
	refused = map[string]string{}
	raw, there := body["resolution"]
	switch {
	case !there && t.Resolution:
		refused["resolution"] = "This field is required"
	case there && !t.Resolution:
		refused["resolution"] = "The field is not on the transition's screen"
	case there:
		ref := strings.TrimSpace(referenceOf(raw))
		var known bool
		if key, known = s.resolve(i.queue, kindResolution, ref); !known {
			refused["resolution"] = "Value is not found: " + ref
		}
	}
	return key, refused
}
