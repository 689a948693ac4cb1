package telegram

import (
	"reflect"
	"slices"

	"supportbot/shared/sandbox/crowd"
)

// passingMost is how many messages the chat of somebody keeps whom nobody has in hand:
// the newest ones.
const passingMost = 3

// Crowd lets n people more have started the bot, and gives them. To the bot they are
// customers like others. People does not list them and their chats keep only the newest
// messages, until Customer takes one of them in hand.
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
	u := User{ID: p.ID, FirstName: p.FirstName, LastName: p.LastName, Username: p.Nick, Language: "ru", Started: true}
	if p.English {
		u.Language = "en"
	}
	return u
}

// known gives a chat, or nil; that of somebody of the crowd is made when it is asked
// for. Callers hold s.mu.
func (s *Server) known(id int64) *chat {
	ch := s.chats[id]
	if ch != nil {
		return ch
	}
	p, ok := s.crowd.Person(id)
	if !ok {
		return nil
	}
	u := &user{User: ofCrowd(p), passing: true}
	ch = &chat{id: id, kind: private, user: u}
	s.users[id], s.chats[id] = u, ch
	return ch
}

// thin keeps the chats of the crowd small: they have only the newest messages, and what
// everybody gets is there once. Callers hold s.mu.
func (s *Server) thin(ch *chat) {
	if ch.user == nil || !ch.user.passing {
		return
	}
	if extra := len(ch.messages) - passingMost; extra > 0 {
		ch.messages = slices.Clone(ch.messages[extra:])
	}
	m := ch.messages[len(ch.messages)-1]
	if same := s.newest; same != nil && same.text == m.text && reflect.DeepEqual(same.entities, m.entities) && reflect.DeepEqual(same.inline, m.inline) {
		m.text, m.entities, m.inline = same.text, same.entities, same.inline
	}
	s.newest = m
}
