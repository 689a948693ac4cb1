package notification_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// admin is a person who may do everything, with a code of a one-time link.
func (d *desk) admin() (id int64, code string) {
	d.t.Helper()
	id = d.person(`roles = '{admin}'`, messenger.Telegram)
	code, err := d.sessions.Code(d.ctx, person.Person{ID: id, Roles: []person.Role{person.Admin}, Locale: "ru"})
	d.must(err)
	return id, code
}

func (d *desk) signIn(code string) reply {
	return d.call("POST", "/v1/session", map[string]string{"code": code}, "X-API-Key", "")
}

// as calls with a session alone.
func (d *desk) as(token, method, path string) reply {
	return d.call(method, path, nil, "X-API-Key", "", "X-Session", token)
}

// TestSession: a link signs in once; the session lasts until it is ended.
func TestSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id, code := d.admin()
	var in struct {
		Person int64
		Roles  []person.Role
		Token  string
	}
	d.signIn(code).into(&in)
	if in.Person != id || len(in.Roles) != 1 || in.Roles[0] != person.Admin || len(in.Token) < 40 {
		t.Errorf("session %+v", in)
	}
	for _, wrong := range []string{code, "", "guessed", in.Token} {
		if got := d.signIn(wrong); got.status != 401 || !strings.Contains(got.problem().Detail, "used or is too old") {
			t.Errorf("code %q once more: %d %s", wrong, got.status, got.body)
		}
	}
	if got := d.as(in.Token, "GET", "/v1/session"); got.status != 200 || strings.Contains(string(got.body), in.Token) {
		t.Errorf("the session: %d %s", got.status, got.body)
	}
	if got := d.as(in.Token, "GET", "/v1/broadcasts"); got.status != 200 || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("a call of the session: %d", got.status)
	}
	if got := d.as(in.Token, "DELETE", "/v1/session"); got.status != 204 {
		t.Errorf("sign out: %d %s", got.status, got.body)
	}
	for range 2 {
		if got := d.as(in.Token, "GET", "/v1/session"); got.status != 401 {
			t.Errorf("after it: %d %s", got.status, got.body)
		}
	}
	// A key has no session to show or to end.
	for _, method := range []string{"GET", "DELETE"} {
		if got := d.call(method, "/v1/session", nil); got.status != 404 || got.problem().Detail != "an API key has no session" {
			t.Errorf("%s by a key: %d %s", method, got.status, got.body)
		}
	}
}

// TestSession_Once: of many who open one link one is let in.
func TestSession_Once(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, code := d.admin()
	var in atomic.Int64
	var all sync.WaitGroup
	for range 10 {
		all.Add(1)
		go func() {
			defer all.Done()
			if d.signIn(code).status == 200 {
				in.Add(1)
			}
		}()
	}
	all.Wait()
	if n := in.Load(); n != 1 {
		t.Errorf("%d signed in with one link", n)
	}
}

// TestSession_Ends: with its time, with the last role, with a ban, with the person.
func TestSession_Ends(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, tc := range map[string]struct {
		change string
		after  time.Duration
		status int
	}{
		"a moment later":   {"", 59 * time.Second, 200},
		"a minute later":   {"", 61 * time.Second, 200},
		"role taken":       {`UPDATE people SET roles = '{}' WHERE id = $1`, 61 * time.Second, 401},
		"only a customer":  {`UPDATE people SET roles = '{customer}' WHERE id = $1`, 61 * time.Second, 401},
		"another role":     {`UPDATE people SET roles = '{analyst}' WHERE id = $1`, 61 * time.Second, 403},
		"banned":           {`UPDATE people SET banned_at = now() WHERE id = $1`, 61 * time.Second, 401},
		"its time is over": {`UPDATE people SET locale = 'en' WHERE id = $1`, 0, 401},
	} {
		t.Run(name, func(t *testing.T) {
			id, code := d.admin()
			var in struct{ Token string }
			d.signIn(code).into(&in)
			if tc.change != "" {
				d.exec(tc.change, id)
			}
			if tc.after == 0 { // what Redis does after twelve hours
				d.must(d.redis.FlushDB(d.ctx).Err())
			}
			d.later(tc.after)
			for range 2 {
				if got := d.as(in.Token, "GET", "/v1/broadcasts"); got.status != tc.status {
					t.Errorf("got %d %s, want %d", got.status, got.body, tc.status)
				}
			}
			// What was given back does not bring an ended session back.
			if d.exec(`UPDATE people SET roles = '{admin}', banned_at = NULL WHERE id = $1`, id); tc.status == 401 {
				if got := d.as(in.Token, "GET", "/v1/broadcasts"); got.status != 401 {
					t.Errorf("an ended session: %d", got.status)
				}
			}
		})
	}
}

// TestSession_OldLink: a link is worth what its person may do when it is opened.
func TestSession_OldLink(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id, code := d.admin()
	d.exec(`UPDATE people SET banned_at = now() WHERE id = $1`, id)
	if got := d.signIn(code); got.status != 401 || !strings.Contains(got.problem().Detail, "no access") {
		t.Errorf("somebody banned signs in: %d %s", got.status, got.body)
	}
	id, code = d.admin()
	d.exec(`UPDATE people SET roles = '{operator}' WHERE id = $1`, id)
	var in struct{ Token string }
	d.signIn(code).into(&in)
	if got := d.as(in.Token, "POST", "/v1/preview"); got.status != 403 {
		t.Errorf("a role that was taken before the sign-in: %d %s", got.status, got.body)
	}
}
