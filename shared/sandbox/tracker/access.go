package tracker

import (
	"net/http"
	"slices"
)

// standing is what a server knows of people in a queue.
type standing struct {
	team   []string            // logins
	denied map[string][]string // rights that somebody lacks, by login
}

func (s *Server) standing(queue string) *standing {
	if s.standings[queue] == nil {
		s.standings[queue] = &standing{denied: map[string][]string{}}
	}
	return s.standings[queue]
}

// Join makes a user a member of a queue's team.
func (s *Server) Join(queue, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.standing(queue)
	st.team = append(st.team, login)
}

// Deny takes a right ("CREATE", "READ", "WRITE") from a user. It is only told: calls
// go on as before.
func (s *Server) Deny(queue, login, right string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.standing(queue)
	st.denied[login] = append(st.denied[login], right)
}

// teamJSON are the members of a queue's team.
func (s *Server) teamJSON(c *call, q *queue) []object {
	team := []object{}
	for _, login := range s.standing(q.Key).team {
		if u := s.findUser(login); u != nil {
			team = append(team, c.userRef(u))
		}
	}
	return team
}

// userAccess is GET /v3/queues/{}/permissions/users/{}: the rights of a user, each
// with those who have it.
func (s *Server) userAccess(c *call) answer {
	return s.withQueue(c, func(q *queue) answer {
		u := s.findUser(c.args[1])
		if u == nil {
			return missing("User", c.args[1])
		}
		rights := object{}
		for _, right := range []string{"CREATE", "READ", "WRITE"} {
			if !slices.Contains(s.standing(q.Key).denied[u.Login], right) {
				rights[right] = object{"users": []object{c.userRef(u)}}
			}
		}
		if u.Login == q.Lead {
			rights["GRANT"] = object{"users": []object{c.userRef(u)}}
		}
		return ok(object{"user": c.userRef(u), "permissions": rights})
	})
}

// queueWorkflows is GET /v3/queues/{}/workflows: the types of issues by the id of
// their workflow. The server has one workflow to a queue, of the queue's id.
func (s *Server) queueWorkflows(c *call) answer {
	return s.withQueue(c, func(q *queue) answer {
		types := []any{}
		for _, t := range q.Types {
			types = append(types, s.refValue(c, kindType, t))
		}
		return ok(object{q.id: types})
	})
}

// getWorkflow is GET /v3/workflows/{}: statuses with the transitions that leave them.
func (s *Server) getWorkflow(c *call) answer {
	for _, q := range s.queues {
		if q.id == c.args[0] {
			return ok(s.workflowJSON(c, q))
		}
	}
	return fail(http.StatusNotFound, "Workflow %s does not exist", c.args[0])
}

func (s *Server) workflowJSON(c *call, q *queue) object {
	actions := map[string][]object{}
	var statuses []string
	step := func(status string) {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	for _, t := range q.Workflow {
		step(t.From)
		step(t.To)
		actions[t.From] = append(actions[t.From], object{
			"id": t.ID, "name": object{"ru": t.RU, "en": t.EN}, "target": s.refValue(c, kindStatus, t.To),
		})
	}
	steps := []object{}
	for _, status := range statuses {
		steps = append(steps, object{"status": s.refValue(c, kindStatus, status), "actions": append([]object{}, actions[status]...)})
	}
	return object{
		"self": c.base() + "/workflows/" + q.id, "id": q.id, "version": 1, "name": q.Name, "queue": c.queueRef(q), "steps": steps,
	}
}
