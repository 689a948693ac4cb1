package bench

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/sandbox/history"
	"supportbot/shared/sandbox/tracker"
	port "supportbot/shared/tracker"
)

// longPast is a Tracker with any number of tickets. It remembers some that a sandbox's
// Tracker told of, their lives made up by package history, and tells of them again and
// again, each time by other ids and at other times: the n-th was last updated at
// begin + n*step. It answers a loader; the rest is the sandbox's.
type longPast struct {
	known   []sample
	sandbox *tracker.Server
	tickets int
	begin   time.Time
	step    time.Duration
}

// sample is what is told of one ticket.
type sample struct {
	id                       string // in the sandbox
	updated                  time.Time
	issue, changes, comments template
}

const (
	samples     = 500
	trackerTime = 365 * 24 * time.Hour // over which tickets are spread
	trackerOrg  = "77"
)

// serveTracker is the process of a long past.
func serveTracker(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(serveTrackerCommand, flag.ContinueOnError)
	tickets := flags.Int("tickets", 0, "how many there are")
	end := flags.String("end", "", "the `time` before which all was updated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	until, err := time.Parse(time.RFC3339, *end)
	if err != nil {
		return fmt.Errorf("read end: %w", err)
	}
	past, err := newLongPast(ctx, *tickets, until)
	if err != nil {
		return err
	}
	defer past.close()
	return present(past, func() {})
}

func newLongPast(ctx context.Context, tickets int, end time.Time) (*longPast, error) {
	begin := end.Add(-trackerTime)
	p := &longPast{
		sandbox: smallTracker(), tickets: tickets, begin: begin.Truncate(time.Millisecond), step: trackerTime / time.Duration(max(tickets, 1)),
	}
	err := makeUp(ctx, p.sandbox, tickets, begin, end)
	if err == nil {
		err = p.remember()
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *longPast) close() { p.sandbox.Close() }

func smallTracker() *tracker.Server {
	var fields []string
	for _, f := range port.Fields {
		fields = append(fields, string(f))
	}
	q := tracker.DefaultQueue("SUP", fields...)
	q.SLA = 8 * time.Hour
	agents := make([]tracker.User, 12)
	for i := range agents {
		name := fmt.Sprintf("agent%d", i+1)
		agents[i] = tracker.User{ID: strconv.Itoa(101 + i), Login: name, Name: "Агент " + strconv.Itoa(i+1), Token: name}
	}
	return tracker.New(tracker.Config{Token: secret, OrgID: trackerOrg, Agents: agents, Queues: []tracker.Queue{q}, Past: true})
}

// makeUp fills the small Tracker.
func makeUp(ctx context.Context, small *tracker.Server, tickets int, begin, end time.Time) error {
	srv := httptest.NewServer(small)
	defer srv.Close()
	tokens, logins := map[string]string{}, []string{}
	for _, u := range small.Catalogue().Agents {
		tokens[u.Login], logins = u.Login, append(logins, u.Login)
	}
	player, err := history.NewPlayer(ctx, history.Access{
		URL: srv.URL, Org: trackerOrg, Robot: secret, Agents: tokens, Bots: map[string]string{"telegram": telegramBot, "vk": strconv.Itoa(vkGroup)}, Name: "bench",
	}, "SUP")
	if err != nil {
		return err
	}
	defer player.Close()
	plan := history.New(history.Config{
		Seed: 1, Tickets: min(samples, tickets), From: begin, To: end, Queues: []string{"SUP"}, Agents: logins,
		Categories: []history.Category{{Key: "problem", Type: "bug", Priority: "normal"}, {Key: "question", Type: "question", Priority: "minor"}},
	})
	return player.Play(ctx, plan, func(int) {})
}

// remember asks the sandbox about all that it has, as a loader does.
func (p *longPast) remember() error {
	const all = `{"query": "(Queue: \"SUP\" OR Author: me()) AND Updated: >= \"2000-01-01T00:00:00\" \"Sort by\": Updated ASC"}`
	found, err := p.ask(http.MethodPost, "/v3/issues/_search?scrollType=sorted&perScroll=1000", all)
	if err != nil {
		return err
	}
	var issues []json.RawMessage
	if err := json.Unmarshal(found, &issues); err != nil {
		return fmt.Errorf("read issues: %w", err)
	}
	for _, raw := range issues {
		one, err := p.sample(raw)
		if err != nil {
			return err
		}
		p.known = append(p.known, one)
	}
	if len(p.known) == 0 {
		return errors.New("the sandbox has no tickets")
	}
	return nil
}

func (p *longPast) sample(issue json.RawMessage) (one sample, err error) {
	var t struct{ ID, Key, UpdatedAt string }
	if err := json.Unmarshal(issue, &t); err != nil {
		return one, fmt.Errorf("read issue: %w", err)
	}
	one.id = t.ID
	if one.updated, err = time.Parse(timeForm, t.UpdatedAt); err != nil {
		return one, fmt.Errorf("read issue: %w", err)
	}
	if one.issue, err = newTemplate(issue, t.ID, t.Key); err != nil {
		return one, err
	}
	for listing, to := range map[string]*template{"changelog": &one.changes, "comments": &one.comments} {
		raw, err := p.ask(http.MethodGet, "/v3/issues/"+t.ID+"/"+listing+"?perPage=1000", "")
		if err != nil {
			return one, err
		}
		if *to, err = newTemplate(raw, t.ID, t.Key); err != nil {
			return one, err
		}
	}
	return one, nil
}

func (p *longPast) ask(method, path, body string) ([]byte, error) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "OAuth "+secret)
	r.Header.Set("X-Org-ID", trackerOrg)
	w := httptest.NewRecorder()
	p.sandbox.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return nil, fmt.Errorf("%s %s: status %d", method, path, w.Code)
	}
	return w.Body.Bytes(), nil
}

