package v3_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/tracker"
	"supportbot/shared/tracker/v3"
)

func TestComments_AllPagesInOrder(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	w.create(t, tracker.NewIssue{})
	var want []string
	for n := range 120 {
		c, err := w.agent.Comment("SUP-1", "comment "+strconv.Itoa(n))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, c.ID)
	}
	for _, from := range []int{0, 1, 69, 70, 119, 120} {
		after := ""
		if from > 0 {
			after = want[from-1]
		}
		comments, err := w.Comments(ctx, "SUP-1", after)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, c := range comments {
			got = append(got, c.ID)
		}
		if diff := cmp.Diff(want[from:], got); diff != "" {
			t.Errorf("after %d: %s", from, diff)
		}
	}
	changes, err := w.Changes(ctx, "SUP-1", "")
	if err != nil || len(changes) != 121 {
		t.Fatalf("got %d changes, %v, want 121", len(changes), err)
	}
	rest, err := w.Changes(ctx, "SUP-1", changes[99].ID)
	if err != nil || len(rest) != 21 || rest[0].ID != changes[100].ID {
		t.Errorf("got %d changes, %v, want the last 21", len(rest), err)
	}
}

func TestComment_HasSummoneesFilesAndVersion(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	w.create(t, tracker.NewIssue{})
	ticket, err := w.agent.Do("SUP-1", sandbox.Edit{Comments: []sandbox.NewComment{{
		Text: "см. файл", Summonees: []string{"support-robot"},
		Files: []sandbox.NewFile{{Name: "отчёт №1.pdf", Data: []byte("%PDF")}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	id, file := ticket.Comments[0].ID, ticket.Files[0].ID
	want := tracker.Comment{
		ID: id, Text: "см. файл", Version: 1, Author: "1120000000000101", Summonees: []string{"1120000000000001"},
		CreatedAt: w.clock.Now(), UpdatedAt: w.clock.Now(),
		Attachments: []tracker.Attachment{{ID: file, Name: "отчёт №1.pdf", MIME: "application/pdf", Size: 4}},
	}
	got, err := w.Comment(ctx, "SUP-1", id)
	if err != nil {
		t.Fatal(err)
	}
	want.LongID = got.LongID
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// The listing does not tell types and sizes.
	want.Attachments[0].MIME, want.Attachments[0].Size = "", -1
	list, err := w.Comments(ctx, "SUP-1", "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]tracker.Comment{want}, list); diff != "" {
		t.Error(diff)
	}
	w.clock.Add(time.Minute)
	if err := w.agent.EditComment("SUP-1", id, "иначе"); err != nil {
		t.Fatal(err)
	}
	if got, _ = w.Comment(ctx, "SUP-1", id); got.Version != 2 || got.Text != "иначе" || got.UpdatedAt != w.clock.Now() {
		t.Errorf("got %+v, want the second version", got)
	}
	if err := w.agent.DeleteComment("SUP-1", id); err != nil {
		t.Fatal(err)
	}
	_, err = w.Comment(ctx, "SUP-1", id)
	wantKind(t, err, tracker.NotFound)
	changes, err := w.Changes(ctx, "SUP-1", "")
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{}
	for _, c := range changes[1:] {
		kinds = append(kinds, fmt.Sprint(c.Type, c.Added, c.Updated, c.Removed))
	}
	wantKinds := []string{
		// The comment makes its author a follower: one entry with both.
		"IssueUpdated[" + id + "] [] []", "IssueCommentUpdated[] [" + id + "] []", "IssueCommentRemoved[] [] [" + id + "]",
	}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Error(diff)
	}
}

func TestComment_FromAMail(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{`"incoming"`: true, `"standard"`: false, `"outcoming"`: false, "null": false, "7": false} {
		c := against(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"id":7,"text":"/reply x","type":%s}`, kind)
		})
		got, err := c.Comment(context.Background(), "SUP-1", "7")
		if err != nil || got.Mail != want || got.Text != "/reply x" {
			t.Errorf("%s: got %+v, %v, want Mail %v", kind, got, err, want)
		}
	}
}

// An entry that names its comment in no known way says no more than that it is.
func TestChanges_CommentsWithoutAnID(t *testing.T) {
	t.Parallel()
	for name, comments := range map[string]string{
		"null": `null`, "none": `{"updated":[{"from":"a","to":"b"}]}`, "of nothing": `{"updated":[{"comment":null},{"comment":{"id":null}}]}`,
		"a text": `{"added":["7"],"updated":[null]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := against(t, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `[{"id":"a1","type":"IssueCommentUpdated","comments":%s}]`, comments)
			})
			got, err := c.Changes(context.Background(), "SUP-1", "")
			if err != nil || len(got) != 1 || len(got[0].Added)+len(got[0].Updated) > 0 {
				t.Errorf("got %+v, %v, want an entry without comments", got, err)
			}
		})
	}
}

func TestListings_LagBehindWrites(t *testing.T) {
	t.Parallel()
	w := setup(t, func(s *sandbox.Config, _ *v3.Config) { s.Lag = 2 * time.Second })
	ctx := context.Background()
	w.create(t, tracker.NewIssue{Fields: customer("42")})
	made, err := w.AddComment(ctx, "SUP-1", tracker.NewComment{Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	count := func() [3]int {
		t.Helper()
		comments, err1 := w.Comments(ctx, "SUP-1", "")
		changes, err2 := w.Changes(ctx, "SUP-1", "")
		found, err3 := w.Search(ctx, nil, customer("42"), 10)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		return [3]int{len(comments), len(changes), len(found)}
	}
	if got := count(); got != [3]int{} {
		t.Errorf("got %v, want nothing yet", got)
	}
	if got, err := w.Comment(ctx, "SUP-1", made.ID); err != nil || got.Text != "x" {
		t.Errorf("got %+v, %v: reading one comment does not lag", got, err)
	}
	w.clock.Add(2 * time.Second)
	if got := count(); got != [3]int{1, 2, 1} {
		t.Errorf("got %v, want all", got)
	}
}

func TestComments_PageOverTheLimitIsReadInSmallerPieces(t *testing.T) {
	t.Parallel()
	var sizes []string
	text := strings.Repeat("x", 3<<20)
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("perPage"))
		after, _ := strconv.Atoi("0" + r.URL.Query().Get("id"))
		sizes = append(sizes, r.URL.Query().Get("perPage"))
		comma := "["
		for n := after + 1; n <= 3 && n <= after+size; n++ {
			_, _ = io.WriteString(w, comma+`{"id":`+strconv.Itoa(n)+`,"text":"`)
			_, _ = io.WriteString(w, text)
			_, _ = io.WriteString(w, `"}`)
			comma = ","
		}
		if comma == "[" {
			_, _ = io.WriteString(w, "[")
		}
		_, _ = io.WriteString(w, "]")
	})
	got, err := c.Comments(context.Background(), "SUP-1", "")
	if err != nil || len(got) != 3 {
		t.Fatalf("got %d comments, %v, want 3", len(got), err)
	}
	if diff := cmp.Diff([]string{"50", "25", "12", "6", "3", "1", "1", "1", "1"}, sizes); diff != "" {
		t.Error(diff)
	}
}

