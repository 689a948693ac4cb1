// Package access lets people in: it makes one person of somebody's accounts in two
// messengers, and gives those who have a role a way into the console. Both go by a
// code that is shown in one place and used once in another.
package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/person"
)

// Codes are kept outside the database: losing them only means to ask again.
type Codes interface {
	// LinkCode makes a code that means an address, good for ten minutes.
	LinkCode(ctx context.Context, a messenger.Address) (string, error)
	// LinkFrom gives the address that a code means; ok is false for an unknown one.
	LinkFrom(ctx context.Context, code string) (a messenger.Address, ok bool, err error)
	// UseLink makes a code theirs who use it first; ok is false for all others.
	UseLink(ctx context.Context, code string, by messenger.Address) (ok bool, err error)
	// Code makes a code for one sign-in of somebody.
	Code(ctx context.Context, p person.Person) (string, error)
}

// People is what access needs of the database. Person gives nil for nobody.
type People interface {
	Person(ctx context.Context, a messenger.Address) (*person.Person, error)
	Link(ctx context.Context, keep, other int64) (person.Person, error)
	Addresses(ctx context.Context, id int64) ([]messenger.Address, error)
}

// Service lets people in.
type Service struct {
	Codes  Codes
	People People
	// Forget drops what a conversation has kept of its person.
	Forget  func(ctx context.Context, a messenger.Address) error
	Console string // the console's address; "": there is none
	Log     *slog.Logger
}

// Linked is what came of a code.
type Linked string

// The outcomes.
const (
	Done    Linked = "done"    // the two accounts are one person now, or were already
	Unknown Linked = "unknown" // no such code: mistyped, too old, or used by somebody else
	Same    Linked = "same"    // it was made in this very chat
	Rights  Linked = "rights"  // one of the two has rights that the other has not
)

// LinkCode makes a code to be sent to the bot from somewhere else.
func (s *Service) LinkCode(ctx context.Context, a messenger.Address) (string, error) {
	code, err := s.Codes.LinkCode(ctx, a)
	if err != nil {
		return "", fmt.Errorf("make code: %w", err)
	}
	return code[:len(code)/2] + "-" + code[len(code)/2:], nil
}

// Link makes one person of whoever made the code and whoever sends it. It may be
// repeated. Rights are not handed on: a code is easily wheedled out of somebody, or
// into their chat, so what one may do and the other may not keeps two people apart
// until an operator has given both the same.
func (s *Service) Link(ctx context.Context, code string, a messenger.Address) (Linked, error) {
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	from, ok, err := s.Codes.LinkFrom(ctx, code)
	switch {
	case err != nil:
		return "", fmt.Errorf("find code: %w", err)
	case !ok:
		return Unknown, nil
	case from == a:
		return Same, nil
	}
	one, err := s.People.Person(ctx, from)
	if err != nil {
		return "", err
	}
	two, err := s.People.Person(ctx, a)
	switch {
	case err != nil:
		return "", err
	case one == nil || two == nil:
		return Unknown, nil
	case !one.SameRights(*two):
		return Rights, nil
	}
	// Before the link: of two who send a code at once one is too late. Whoever has it
	// may send it again if what follows fails.
	if ok, err = s.Codes.UseLink(ctx, code, a); err != nil {
		return "", fmt.Errorf("take code: %w", err)
	}
	if !ok {
		return Unknown, nil
	}
	p, err := s.People.Link(ctx, one.ID, two.ID)
	if err != nil {
		return "", err
	}
	s.forget(ctx, p.ID)
	s.Log.InfoContext(ctx, "accounts linked", "person", p.ID)
	return Done, nil
}

// forget lets each of a person's conversations read the person anew.
func (s *Service) forget(ctx context.Context, id int64) {
	all, err := s.People.Addresses(ctx, id)
	for _, a := range all {
		err = errors.Join(err, s.Forget(ctx, a))
	}
	if err != nil {
		s.Log.WarnContext(ctx, "a kept copy of a person was not dropped", obs.Error, err.Error())
	}
}

// SignIn makes a link into the console, good for one sign-in; "" for those who have
// no role, and where there is no console.
func (s *Service) SignIn(ctx context.Context, a messenger.Address) (string, error) {
	p, err := s.People.Person(ctx, a)
	if err != nil {
		return "", err
	}
	if p == nil || p.Banned || !p.Staff() || s.Console == "" {
		return "", nil
	}
	code, err := s.Codes.Code(ctx, *p)
	if err != nil {
		return "", err
	}
	// Behind the #: what stands there is sent to no server and gets into no log.
	return strings.TrimRight(s.Console, "/") + "/#code=" + url.QueryEscape(code), nil
}