// of gives what is told of ticket n, and by how much later.
func (p *longPast) of(n int) (sample, time.Duration) {
	s := p.known[n%len(p.known)]
	return s, p.begin.Add(time.Duration(n) * p.step).Sub(s.updated)
}

// ServeHTTP implements http.Handler.
func (p *longPast) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/v3/issues/"), "/")
	switch {
	case path[0] == "_search" && r.Method == http.MethodPost:
		p.search(w, r)
	case path[0] == "_count" && r.Method == http.MethodPost:
		if from, ok := p.asked(w, r); ok {
			_, _ = fmt.Fprint(w, p.tickets-from)
		}
	case len(path) == 2 && (path[1] == "changelog" || path[1] == "comments"):
		n, ok := numberOf(path[0])
		if !ok || n >= p.tickets {
			http.NotFound(w, r)
			return
		}
		s, shift := p.of(n)
		listing := s.changes
		if path[1] == "comments" {
			listing = s.comments
		}
		answer(w, listing.append(nil, n, shift))
	default:
		p.sandbox.ServeHTTP(w, r)
	}
}

func answer(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// search answers a page of a scroll, whose id is the number of its first ticket.
func (p *longPast) search(w http.ResponseWriter, r *http.Request) {
	const perPage = 100
	from, err := strconv.Atoi(r.URL.Query().Get("scrollId"))
	if err != nil {
		var ok bool
		if from, ok = p.asked(w, r); !ok {
			return
		}
	}
	until := min(from+perPage, p.tickets)
	body := []byte{'['}
	for n := from; n < until; n++ {
		if n > from {
			body = append(body, ',')
		}
		s, shift := p.of(n)
		body = s.issue.append(body, n, shift)
	}
	if until < p.tickets {
		w.Header().Set("X-Scroll-Id", strconv.Itoa(until))
		w.Header().Set("X-Scroll-Token", "token")
	}
	answer(w, append(body, ']'))
}

// since is what of a query matters.
var since = regexp.MustCompile(`Updated: >= "([^"]+)"`)

// asked gives the first ticket that a query asks for.
func (p *longPast) asked(w http.ResponseWriter, r *http.Request) (from int, ok bool) {
	var body struct{ Query string }
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	found := since.FindStringSubmatch(body.Query)
	if err != nil || found == nil {
		http.Error(w, "this is no query for what was updated", http.StatusBadRequest)
		return 0, false
	}
	at, err := time.Parse("2006-01-02T15:04:05", found[1])
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return 0, false
	}
	n := (at.Sub(p.begin) + p.step - 1) / p.step
	return int(min(max(n, 0), time.Duration(p.tickets))), true
}

// trackerVariables lead a loader to a process of a long past, at a pace that it
// cannot reach.
func trackerVariables(address string) map[string]string {
	u, _ := url.Parse(address)
	return map[string]string{
		"TRACKER_API_URL": u.String(), "TRACKER_TOKEN": secret, "TRACKER_ORG_ID": trackerOrg, "TRACKER_QUEUE": "SUP",
		"TRACKER_RATE_PER_SECOND": "100000",
	}
}
