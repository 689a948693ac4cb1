package sandbox

import (
	"context"
	"fmt"
	"net/http"
)

// Newcomer is somebody of a crowd, as the platform would know them had they written to
// the bot.
type Newcomer struct {
	ID       int64 // theirs, and of their chat
	Name     string
	Username string // "" if they have none
	Language string // "ru", "en"
}

// Register makes newcomers of one messenger ("telegram", "vk") customers of the
// platform, all or none. Writing to the bot would take a hundred thousand of them an
// hour: each is answered, within the messenger's limits.
type Register func(ctx context.Context, messenger string, list []Newcomer) error

const (
	crowdMost = 100_000 // people made up in one messenger
	foundMost = 20      // people that a search shows
)

// addCrowd takes {"count"} and answers with how many people were made up and how many
// there are.
func (s *Sandbox) addCrowd(r *http.Request) (any, error) {
	t, err := s.target(r)
	if err != nil {
		return nil, err
	}
	var body struct {
		Count int `json:"count"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	room := crowdMost - t.phone.crowd()
	if body.Count < 1 || body.Count > crowdMost || room <= 0 {
		return nil, fmt.Errorf("%w count: from 1 to %d in all, and there is room for %d", errInvalid, crowdMost, max(room, 0))
	}
	list := t.phone.grow(min(body.Count, room))
	if s.cfg.Register != nil {
		if err := s.cfg.Register(r.Context(), r.PathValue("messenger"), list); err != nil {
			return nil, fmt.Errorf("register a crowd: %w", err)
		}
	}
	s.changed()
	return map[string]int{"added": len(list), "total": t.phone.crowd()}, nil
}

// findInCrowd answers with some of those in whom the parameter "find" is found.
func (s *Sandbox) findInCrowd(r *http.Request) (any, error) {
	t, err := s.target(r)
	if err != nil {
		return nil, err
	}
	found := t.phone.search(r.URL.Query().Get("find"), foundMost)
	if found == nil {
		found = []personView{}
	}
	return map[string][]personView{"people": found}, nil
}

// takePerson puts somebody of the crowd among those whom the phone lists.
func (s *Sandbox) takePerson(r *http.Request) (any, error) {
	t, err := s.target(r)
	if err != nil {
		return nil, err
	}
	err = t.phone.take(t.chat)
	s.changed()
	return nil, err
}
