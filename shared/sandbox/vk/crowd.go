package vk

import (
	"reflect"
	"slices"
	"time"

	"supportbot/shared/sandbox/crowd"
)

// passingMost is how many messages the conversation of somebody keeps whom nobody has
// in hand: the newest ones, and those of the last minute, by which flooding is told.
const passingMost = 3

// Crowd lets n people more have allowed the community to write, and gives them. To the
// community they are customers like others. People does not list them and their
// conversations keep only the newest messages, until Customer takes one of them in hand.
func (s *Server) Crowd(n int) []User {
	s.mu.Lock()
	defer s.mu.Unlock()
	var users []User
	for _, p := range s.crowd.Grow(n) {
		users = append(users, ofCrowd(p))
	}
	s.changed()
	return users
}

// CrowdSize is how many people Crowd has made.
func (s *Server) CrowdSize() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crowd.Size()
}

// FindInCrowd gives at most so many of the crowd whose name, nick or id contains all
// the words.
func (s *Server) FindInCrowd(words string, most int) []User {
	s.mu.Lock()
	defer s.mu.Unlock()
	var users []User
	for _, p := range s.crowd.Find(words, most) {
		users = append(users, ofCrowd(p))
	}
	return users
}

func ofCrowd(p crowd.Person) User {
	return User{ID: p.ID, FirstName: p.FirstName, LastName: p.LastName, ScreenName: p.Nick, English: p.English, Allowed: true}
}

// known gives somebody, or nil; one of the crowd is made when they are asked for.
// Callers hold s.mu.
func (s *Server) known(id int64) *user {
	u := s.users[id]
	if u != nil {
		return u
	}
	p, ok := s.crowd.Person(id)
	if !ok {
		return nil
	}
	u = &user{User: ofCrowd(p), passing: true, allowed: true}
	s.users[id] = u
	return u
}

// thin keeps the conversations of the crowd small: they have only the newest messages,
// and what everybody gets is there once. Callers hold s.mu.
func (s *Server) thin(p *peer) {
	if u := s.users[p.id]; u == nil || !u.passing {
		return
	}
	extra := 0
	for extra < len(p.messages)-passingMost && s.now().Sub(p.messages[extra].date) > time.Minute {
		old := p.messages[extra]
		delete(s.byID, old.id)
		if key := (randomKey{p.id, old.random}); s.randoms[key] == old {
			delete(s.randoms, key)
		}
		extra++
	}
	if extra > 0 {
		p.messages, p.dropped = slices.Clone(p.messages[extra:]), p.dropped+extra
	}
	m := p.messages[len(p.messages)-1]
	if same := s.newest; same != nil && same.text == m.text && reflect.DeepEqual(same.keyboard, m.keyboard) {
		m.text, m.keyboard = same.text, same.keyboard
	}
	s.newest = m
}
