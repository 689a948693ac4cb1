package tracker

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"supportbot/shared/sandbox/fault"
)

// triggerMethod is the name of the triggers' calls in faults and in the log.
const triggerMethod = "trigger"

// delivery is an entry of a trigger's log.
type delivery struct {
	StartTime string   `json:"startTime"`
	EndTime   string   `json:"endTime"`
	Duration  int64    `json:"duration"` // ms
	TriggerID string   `json:"triggerId"`
	ActionID  int      `json:"actionId"`
	IssueID   string   `json:"issueId"`
	Request   request  `json:"request"`
	Response  response `json:"response"`
}

type request struct {
	Method   string            `json:"method"`
	Endpoint string            `json:"endpoint"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
}

type response struct {
	StatusCode int    `json:"statusCode,omitempty"`
	Body       string `json:"body,omitempty"`
	Error      string `json:"error,omitempty"`
}

// firing is a trigger that ran for a change. failed is set when its call fails.
type firing struct {
	trigger *trigger
	failed  bool
}

func firingsJSON(c *call, i *issue, list []*firing) []object {
	out := make([]object, 0, len(list))
	for _, f := range list {
		message := "Success"
		if f.failed {
			message = "Failure"
		}
		out = append(out, object{
			"trigger": object{
				"self": c.base() + "/queues/" + i.queue.Key + "/triggers/" + f.trigger.id,
				"id":   f.trigger.id, "display": f.trigger.name,
			},
			"success": !f.failed, "message": message,
		})
	}
	return out
}

// fire starts the calls of the triggers whose conditions hold. The lock is held;
// what the calls carry is fixed now.
func (s *Server) fire(e *edit, ch *change) {
	for _, t := range e.i.queue.triggers {
		if !t.active || !e.holds(condition{Type: "And", Conditions: t.conditions}) {
			continue
		}
		f := &firing{trigger: t}
		ch.triggers = append(ch.triggers, f)
		for _, a := range t.actions {
			s.start(f, e.i, a, e.template().request(a))
		}
	}
}

// request fills an action's variables.
func (t template) request(a action) request {
	r := request{Method: a.Method, Endpoint: t.fill(a.Endpoint), Headers: map[string]string{"X-Startrek-Transport": "trigger"}}
	for name, value := range a.Headers {
		r.Headers[t.fill(name)] = t.fill(value)
	}
	if a.ContentType != "" {
		r.Headers["Content-Type"] = a.ContentType
	}
	var text string
	if json.Unmarshal(a.Body, &text) != nil {
		text = string(a.Body) // an object
	}
	r.Body = t.fill(text)
	return r
}

// start makes a call in the background, under the fault that applies to it.
func (s *Server) start(f *firing, i *issue, a action, r request) {
	if s.closed {
		return
	}
	ft, faulty := s.cfg.Faults.Take(triggerMethod)
	times, wait := 1, time.Duration(0)
	if faulty {
		switch ft.Kind {
		case fault.Drop:
			times = 0
		case fault.Duplicate:
			times = 2
		case fault.Late, fault.Delay:
			wait = ft.Wait
		}
	}
	for range times {
		s.work.Add(1)
		go func() {
			defer s.work.Done()
			if !s.pause(wait) {
				return
			}
			s.deliver(f, i, a, r)
		}()
	}
}

// pause waits; false when the server was closed.
func (s *Server) pause(d time.Duration) bool {
	if d <= 0 {
		return s.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// deliver makes one call, once: what fails is only logged.
func (s *Server) deliver(f *firing, i *issue, a action, r request) {
	start := s.now()
	got := s.send(a, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.now()
	f.failed = f.failed || got.StatusCode < 200 || got.StatusCode > 299
	f.trigger.log = append(f.trigger.log, delivery{
		StartTime: stamp(start), EndTime: stamp(end), Duration: end.Sub(start).Milliseconds(),
		TriggerID: f.trigger.id, ActionID: a.ID, IssueID: i.id, Request: r, Response: got,
	})
	params, _ := json.Marshal(object{"trigger": f.trigger.id, "issue": i.key, "body": r.Body})
	s.cfg.Calls.Add(fault.Call{At: start, Method: triggerMethod, Params: params, Status: got.StatusCode, Effect: !f.failed})
	s.touch()
}

func (s *Server) send(a action, r request) response {
	req, err := http.NewRequestWithContext(s.ctx, r.Method, r.Endpoint, bytes.NewReader([]byte(r.Body)))
	if err != nil {
		return response{Error: "incorrect request"}
	}
	for name, value := range r.Headers {
		req.Header.Set(name, value)
	}
	switch a.Auth.Type {
	case "basic":
		req.SetBasicAuth(a.Auth.Login, a.Auth.Password)
	case "oauth":
		req.Header.Set(a.Auth.HeaderName, a.Auth.TokenType+" "+a.Auth.AccessToken)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return response{Error: "the address did not answer"}
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
	return response{StatusCode: resp.StatusCode, Body: string(body)}
}
