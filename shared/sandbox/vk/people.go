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
	var people []Person
	for _, u := range s.users {
		if !u.passing {
			people = append(people, Person{User: u.User, MayWrite: u.allowed})
		}
	}
	slices.SortFunc(people, func(a, b Person) int { return cmp.Compare(a.ID, b.ID) })
	return people
}

// Person gives somebody by id, also of the crowd.
func (s *Server) Person(id int64) (Person, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.users[id]; u != nil {
		return Person{User: u.User, MayWrite: u.allowed}, true
	}
	p, ok := s.crowd.Person(id)
	return Person{User: ofCrowd(p), MayWrite: true}, ok
}

// Faults is where the server takes its faults from.
func (s *Server) Faults() *fault.Set { return s.cfg.Faults }

// Calls is the log of calls in both directions.
func (s *Server) Calls() *fault.Log { return s.cfg.Calls }
