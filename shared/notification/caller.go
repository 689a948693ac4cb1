package notification

import (
	"cmp"
	"context"
	"crypto/sha256"
	"net/http"
	"slices"
	"strconv"
	"time"

	"supportbot/shared/person"
)

const (
	keyHeader     = "X-API-Key"
	sessionHeader = "X-Session"
)

// caller is who calls: a program or a person.
type caller struct {
	name   string // "key:<name>" or "person:<id>"
	roles  []person.Role
	person int64 // who gets tests "to oneself"; 0: nobody
	token  string
	s      person.Session
}

// admit makes sure of who calls and that they may.
func (a *API) admit(ctx context.Context, c *call, roles []person.Role) error {
	if roles == nil {
		return nil
	}
	who, err := a.who(ctx, c.r)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(who.roles, func(r person.Role) bool { return slices.Contains(roles, r) }) {
		return refuse(http.StatusForbidden, "this needs one of the roles "+join(roles))
	}
	c.caller = who
	return nil
}

func (a *API) who(ctx context.Context, r *http.Request) (caller, error) {
	if key := r.Header.Get(keyHeader); key != "" {
		hash := sha256.Sum256([]byte(key)) // compared by the index of hashes: its time tells nothing of the key
		k, err := a.d.Store.KeyByHash(ctx, hash[:])
		switch {
		case err != nil:
			return caller{}, err
		case k == nil:
			return caller{}, refuse(http.StatusUnauthorized, "the API key is unknown or was revoked")
		}
		return caller{name: "key:" + k.Name, roles: []person.Role{k.Role}, person: k.Person}, nil
	}
	token := r.Header.Get(sessionHeader)
	if token == "" {
		return caller{}, refuse(http.StatusUnauthorized, "an API key ("+keyHeader+") or a session ("+sessionHeader+") is needed")
	}
	s, ok, err := a.d.Sessions.Session(ctx, token)
	switch {
	case err != nil:
		return caller{}, err
	case !ok:
		return caller{}, refuse(http.StatusUnauthorized, "the session has ended: send /console to the bot for a new link")
	}
	if s, ok, err = a.recheck(ctx, token, s); err != nil || !ok {
		return caller{}, cmp.Or(err, error(errNoAccess))
	}
	return caller{name: "person:" + strconv.FormatInt(s.Person, 10), roles: s.Roles, person: s.Person, token: token, s: s}, nil
}

// errNoAccess is for a person who is banned or has lost every role.
var errNoAccess = refuse(http.StatusUnauthorized, "the session has ended: you have no access any more")

// recheckEvery is how long a role that was taken away may still be used.
const recheckEvery = time.Minute

// recheck compares a session's roles with the database now and then, so that
// polling costs the database nothing.
func (a *API) recheck(ctx context.Context, token string, s person.Session) (person.Session, bool, error) {
	now := a.d.Now()
	if now.Sub(s.Checked) < recheckEvery {
		return s, true, nil
	}
	p, err := a.d.Store.PersonByID(ctx, s.Person)
	switch {
	case err != nil:
		return s, false, err
	case p == nil || p.Banned || !p.Staff():
		return s, false, a.d.Sessions.Close(ctx, token)
	}
	s.Roles, s.Locale, s.Checked = p.Roles, p.Locale, now.UTC()
	return s, true, a.d.Sessions.Keep(ctx, token, s)
}

func join(roles []person.Role) (out string) {
	for i, r := range roles {
		if i > 0 {
			out += ", "
		}
		out += string(r)
	}
	return out
}

// signIn exchanges the code of a one-time link for a session.
func (a *API) signIn(ctx context.Context, c *call) (any, error) {
	var in struct {
		Code string `json:"code"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	s, token, ok, err := a.d.Sessions.Open(ctx, in.Code)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, refuse(http.StatusUnauthorized, "the link was used or is too old: send /console to the bot for a new one")
	}
	s.Checked = time.Time{} // the link says what was when it was made
	if s, ok, err = a.recheck(ctx, token, s); err != nil || !ok {
		return nil, cmp.Or(err, error(errNoAccess))
	}
	return signedIn{s, token}, nil
}

type signedIn struct {
	person.Session
	Token string `json:"token,omitempty"`
}

func (a *API) session(_ context.Context, c *call) (any, error) {
	if c.caller.token == "" {
		return nil, refuse(http.StatusNotFound, "an API key has no session")
	}
	return signedIn{Session: c.caller.s}, nil
}

func (a *API) signOut(ctx context.Context, c *call) (any, error) {
	if c.caller.token == "" {
		return nil, refuse(http.StatusNotFound, "an API key has no session")
	}
	return nil, a.d.Sessions.Close(ctx, c.caller.token)
}
