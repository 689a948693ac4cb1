package tracker_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/tracker"
)

// library fills a server with five issues, a second apart.
func library(t *testing.T) *world {
	t.Helper()
	w := setup(t)
	anna := w.As("anna")
	for _, n := range []tracker.NewTicket{
		{Queue: "SUP", Summary: "one", Type: "bug", Priority: "critical", Fields: map[string]string{"chat": "1"}},
		{Queue: "SUP", Summary: "two", Fields: map[string]string{"chat": "2"}},
		{Queue: "BIL", Summary: "three", Fields: map[string]string{"chat": "1"}},
		{Queue: "SUP", Summary: "four", Fields: map[string]string{"chat": `a "b"`}},
	} {
		w.clock.Add(time.Second)
		if _, err := anna.Create(n); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.Add(time.Second)
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"five","assignee":"anna","tags":["vip","new"]}`)
	w.clock.Add(time.Second)
	if _, err := anna.Do("SUP-1", tracker.Edit{Status: "closed", Resolution: "fixed"}); err != nil {
		t.Fatal(err)
	}
	return w
}

func found(w *world, path string, body any) string {
	w.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	r := w.must("POST", path, string(text))
	var keys []string
	for n := 0; r.at(n) != nil; n++ {
		keys = append(keys, r.text(n, "key"))
	}
	return strings.Join(keys, " ")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	w := library(t)
	query := func(text string) map[string]any { return map[string]any{"query": text} }
	filter := func(text, order string) map[string]any {
		body := map[string]any{"filter": json.RawMessage(text)}
		if order != "" {
			body["order"] = order
		}
		return body
	}
	cases := map[string]struct {
		body map[string]any
		want string
	}{
		"queue":              {map[string]any{"queue": "SUP"}, "SUP-1 SUP-2 SUP-3 SUP-4"},
		"nested":             {query(strings.Repeat("(", 90) + "Queue: BIL" + strings.Repeat(")", 90)), "BIL-1"},
		"keys":               {map[string]any{"keys": []string{"SUP-2", "BIL-1", "NO-1"}}, "BIL-1 SUP-2"},
		"one key":            {map[string]any{"keys": "SUP-2"}, "SUP-2"},
		"newest first":       {query(`Queue: SUP`), "SUP-4 SUP-3 SUP-2 SUP-1"},
		"sorted":             {query(`Queue: SUP "Sort by": Updated ASC`), "SUP-2 SUP-3 SUP-4 SUP-1"},
		"sorted down":        {query(`"Sort by": Created DESC`), "SUP-4 SUP-3 BIL-1 SUP-2 SUP-1"},
		"sorted by two":      {query(`"Sort by": Queue ASC, Key DESC`), "BIL-1 SUP-4 SUP-3 SUP-2 SUP-1"},
		"local field":        {query(`SUP.chat: 1`), "SUP-1"},
		"local field, quote": {query(`SUP.chat: "a \"b\""`), "SUP-3"},
		"or":                 {query(`SUP.chat: 2 OR BIL.chat: "1"`), "BIL-1 SUP-2"},
		"parentheses":        {query(`(Queue: SUP AND SUP.chat: "1") OR (Queue: BIL BIL.chat: "1") "Sort by": Created DESC`), "BIL-1 SUP-1"},
		"and before or":      {query(`Queue: BIL AND Summary: one OR Summary: two`), "SUP-2"},
		"updated":            {query(`Queue: SUP Updated: >= "2026-08-01T09:00:04" "Sort by": Updated ASC`), "SUP-3 SUP-4 SUP-1"},
		"updated, not equal": {query(`Updated: > "2026-08-01T09:00:05"`), "SUP-1"},
		"a day":              {query(`Created: < "2026-08-02" Queue: BIL`), "BIL-1"},
		"status by key":      {query(`Status: closed`), "SUP-1"},
		"status by name":     {query(`Status: "Закрыт"`), "SUP-1"},
		"several values":     {query(`Priority: critical, blocker`), "SUP-1"},
		"not":                {query(`Queue: SUP Status: !closed`), "SUP-4 SUP-3 SUP-2"},
		"nobody's":           {query(`Assignee: empty() Queue: BIL`), "BIL-1"},
		"somebody's":         {query(`Assignee: notEmpty()`), "SUP-4"},
		"by login":           {query(`Assignee: anna`), "SUP-4"},
		"mine":               {query(`Author: me()`), "SUP-4"},
		"tag":                {query(`Tags: vip`), "SUP-4"},
		"key":                {query(`Key: SUP-2`), "SUP-2"},
		"filter":             {filter(`{"queue":"SUP","status":"open"}`, "+created"), "SUP-2 SUP-3 SUP-4"},
		"filter, list":       {filter(`{"type":["bug","request"]}`, ""), "SUP-1"},
		"filter, function":   {filter(`{"resolution":"empty()","queue":"SUP"}`, "-key"), "SUP-4 SUP-3 SUP-2"},
		"filter, span":       {filter(`{"updated":{"from":"2026-08-01T09:00:05"}}`, "+updated"), "SUP-4 SUP-1"},
		"filter, me":         {filter(`{"createdBy":"me()"}`, ""), "SUP-4"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := found(w, "/v3/issues/_search", tc.body); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestSearch_PagesAndCount(t *testing.T) {
	t.Parallel()
	w := library(t)
	body := `{"query":"\"Sort by\": Created ASC"}`
	r := w.must("POST", "/v3/issues/_search?perPage=2&page=2", body)
	if r.text(0, "key") != "BIL-1" || r.header.Get("X-Total-Count") != "5" || r.header.Get("X-Total-Pages") != "3" {
		t.Errorf("got %v %s", r.header, r.raw)
	}
	if r := w.must("POST", "/v3/issues/_count", body); r.raw != "5\n" {
		t.Errorf("got %q, want a bare 5", r.raw)
	}
}

func TestScroll_IsASnapshot(t *testing.T) {
	t.Parallel()
	w := library(t)
	body := `{"query":"Queue: SUP \"Sort by\": Created ASC"}`
	first := w.must("POST", "/v3/issues/_search?scrollType=sorted&perScroll=3&scrollTTLMillis=1000", body)
	id := first.header.Get("X-Scroll-Id")
	if first.text(2, "key") != "SUP-3" || id == "" || first.header.Get("X-Scroll-Token") == "" || first.header.Get("X-Total-Count") != "4" {
		t.Fatalf("got %v", first.header)
	}
	if _, err := w.As("anna").Do("SUP-4", tracker.Edit{Summary: "changed"}); err != nil {
		t.Fatal(err)
	}
	next := w.must("POST", "/v3/issues/_search?scrollId="+id+"&scrollTTLMillis=1000", body)
	if next.text(0, "key") != "SUP-4" || next.text(0, "summary") != "five" || next.header.Get("X-Scroll-Id") != "" {
		t.Errorf("got %s, want the last page as it was", next.raw)
	}
	if r := w.call("POST", "/v3/issues/_search?scrollId="+id, body); r.status != 404 {
		t.Errorf("got %d, want a page only once", r.status)
	}
	// One that expires, one that is cleared.
	for _, end := range []func(reply){
		func(reply) { w.clock.Add(2 * time.Second) },
		func(r reply) {
			w.must("POST", "/v2/system/search/scroll/_clear", fmt.Sprintf(`{%q:%q}`, r.header.Get("X-Scroll-Id"), r.header.Get("X-Scroll-Token")))
		},
	} {
		r := w.must("POST", "/v3/issues/_search?scrollType=unsorted&perScroll=1&scrollTTLMillis=1000", body)
		end(r)
		if got := w.call("POST", "/v3/issues/_search?scrollId="+r.header.Get("X-Scroll-Id"), body); got.status != 404 {
			t.Errorf("got %d, want 404", got.status)
		}
	}
	if n := w.Scrolls(); n != 0 {
		t.Errorf("got %d snapshots, want none", n)
	}
}

// Whatever the query, the server answers and stays usable.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{
		`Queue: SUP`, `(`, `"`, `a:`, `a: >=`, `"Sort by":`, `((((a: 1`, `a: b OR`, `Queue: SUP)`, `Updated: >= "x"`, `\`, `Key: f(`,
		`Assignee: me(), empty() "Sort by": Updated DESC, Key`, "\x00", `AND AND`, `Summary: "\`,
	} {
		f.Add(s)
	}
	s := tracker.New(tracker.Config{Token: "secret", OrgID: "77"})
	if _, err := s.As("agent").Create(tracker.NewTicket{Summary: "x"}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		status := searchDirectly(s, query)
		if status != 200 && status != 400 {
			t.Errorf("got %d for %q", status, query)
		}
		if again := searchDirectly(s, "Queue: SUP"); again != 200 {
			t.Errorf("the server answers %d after %q", again, query)
		}
	})
}

func TestWait_SeesAChange(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := patient(t)
	changes := w.Subscribe(ctx)
	done := make(chan error, 1)
	go func() { done <- w.Wait(ctx, func(list []tracker.Ticket) bool { return len(list) == 1 }) }()
	if _, err := w.As("anna").Create(tracker.NewTicket{Summary: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	// The subscriber may have begun after the change: make one more until it sees it.
	seen := false
	for n := 0; !seen && ctx.Err() == nil; n++ {
		if _, err := w.As("anna").Do("SUP-1", tracker.Edit{Summary: fmt.Sprint(n)}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changes:
			seen = true
		default:
		}
	}
	if !seen {
		t.Error("the subscriber saw nothing")
	}
	got := w.Catalogue()
	if diff := cmp.Diff([]string{"", ""}, []string{got.Agents[0].Token, got.Agents[1].Token}); diff != "" {
		t.Error("the catalogue shows tokens")
	}
}
