package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"supportbot/shared/sandbox/fault"
)

const (
	callsMost   = 200  // calls in a pane, the newest ones
	bodyMost    = 4000 // bytes of a call's parameters or result that are shown
	longestWait = 3600 // seconds
)

// kinds are the faults that can be asked for.
var kinds = []fault.Kind{
	fault.HangBefore, fault.HangAfter, fault.CloseBefore, fault.CloseAfter, fault.Status,
	fault.HTMLBefore, fault.HTMLAfter, fault.Delay, fault.Drop, fault.Duplicate, fault.Late,
}

// faultView is a rule that still applies.
type faultView struct {
	ID     string     `json:"id"`
	Server string     `json:"server"`
	Method string     `json:"method"`
	Kind   fault.Kind `json:"kind"`
	Times  int        `json:"times"` // 0: until it is removed
	Status int        `json:"status,omitempty"`
	Wait   float64    `json:"wait,omitempty"` // seconds
}

func (s *Sandbox) faultPane() pane {
	p := pane{head: map[string]any{"kinds": kinds}}
	for _, server := range s.servers() {
		for _, f := range s.wires[server].faults.List() {
			id := server + " " + strconv.Itoa(f.ID)
			p.items = append(p.items, item{id, faultView{id, server, f.Method, f.Kind, f.Times, f.Status, f.Wait.Seconds()}})
		}
	}
	return p
}

func (s *Sandbox) servers() []string {
	var list []string
	for name := range s.wires {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func (s *Sandbox) wire(r *http.Request) (wire, error) {
	w, ok := s.wires[r.PathValue("server")]
	if !ok {
		return w, fmt.Errorf("server: %w", errNotFound)
	}
	return w, nil
}

// newFault is a rule to be added.
type newFault struct {
	Method     string     `json:"method"` // pattern of path.Match
	Kind       fault.Kind `json:"kind"`
	Times      int        `json:"times"`
	Status     int        `json:"status"`
	RetryAfter int        `json:"retry_after"` // seconds
	Wait       float64    `json:"wait"`        // seconds
}

func (n newFault) wrong() string {
	_, err := path.Match(n.Method, "")
	switch {
	case n.Method == "" || err != nil:
		return "method is no pattern"
	case !slices.Contains(kinds, n.Kind):
		return "kind is unknown"
	case n.Times < 0:
		return "times is negative"
	case n.Kind == fault.Status && (n.Status < 400 || n.Status > 599):
		return "status is 400 to 599"
	case !(n.Wait >= 0 && n.Wait <= longestWait) || n.RetryAfter < 0 || n.RetryAfter > longestWait:
		return "waits are 0 to 3600 seconds"
	}
	return ""
}

func (s *Sandbox) addFault(r *http.Request) (any, error) {
	w, err := s.wire(r)
	if err != nil {
		return nil, err
	}
	var n newFault
	if err := decode(r, &n); err != nil {
		return nil, err
	}
	if wrong := n.wrong(); wrong != "" {
		return nil, fmt.Errorf("%w fault: %s", errInvalid, wrong)
	}
	id := w.faults.Add(fault.Fault{
		Method: n.Method, Kind: n.Kind, Times: n.Times, Status: n.Status, RetryAfter: n.RetryAfter,
		Wait: time.Duration(n.Wait * float64(time.Second)),
	})
	s.changed()
	return map[string]int{"id": id}, nil
}

func (s *Sandbox) clearFaults(r *http.Request) (any, error) {
	w, err := s.wire(r)
	if err != nil {
		return nil, err
	}
	w.faults.Clear()
	s.changed()
	return nil, nil
}

// release lets go what faults hold back.
func (s *Sandbox) release(r *http.Request) (any, error) {
	w, err := s.wire(r)
	if err == nil && w.kick != nil {
		w.kick()
	}
	return nil, err
}

// callView is a call in the log.
type callView struct {
	ID     string    `json:"id"`
	N      int       `json:"n"`
	At     time.Time `json:"at"`
	Method string    `json:"method"`
	Status int       `json:"status"`
	Effect bool      `json:"effect"`
	Params string    `json:"params,omitempty"` // JSON, cut
	Result string    `json:"result,omitempty"` // JSON, cut
}

// callPane is the newest calls of a server in both directions.
func (s *Sandbox) callPane(server string) (pane, error) {
	w, ok := s.wires[server]
	if !ok {
		return pane{}, fmt.Errorf("server: %w", errNotFound)
	}
	count := w.calls.Count()
	p := pane{head: map[string]int{"count": count}}
	for _, c := range w.calls.Since(count - callsMost) {
		id := strconv.Itoa(c.N)
		p.items = append(p.items, item{id, callView{
			id, c.N, c.At, c.Method, c.Status, c.Effect, cut(c.Params), cut(c.Result),
		}})
	}
	return p, nil
}

func cut(body json.RawMessage) string {
	if len(body) <= bodyMost {
		return string(body)
	}
	end := bodyMost
	for !utf8.RuneStart(body[end]) {
		end--
	}
	return string(body[:end]) + "…"
}
