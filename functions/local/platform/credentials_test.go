package platform_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/functions/local/platform"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
	"supportbot/shared/redisdb"
)

// idle builds the platform and runs no worker and no timer: what changes in the
// databases has changed by a call.
func idle(w *world) { w.idle = true }

// tables gives the content of all tables but for when keys were used.
func (w *world) tables() map[string]string {
	w.t.Helper()
	conn, err := pgx.Connect(w.ctx, w.env["DATABASE_URL"])
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, _ := conn.Query(w.ctx, `SELECT format('%I', table_name) FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range names {
		var text string
		if err := conn.QueryRow(w.ctx, `SELECT coalesce(jsonb_agg(to_jsonb(t) - 'used_at' ORDER BY t::text)::text, '') FROM `+name+` t`).Scan(&text); err != nil {
			w.t.Fatal(err)
		}
		all[name] = text
	}
	return all
}

// unchanged: neither in the tables nor in Redis anything is other than before.
func (w *world) unchanged(tables, keys map[string]string) {
	w.t.Helper()
	now := w.tables()
	for name := range now {
		if now[name] != tables[name] {
			w.t.Errorf("table %s was changed: %s, before %s", name, now[name], tables[name])
		}
	}
	if now := w.keys(); !maps.Equal(now, keys) {
		w.t.Errorf("Redis was changed: %v, before %v", slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(keys)))
	}
}

// operation is one of the API, as its own document has it.
type operation struct {
	method, path string
	roles        []string // none: anybody
}

// operations reads the document from the API, so that none is left out.
func (w *world) operations() (all []operation) {
	w.t.Helper()
	var doc struct {
		Paths map[string]map[string]struct{ Description string }
	}
	status, body := w.try("GET", "/v1/openapi.json", nil)
	if err := json.Unmarshal(body, &doc); status != http.StatusOK || err != nil {
		w.t.Fatalf("document: %d, %v", status, err)
	}
	for path, methods := range doc.Paths {
		for method, spec := range methods {
			o := operation{method: strings.ToUpper(method), path: path}
			if said := regexp.MustCompile(`^Roles: ([a-z, ]+)\.`).FindStringSubmatch(spec.Description); said != nil {
				o.roles = strings.Split(said[1], ", ")
			}
			all = append(all, o)
		}
	}
	if len(all) < 25 {
		w.t.Fatalf("the document has %d operations", len(all))
	}
	return all
}

// try calls the platform.
func (w *world) try(method, path string, header http.Header) (int, []byte) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.ctx, method, w.url+path, strings.NewReader(`{}`))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Idempotency-Key", "CANARY-once")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, body
}

// discreet: an answer shows nothing of the inside.
func (w *world) discreet(what string, body []byte) {
	w.t.Helper()
	for _, word := range []string{"CANARY", "SECRET", "SQL", "postgres", "redis", "pgx", ".go:", "goroutine", "supportbot/"} {
		if bytes.Contains(body, []byte(word)) {
			w.t.Errorf("%s: the answer shows %q: %s", what, word, body)
		}
	}
	if len(body) > 1000 {
		w.t.Errorf("%s: an answer of %d bytes", what, len(body))
	}
}

// staff is a person with roles, who is signed in.
func (w *world) staff(db *postgres.DB, n int, roles ...person.Role) (id int64, session string) {
	w.t.Helper()
	user := fmt.Sprint(telegramID + 100 + n)
	p, _, err := db.Record(w.ctx, person.Visit{Identity: person.Identity{
		Address: messenger.Address{Messenger: messenger.Telegram, Bot: "1099511627777", Chat: user}, User: messenger.User{ID: user}, SeenAt: time.Now(),
	}}, nil)
	if err == nil {
		_, _, err = db.SetRoles(w.ctx, messenger.Telegram, user, roles)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	r := w.redis()
	defer func() { _ = r.Close() }()
	s := redisdb.NewSessions(r)
	code, err := s.Code(w.ctx, person.Person{ID: p.ID, Roles: roles, Locale: "ru"})
	if err != nil {
		w.t.Fatal(err)
	}
	in, token, _, err := s.Open(w.ctx, code)
	if err == nil { // it is a while ago that the roles were looked up
		in.Checked = in.Checked.Add(-time.Hour)
		err = s.Keep(w.ctx, token, in)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return p.ID, token
}

// TestCredentials: no operation of the API does, or tells, anything without a
// credential, with a wrong one, with one that was withdrawn, or with another role's.
func TestCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t, idle)
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(w.env["DATABASE_URL"])})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	keyOf := map[string]string{}
	for _, role := range []person.Role{person.Admin, person.Analyst, person.Operator} {
		keyOf[string(role)] = "SECRET-CANARY-of-" + string(role)
		w.newKey(string(role), keyOf[string(role)], role)
	}
	w.newKey("withdrawn", "SECRET-CANARY-withdrawn", person.Admin)
	if err := db.RevokeKey(w.ctx, "withdrawn"); err != nil {
		t.Fatal(err)
	}
	sessions := map[string]string{}
	for n, name := range []string{"signed out", "role taken away", "banned", "erased", "an agent's"} {
		roles := []person.Role{person.Admin}
		if name == "an agent's" {
			roles = []person.Role{person.Agent}
		}
		var id int64
		id, sessions[name] = w.staff(db, n, roles...)
		w.withdraw(db, name, n, id, sessions[name])
	}
	session := func(name string) http.Header { return http.Header{"X-Session": {sessions[name]}} }
	key := func(k string) http.Header { return http.Header{"X-Api-Key": {k}} }
	unknown := map[string]http.Header{
		"nothing":             {},
		"an empty key":        key(""),
		"a wrong key":         key("SECRET-CANARY-of-admim"),
		"the beginning of it": key(keyOf["admin"][:20]),
		"a key with spaces":   key(keyOf["admin"] + " x"),
		"a withdrawn key":     key("SECRET-CANARY-withdrawn"),
		"the wrong header":    {"Authorization": {"Bearer " + keyOf["admin"]}, "Cookie": {"X-API-Key=" + keyOf["admin"]}},
		"a key as a session":  {"X-Session": {keyOf["admin"]}},
		"a wrong session":     {"X-Session": {"CANARY-x"}},
		"a session's hash":    {"X-Session": {"console:session:*"}},
		"signed out":          session("signed out"),
		"role taken away":     session("role taken away"),
		"banned":              session("banned"),
		"erased":              session("erased"),
		"another's, as well":  {"X-Api-Key": {"CANARY-wrong"}, "X-Session": {sessions["an agent's"]}},
	}
	all := w.operations()
	w.refusesAll(all, unknown, map[string]http.Header{"role taken away": nil, "banned": nil, "erased": nil}) // ends their sessions
	w.try("GET", "/v1/session", session("an agent's"))                                                       // notes when the roles were looked up
	tables, keys := w.tables(), w.keys()
	w.refusesAll(all, unknown, unknown)
	for _, o := range all {
		for role, k := range keyOf {
			if o.roles != nil && !slices.Contains(o.roles, role) {
				w.refuses(o, role, key(k), http.StatusForbidden)
			}
		}
		if o.roles != nil {
			w.refuses(o, "an agent's", session("an agent's"), http.StatusForbidden)
		}
	}
	w.unchanged(tables, keys)
	for _, o := range all { // the right one opens each
		if o.roles == nil {
			continue
		}
		if status, body := w.try(o.method, o.at(), key(keyOf["admin"])); status == http.StatusUnauthorized || status == http.StatusForbidden {
			t.Errorf("%s %s as an admin: %d %s", o.method, o.path, status, body)
		}
	}
}

// newKey makes an API key.
func (w *world) newKey(name, key string, role person.Role) {
	w.t.Helper()
	hash := sha256.Sum256([]byte(key))
	w.exec(`INSERT INTO api_keys (name, role, hash) VALUES ($1, $2, $3)`, name, string(role), hash[:])
}

// withdraw takes away what a session was given for.
func (w *world) withdraw(db *postgres.DB, name string, n int, id int64, token string) {
	w.t.Helper()
	user := fmt.Sprint(telegramID + 100 + n)
	var err error
	switch name {
	case "signed out":
		if status, body := w.try("DELETE", "/v1/session", http.Header{"X-Session": {token}}); status != http.StatusNoContent {
			w.t.Fatalf("sign out: %d %s", status, body)
		}
	case "role taken away":
		_, _, err = db.SetRoles(w.ctx, messenger.Telegram, user, nil)
	case "banned":
		_, err = db.BanUser(w.ctx, messenger.Telegram, user, true, "")
	case "erased":
		var steps string
		if steps, err = db.Steps(w.ctx, id); err == nil {
			_, err = db.Forget(w.ctx, id, steps)
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (o operation) at() string {
	return strings.NewReplacer("{id}", "1", "{name}", "backlog").Replace(o.path)
}

// refusesAll: those of the credentials that are named in only are known to nobody.
func (w *world) refusesAll(all []operation, credentials, only map[string]http.Header) {
	w.t.Helper()
	for _, o := range all {
		for name, header := range credentials {
			if _, ok := only[name]; ok && o.roles != nil {
				w.refuses(o, name, header, http.StatusUnauthorized)
			}
		}
	}
}

func (w *world) refuses(o operation, name string, header http.Header, want int) {
	w.t.Helper()
	status, body := w.try(o.method, o.at(), header)
	if status != want {
		w.t.Errorf("%s %s with %s: %d %s, want %d", o.method, o.path, name, status, body, want)
	}
	w.discreet(o.method+" "+o.path+" with "+name, body)
}

// TestCredentials_Webhooks: of a webhook's secret a second one holds while it is being
// replaced, and not a moment longer.
func TestCredentials_Webhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, idle)
	const next = "SECRET-CANARY-next-secret"
	call := func(path, secret string) (string, http.Header, string) {
		switch path {
		case "/telegram":
			return path, http.Header{"X-Telegram-Bot-Api-Secret-Token": {secret}}, `{"update_id":7,"poll":{"id":"1"}}`
		case "/vk":
			quoted, _ := json.Marshal(secret)
			return path, http.Header{}, `{"type":"confirmation","group_id":209,"secret":` + string(quoted) + `}`
		}
		return path, http.Header{"X-Webhook-Secret": {secret}}, `{"key":"SUP-1"}`
	}
	for name, tc := range map[string]struct {
		secrets string
		good    []string
		bad     []string
	}{
		"both":      {next + "," + secret, []string{next, secret}, []string{"", next + "," + secret, ","}},
		"the new":   {next, []string{next}, []string{secret, strings.ToUpper(next), next[:len(next)-1], next + "x", next + "\x00"}},
		"the first": {secret, []string{secret}, []string{next}},
	} {
		variables := maps.Clone(w.env)
		for _, v := range []string{"TELEGRAM_WEBHOOK_SECRET", "VK_SECRET", "TRACKER_WEBHOOK_SECRET"} {
			variables[v] = tc.secrets
		}
		p, err := platform.New(platform.Config{
			Lookup: func(name string) (string, bool) { v, ok := variables[name]; return v, ok },
			Log:    func(f string) *slog.Logger { return obs.NewLogger(w.log, f, slog.LevelDebug) }, Queue: w.queue,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/telegram", "/vk", "/tracker"} {
			for i, given := range append(slices.Clone(tc.good), tc.bad...) {
				at, header, body := call(path, given)
				res := answerOf(p.Handler, at, header, body)
				if want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[i < len(tc.good)]; res.Code != want {
					t.Errorf("%s, %s: %d %s, want %d", name, path, res.Code, res.Body, want)
				}
				w.discreet(path, bytes.ReplaceAll(res.Body.Bytes(), []byte("confirm"), nil))
			}
		}
	}
}
