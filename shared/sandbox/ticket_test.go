package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/tracker"
)

// ticket is a ticket's pane.
type ticket struct {
	Head struct {
		Key, Queue, Status, Assignee, Priority, Type, Resolution, Author string
		Aliases                                                          []string
		Description                                                      json.RawMessage
		Files                                                            []file
		Fields                                                           map[string]string
	}
	Put []struct {
		ID, Kind, Comment, Author, Name, Source string
		Robot, Edited                           bool
		Files                                   []file
		Change                                  *tracker.Change
	}
}

func (b *bundle) ticket(key string) ticket {
	b.t.Helper()
	var v ticket
	b.must("GET", "tickets/"+key, nil).into(b.t, &v)
	return v
}

func (b *bundle) newTicket() {
	b.t.Helper()
	_, err := b.Tracker.As("anna").Create(tracker.NewTicket{
		Summary: "Не пришёл заказ", Description: "**где** он?", Fields: map[string]string{"supportName": "Мария", "supportMessenger": "vk"},
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestTicket_CommentWithFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.newTicket()
	var made struct{ ID string }
	b.must("POST", "tickets/SUP-1/comments", newForm("as", "timur", "text", "/reply **едет**").file("накладная.txt", "text/plain", "№ 7")).into(t, &made)

	v := b.ticket("SUP-1")
	c := v.Put[0]
	if c.Comment != made.ID || c.Author != "timur" || c.Name != "Тимур Ахметов" || c.Source != "/reply **едет**" || c.Robot || len(c.Files) != 1 {
		t.Fatalf("got %+v", c)
	}
	if len(v.Head.Files) != 0 {
		t.Errorf("the comment's file is shown as one of the ticket, too")
	}
	r, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.url+c.Files[0].URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := b.send(r)
	if string(got.body) != "№ 7" || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("got %q, %q", got.body, got.header.Get("Content-Disposition"))
	}

	b.must("PATCH", "tickets/SUP-1/comments/"+made.ID, map[string]string{"as": "anna", "text": "правка"})
	if c := b.ticket("SUP-1").Put[0]; c.Source != "правка" || !c.Edited {
		t.Errorf("got %+v, want it edited", c)
	}
	b.must("DELETE", "tickets/SUP-1/comments/"+made.ID+"?as=anna", nil)
	if e := b.ticket("SUP-1").Put[0]; e.Kind != "change" {
		t.Errorf("got %+v, want the comment gone", e)
	}
}

func TestTicket_Edit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.newTicket()
	b.must("PATCH", "tickets/SUP-1", map[string]string{"as": "anna", "assignee": "elena", "priority": "critical", "type": "bug"})
	b.must("PATCH", "tickets/SUP-1", map[string]string{"as": "anna", "status": "resolved", "resolution": "fixed"})
	h := b.ticket("SUP-1").Head
	got := []string{h.Status, h.Resolution, h.Assignee, h.Priority, h.Type, h.Author, h.Fields["supportName"]}
	if d := cmp.Diff([]string{"resolved", "fixed", "elena", "critical", "bug", "Анна Орлова", "Мария"}, got); d != "" {
		t.Error(d)
	}

	var moved struct{ Key string }
	b.must("PATCH", "tickets/SUP-1", map[string]string{"as": "anna", "queue": "BIL"}).into(t, &moved)
	v := b.ticket("BIL-1")
	if moved.Key != "BIL-1" || v.Head.Key != "BIL-1" || !cmp.Equal(v.Head.Aliases, []string{"SUP-1"}) || len(v.Head.Fields) != 0 {
		t.Errorf("got %+v, %+v, want the ticket in BIL without its fields", moved, v.Head)
	}
}

