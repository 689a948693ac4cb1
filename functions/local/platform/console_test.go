package platform_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"supportbot/functions/local/platform"
	"supportbot/shared/browsertest"
	"supportbot/shared/console"
	"supportbot/shared/env"
	"supportbot/shared/person"
	"supportbot/shared/postgres"
	"supportbot/shared/redisdb"
	"supportbot/shared/sandbox/fault"
)

// TestConsole_InABrowser drives the console with Chromium over the whole platform:
// testdata/console/drive.mjs says what it does. SCREENSHOTS names a folder for pictures.
func TestConsole_InABrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.env["CONSOLE_URL"] = serve(w.t, platform.Streaming(w.ctx, w.front)) + console.Path })
	admin := w.telegramCustomer(telegramID)
	all := w.registered(admin, 22)
	vk := w.registered(w.vkCustomer(vkID), 3)
	stage := &stage{w: w, all: append(all, vk...), roles: map[string]customer{
		"admin": admin, "operator": w.telegramCustomer(telegramID + 1), "analyst": w.telegramCustomer(telegramID + 2),
	}}
	for role, c := range stage.roles {
		c.write("/start")
		c.sees("бот поддержки")
		w.grant(c, person.Role(role))
		stage.all = append(stage.all, c)
	}
	w.quiet()
	browsertest.Drive(t, "testdata/console/drive.mjs", patience, map[string]string{
		"page": w.env["CONSOLE_URL"], "stage": serve(t, stage),
	})
}

// grant gives somebody a role, as the operator's command does.
func (w *world) grant(c customer, role person.Role) {
	w.t.Helper()
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(w.env["DATABASE_URL"])})
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	a := c.address() // in a chat of two the chat's number is the user's
	if _, _, err := db.SetRoles(w.ctx, a.Messenger, a.Chat, []person.Role{role}); err != nil {
		w.t.Fatal(err)
	}
	r := w.redis()
	defer func() { _ = r.Close() }()
	if err := redisdb.NewConversations(r).ForgetPerson(w.ctx, a); err != nil {
		w.t.Fatal(err)
	}
}

// stage is what happens behind the page: the script asks for it by HTTP.
type stage struct {
	w     *world
	roles map[string]customer
	all   []customer // who gets broadcasts

	mu sync.Mutex
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var in struct{ Role, Text string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var out any
	switch r.URL.Path {
	case "/link":
		out = s.link(s.roles[in.Role])
	case "/received": // how many have a message with the text, and how often
		have, times := 0, 0
		for _, c := range s.all {
			if n := saw(c, in.Text); n > 0 {
				have, times = have+1, times+n
			}
		}
		out = map[string]int{"have": have, "times": times, "author": saw(s.roles["admin"], in.Text)}
	case "/lose-answers": // the next two messages arrive, and nobody hears of it
		s.w.faults.telegram.Add(fault.Fault{Method: "sendMessage", Kind: fault.CloseAfter, Times: 2})
	case "/refuse-ticket": // a customer's ticket is refused: its job waits for a person
		s.w.faults.tracker.Add(fault.Fault{Method: "POST /v3/issues", Kind: fault.Status, Status: http.StatusUnprocessableEntity, Times: 1})
		form(s.roles["operator"], in.Text)
		s.roles["operator"].press("Отправить")
		s.w.until("the job waits", 1, `SELECT count(*) FROM jobs WHERE state = 'needs_review'`)
	case "/ticket": // the one with that subject
		out = s.w.ticketOf(in.Text).Key
	case "/end-sessions":
		out = s.endSessions()
	default:
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(out)
}

// link asks the bot for a way into the console.
func (s *stage) link(c customer) string {
	before := map[int64]bool{}
	for _, m := range c.all() {
		before[m.id] = true
	}
	c.write("/console")
	said := c.waits("a link into the console", func(m said) bool {
		return !before[m.id] && strings.Contains(m.text, "в консоль") && m.links["Открыть консоль"] != ""
	})
	return said.links["Открыть консоль"]
}

// endSessions does what time does.
func (s *stage) endSessions() int {
	r := s.w.redis()
	defer func() { _ = r.Close() }()
	keys, err := r.Keys(s.w.ctx, "console:session:*").Result()
	if err == nil && len(keys) > 0 {
		err = r.Del(s.w.ctx, keys...).Err()
	}
	if err != nil {
		s.w.t.Error(err)
	}
	return len(keys)
}