func TestComments_ListingsThatLie(t *testing.T) {
	t.Parallel()
	page := func(first, n int) string {
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprintf(`{"id":%d}`, first+i))
		}
		return "[" + strings.Join(ids, ",") + "]"
	}
	cases := map[string]func(after int) string{
		"the same page again": func(int) string { return page(1, 50) },
		"no end":              func(after int) string { return page(after+1, 50) },
		"an entry without id": func(int) string { return `[{"id":1},{}]` },
		"null":                func(int) string { return `[null]` },
		"an object":           func(int) string { return `{"id":1}` },
		"id of a wrong type":  func(int) string { return `[{"id":{"a":1}}]` },
	}
	for name, answer := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			c := against(t, func(w http.ResponseWriter, r *http.Request) {
				calls++
				after, _ := strconv.Atoi("0" + r.URL.Query().Get("id"))
				_, _ = w.Write([]byte(answer(after)))
			})
			_, err := c.Comments(short(t, time.Minute), "SUP-1", "")
			wantKind(t, err, tracker.Temporary)
			if calls > 2 && name != "no end" {
				t.Errorf("got %d calls, want the lie seen at once", calls)
			}
		})
	}
}

func TestComments_ShortPageWithANextLinkIsNotTheEnd(t *testing.T) {
	t.Parallel()
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("id") == "" {
			w.Header().Add("Link", `<http://x/?perPage=50>; rel="first"`)
			w.Header().Add("Link", `<http://x/?id=1&perPage=50>; rel="next"`)
			_, _ = w.Write([]byte(`[{"id":1}]`))
			return
		}
		_, _ = w.Write([]byte(`[{"id":"2"}]`))
	})
	got, err := c.Comments(context.Background(), "SUP-1", "")
	if err != nil || len(got) != 2 || got[1].ID != "2" {
		t.Errorf("got %+v, %v, want two comments", got, err)
	}
}

