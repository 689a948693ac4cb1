package vk

import (
	"cmp"
	"slices"

	"supportbot/shared/sandbox/fault"
)

// Person is somebody on VK and what they let the community do.
type Person struct {
	User
	MayWrite bool // the community may write to them: they wrote first or allowed it, and did not forbid it since
}

// People gives everybody whom Customer added, by id.
func (s *Server) People() []Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	people := make([]Person, 0, len(s.users))
	for _, u := range s.users {
		people = append(people, Person{User: u.User, MayWrite: u.allowed})
	}
	slices.SortFunc(people, func(a, b Person) int { return cmp.Compare(a.ID, b.ID) })
	return people
}

// Faults is where the server takes its faults from.
func (s *Server) Faults() *fault.Set { return s.cfg.Faults }

// Calls is the log of calls in both directions.
func (s *Server) Calls() *fault.Log { return s.cfg.Calls }