func TestTicket_History(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.newTicket()
	_, err := b.Tracker.As("timur").Do("SUP-1", tracker.Edit{
		Status: "inProgress", Assignee: "timur", Comments: []tracker.NewComment{{Text: "беру", Files: []tracker.NewFile{{Name: "a.txt"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var changes []tracker.Change
	for _, e := range b.ticket("SUP-1").Put {
		if e.Change != nil {
			changes = append(changes, *e.Change)
		}
	}
	if len(changes) != 2 || changes[0].Kind != "IssueCreated" {
		t.Fatalf("got %+v, want the creation and the edit", changes)
	}
	c := changes[1]
	steps := map[string][2]string{}
	for _, f := range c.Fields {
		steps[f.Key] = [2]string{f.From, f.To}
	}
	if steps["status"] != [2]string{"open", "inProgress"} || steps["assignee"] != [2]string{"", "timur"} {
		t.Errorf("got steps %v", steps)
	}
	if c.Name != "Тимур Ахметов" || c.Added != 1 || !cmp.Equal(c.Files, []string{"a.txt"}) {
		t.Errorf("got %+v", c)
	}
}

func TestTicket_Refused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.newTicket()
	for name, c := range map[string]struct {
		method, path string
		body         any
		want         int
	}{
		"nobody":             {"PATCH", "tickets/SUP-1", map[string]string{"priority": "minor"}, http.StatusBadRequest},
		"the robot":          {"PATCH", "tickets/SUP-1", map[string]string{"as": "support-robot", "priority": "minor"}, http.StatusBadRequest},
		"unknown ticket":     {"PATCH", "tickets/SUP-9", map[string]string{"as": "anna", "priority": "minor"}, http.StatusNotFound},
		"no such transition": {"PATCH", "tickets/SUP-1", map[string]string{"as": "anna", "status": "reopened"}, http.StatusConflict},
		"no resolution":      {"PATCH", "tickets/SUP-1", map[string]string{"as": "anna", "status": "resolved"}, http.StatusConflict},
		"unknown queue":      {"PATCH", "tickets/SUP-1", map[string]string{"as": "anna", "queue": "NO"}, http.StatusConflict},
		"unknown comment":    {"PATCH", "tickets/SUP-1/comments/1", map[string]string{"as": "anna", "text": "x"}, http.StatusNotFound},
		"no such deletion":   {"DELETE", "tickets/SUP-1/comments/1?as=anna", nil, http.StatusNotFound},
		"no form":            {"POST", "tickets/SUP-1/comments", map[string]string{"as": "anna"}, http.StatusBadRequest},
		"unknown pane":       {"GET", "tickets/SUP-9", nil, http.StatusNotFound},
		"unknown file":       {"GET", "files/9", nil, http.StatusNotFound},
	} {
		if r := b.do(c.method, c.path, c.body); r.status != c.want {
			t.Errorf("%s: got %d %s, want %d", name, r.status, r.body, c.want)
		}
	}
}

func TestMarkdown_IsATreeOfKnownTags(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for markdown, want := range map[string]string{
		"**a** _b_ `c` ~~d~~":                `[{"t":"p","c":[{"t":"b","c":[{"x":"a"}]},{"x":" "},{"t":"i","c":[{"x":"b"}]},{"x":" "},{"t":"code","c":[{"x":"c"}]},{"x":" "},{"t":"s","c":[{"x":"d"}]}]}]`,
		"a\nb":                               `[{"t":"p","c":[{"x":"a"},{"t":"br"},{"x":"b"}]}]`,
		`\*a\* \&lt; &lt;`:                   `[{"t":"p","c":[{"x":"*a* \u0026lt; \u003c"}]}]`,
		"<script>x</script>":                 `[{"t":"p","c":[{"x":"\u003cscript\u003ex\u003c/script\u003e"}]}]`,
		"[a](javascript:alert(1))":           `[{"t":"p","c":[{"t":"span","c":[{"x":"a"}]}]}]`,
		"![a](https://example.com/a.png)":    `[{"t":"p","c":[{"t":"a","u":"https://example.com/a.png","c":[{"x":"🖼 "},{"x":"a"}]}]}]`,
		"> a\n\n* b\n\n```\nc\n```":          `[{"t":"quote","c":[{"t":"p","c":[{"x":"a"}]}]},{"t":"ul","c":[{"t":"li","c":[{"x":"b"}]}]},{"t":"pre","c":[{"x":"c\n"}]}]`,
		"hidden\n\n[//]: # (support-bot:c1)": `[{"t":"p","c":[{"x":"hidden"}]}]`,
	} {
		made, err := b.Tracker.As("anna").Create(tracker.NewTicket{Summary: "x", Description: markdown})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, string(b.ticket(made.Key).Head.Description)); d != "" {
			t.Errorf("%q: %s", markdown, d)
		}
	}
}