// What changed, with the words of an edit: fields by their keys, users by their ids.
func TestChanges_FieldsAndEdits(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create(t, tracker.NewIssue{Fields: customer("42")})
	ctx := context.Background()
	for _, score := range []string{"4", ""} {
		if err := w.SetFields(ctx, "SUP-1", map[tracker.Field]string{tracker.FieldRating: score}); err != nil {
			t.Fatal(err)
		}
	}
	said, err := w.agent.Do("SUP-1", sandbox.Edit{Assignee: "agent", Comments: []sandbox.NewComment{{Text: "как"}}})
	if err != nil {
		t.Fatal(err)
	}
	id := said.Comments[0].ID
	if err := w.agent.EditComment("SUP-1", id, "/reply так"); err != nil {
		t.Fatal(err)
	}
	changes, err := w.Changes(ctx, "SUP-1", "")
	if err != nil {
		t.Fatal(err)
	}
	var fields []tracker.FieldChange
	var edits []tracker.CommentEdit
	for _, c := range changes[1:] {
		for _, f := range c.Fields {
			if f.Field != "followers" {
				fields = append(fields, f)
			}
		}
		edits = append(edits, c.Edits...)
	}
	rating := string(tracker.FieldRating)
	want := []tracker.FieldChange{
		{Field: rating, To: tracker.Value{Key: "4"}}, {Field: rating, From: tracker.Value{Key: "4"}},
		{Field: "assignee", To: tracker.Value{Key: "1120000000000101", Name: "Анна Агентова"}},
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]tracker.CommentEdit{{Comment: id, From: "как", To: "/reply так"}}, edits); diff != "" {
		t.Errorf("edits (-want +got):\n%s", diff)
	}
	issue, err := w.Issue(ctx, "SUP-1")
	if err != nil || issue.AssigneeID != "1120000000000101" || issue.AssigneeName != "Анна Агентова" {
		t.Errorf("got %+v, %v", issue, err)
	}
	n, err := w.CountUpdated(ctx, issue.CreatedAt)
	if err != nil || n != 1 {
		t.Errorf("%d issues, %v, want 1", n, err)
	}
}

// The form of SLA timers is known from answers alone: anything else is no timer.
func TestIssue_DeadlineAndSLA(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		fields string
		want   []tracker.Clock
		day    time.Time
	}{
		"both": {
			`"deadline":"2026-08-03","sla":[{"failAt":"2026-08-01T10:00:00.000+0000","violationStatus":"FAIL_CONDITIONS_VIOLATED"},{"violationStatus":"NOT_VIOLATED","clockStatus":"STOPPED"}]`,
			[]tracker.Clock{{FailsAt: at, Failed: true}, {Stopped: true}}, time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC),
		},
		"strange": {`"deadline":7,"sla":{"failAt":[]}`, nil, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := against(t, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `{"id":"i1","key":"SUP-1",%s}`, tc.fields)
			})
			got, err := c.Issue(context.Background(), "SUP-1")
			if err != nil || !got.Deadline.Equal(tc.day) {
				t.Errorf("got %+v, %v", got, err)
			}
			if diff := cmp.Diff(tc.want, got.SLA); diff != "" {
				t.Error(diff)
			}
		})
	}
}
