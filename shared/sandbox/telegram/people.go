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
	people := make([]Person, 0, len(s.users))
	for _, u := range s.users {
		people = append(people, Person{User: u.User, Blocked: u.blocked})
	}
	slices.SortFunc(people, func(a, b Person) int { return cmp.Compare(a.ID, b.ID) })
	return people
}

// Bot gives the bot.
func (s *Server) Bot() User { return s.cfg.Bot }
