package telegram

import (
	"cmp"
	"slices"
)

// Person is somebody on Telegram and what they let the bot do.
type Person struct {
	User
	Blocked bool // they stopped the bot
}

// People gives everybody whom Customer added, by id.
func (s *Server) People() []Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	var people []Person
	for _, u := range s.users {
		if !u.passing {
			people = append(people, Person{User: u.User, Blocked: u.blocked})
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
		return Person{User: u.User, Blocked: u.blocked}, true
	}
	p, ok := s.crowd.Person(id)
	return Person{User: ofCrowd(p)}, ok
}

// Bot gives the bot.
func (s *Server) Bot() User { return s.cfg.Bot }
