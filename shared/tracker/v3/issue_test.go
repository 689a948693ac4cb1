package v3_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/tracker"
	"supportbot/shared/tracker/v3"
)

func customer(chat string) map[tracker.Field]string {
	return map[tracker.Field]string{
		tracker.FieldMessenger: "telegram", tracker.FieldBot: "1099511627777", tracker.FieldChat: chat,
		tracker.FieldNickname: "ivan", tracker.FieldLocale: "ru",
	}
}

func TestCreate_TicketHasEverything(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	up, err := w.Upload(ctx, tracker.Upload{Name: "фото.png", Size: 3, Body: strings.NewReader("png")})
	if err != nil {
		t.Fatal(err)
	}
	got := w.create(t, tracker.NewIssue{
		Queue: "SUP", Type: "bug", Priority: "critical", Summary: "Не печатает 🖨", Description: "**Срочно** <&_*[",
		Unique: "support:telegram:1:2:d1", Tags: []string{"telegram"}, Fields: customer("42"), Attachments: []string{up.ID},
	})
	want := tracker.Issue{
		ID: got.ID, Key: "SUP-1", Version: 1, Queue: "SUP", Summary: "Не печатает 🖨", Description: "**Срочно** <&_*[",
		Type: "bug", Priority: "critical", Status: tracker.Status{Key: "open", Type: "new", Display: "Открыт"},
		Unique: "support:telegram:1:2:d1", CreatedAt: w.clock.Now(), UpdatedAt: w.clock.Now(), Fields: customer("42"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again, err := w.Issue(ctx, got.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, again); diff != "" {
		t.Error(diff)
	}
	files, err := w.Attachments(ctx, "SUP-1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]tracker.Attachment{{ID: up.ID, Name: "фото.png", MIME: "image/png", Size: 3}}, files); diff != "" {
		t.Error(diff)
	}
}

func TestCreate_SameUniqueManyTimesIsOneIssue(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	var group sync.WaitGroup
	var mu sync.Mutex
	kinds := map[tracker.ErrorKind]int{}
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			_, err := w.Create(ctx, tracker.NewIssue{Summary: "One", Unique: "u1"})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				kinds[""]++
			} else {
				kinds[tracker.KindOf(err)]++
			}
		}()
	}
	group.Wait()
	if diff := cmp.Diff(map[tracker.ErrorKind]int{"": 1, tracker.Duplicate: 7}, kinds); diff != "" {
		t.Error(diff)
	}
	got, err := w.FindByUnique(ctx, "u1")
	if err != nil || got.Key != "SUP-1" {
		t.Errorf("got %s, %v, want SUP-1", got.Key, err)
	}
	_, err = w.FindByUnique(ctx, "u2")
	wantKind(t, err, tracker.NotFound)
}

func TestCreate_QueueWithoutOurFields(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, err := w.Create(context.Background(), tracker.NewIssue{Queue: "RAW", Summary: "x", Fields: customer("1")})
	wantKind(t, err, tracker.Invalid)
	if !strings.Contains(err.Error(), "RAW") || !strings.Contains(err.Error(), "set up") {
		t.Errorf("got %q, want an error that names the queue and says what to do", err)
	}
	if n := len(w.server.Tickets()); n != 0 {
		t.Errorf("got %d tickets, want none", n)
	}
}

func TestCreate_RefusedFieldsAreNamedWithoutTheirValues(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, err := w.Create(context.Background(), tracker.NewIssue{Summary: "canary-text", Priority: "canary-priority"})
	wantKind(t, err, tracker.Invalid)
	if text := err.Error(); strings.Contains(text, "canary") || !strings.Contains(text, "priority") {
		t.Errorf("got %q, want the field's name and not its value", text)
	}
}

// The ids of fields differ by queue and are asked for once per queue, until the
// time is over or Tracker refuses them.
func TestCreate_FieldsAreResolvedPerQueueAndCached(t *testing.T) {
	t.Parallel()
	w := setup(t)
	lookups := func() (n int) {
		for _, c := range w.server.Calls().Since(0) {
			if strings.HasSuffix(c.Method, "/localFields") {
				n++
			}
		}
		return n
	}
	steps := []struct {
		queue   string
		wait    time.Duration
		lookups int
	}{{"SUP", 0, 1}, {"BIL", 0, 2}, {"SUP", 0, 2}, {"SUP", time.Hour, 3}}
	for _, s := range steps {
		w.clock.Add(s.wait)
		i := w.create(t, tracker.NewIssue{Queue: s.queue, Fields: customer("7")})
		if i.Fields[tracker.FieldChat] != "7" {
			t.Errorf("%s: got chat %q, want 7", s.queue, i.Fields[tracker.FieldChat])
		}
		if got := lookups(); got != s.lookups {
			t.Errorf("%s: got %d look-ups, want %d", s.queue, got, s.lookups)
		}
	}
}

// Field ids that Tracker no longer takes are asked for anew.
func TestCreate_RefusedFieldIdsAreForgotten(t *testing.T) {
	t.Parallel()
	made := "a"
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if r.Method == http.MethodGet {
			list := []map[string]string{}
			for _, f := range tracker.Fields {
				list = append(list, map[string]string{"id": made + "--" + string(f), "key": string(f)})
			}
			_ = json.NewEncoder(w).Encode(list)
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if body[made+"--supportChat"] == nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		_, _ = io.WriteString(w, `{"id":"1","key":"SUP-1"}`)
	})
	n := tracker.NewIssue{Summary: "x", Fields: map[tracker.Field]string{tracker.FieldChat: "1"}}
	create := func() error { _, err := c.Create(context.Background(), n); return err }
	if err := create(); err != nil {
		t.Fatal(err)
	}
	made = "b"
	wantKind(t, create(), tracker.Invalid)
	if err := create(); err != nil {
		t.Errorf("got %v, want the new ids", err)
	}
}

func TestCreate_SummaryIsCut(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, text := range map[string]string{
		"cyrillic": strings.Repeat("ж", 300), "emoji": strings.Repeat("🖨", 200), "lines": "one\ntwo\r\n\tthree",
		"exact": strings.Repeat("x", 255), "broken": "a\xffb",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := w.create(t, tracker.NewIssue{Summary: text}).Summary
			if n := len(utf16.Encode([]rune(got))); n > 255 || !utf8.ValidString(got) || strings.ContainsAny(got, "\r\n\t") {
				t.Errorf("got %d units of %q", n, got)
			}
			if name == "exact" && got != text {
				t.Error("a summary that fits was changed")
			}
			if name == "lines" && got != "one two three" {
				t.Errorf("got %q, want one line", got)
			}
		})
	}
}

func TestMove_OldKeyStillLeadsToTheIssueAndFieldsAreGone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	made := w.create(t, tracker.NewIssue{Unique: "u", Fields: customer("42")})
	if _, err := w.agent.Move("SUP-1", "BIL"); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"SUP-1", "BIL-1", made.ID} {
		got, err := w.Issue(ctx, ref)
		if err != nil {
			t.Fatal(err)
		}
		if got.ID != made.ID || got.Key != "BIL-1" || got.Queue != "BIL" || len(got.Fields) != 0 || got.Unique != "u" {
			t.Errorf("%s: got %+v, want the same issue as BIL-1 without fields", ref, got)
		}
	}
	// Fields are written under the ids of the new queue, also by the old key.
	if err := w.SetFields(ctx, "SUP-1", map[tracker.Field]string{tracker.FieldRating: "5"}); err != nil {
		t.Fatal(err)
	}
	got, err := w.Issue(ctx, "SUP-1")
	if err != nil || got.Fields[tracker.FieldRating] != "5" {
		t.Errorf("got %v, %v, want the rating", got.Fields, err)
	}
}

func TestSetFields(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	made := w.create(t, tracker.NewIssue{Fields: customer("42")})
	if err := w.SetFields(ctx, made.Key, map[tracker.Field]string{tracker.FieldRating: "4", tracker.FieldNickname: ""}); err != nil {
		t.Fatal(err)
	}
	got, err := w.Issue(ctx, made.Key)
	if err != nil {
		t.Fatal(err)
	}
	want := customer("42")
	want[tracker.FieldRating] = "4"
	delete(want, tracker.FieldNickname)
	if diff := cmp.Diff(want, got.Fields); diff != "" {
		t.Error(diff)
	}
}

func TestFrozenIssue(t *testing.T) {
	t.Parallel()
	w := setup(t, func(s *sandbox.Config, _ *v3.Config) { s.VersionLimit = 2 })
	ctx := context.Background()
	w.create(t, tracker.NewIssue{})
	if _, err := w.AddComment(ctx, "SUP-1", tracker.NewComment{Text: "one"}); err != nil {
		t.Fatal(err)
	}
	_, err := w.AddComment(ctx, "SUP-1", tracker.NewComment{Text: "two"})
	wantKind(t, err, tracker.Frozen)
	wantKind(t, w.Transit(ctx, "SUP-1", "start_progress"), tracker.Frozen)
}

func TestTransit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	w.create(t, tracker.NewIssue{})
	steps, err := w.Transitions(ctx, "SUP-1")
	if err != nil {
		t.Fatal(err)
	}
	want := []tracker.Transition{
		{ID: "start_progress", To: "inProgress"}, {ID: "need_info", To: "needInfo"}, {ID: "wait_supplier", To: "waitingSupplier"},
		{ID: "resolve", To: "resolved"}, {ID: "close", To: "closed"},
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
	wantKind(t, w.Transit(ctx, "SUP-1", "resolve"), tracker.Invalid) // without a resolution
	wantKind(t, w.Transit(ctx, "SUP-1", "reopen"), tracker.NotFound)
	if _, err := w.agent.Do("SUP-1", sandbox.Edit{Status: "resolved", Resolution: "fixed"}); err != nil {
		t.Fatal(err)
	}
	got, err := w.Issue(ctx, "SUP-1")
	if err != nil {
		t.Fatal(err)
	}
	if got.Status.Key != "resolved" || got.Status.Type != "done" || got.Resolution != "fixed" || got.ResolvedAt.IsZero() {
		t.Errorf("got %+v, want resolved as fixed", got)
	}
	if err := w.Transit(ctx, "SUP-1", "reopen"); err != nil {
		t.Fatal(err)
	}
	changes, err := w.Changes(ctx, "SUP-1", "")
	if err != nil {
		t.Fatal(err)
	}
	last := changes[len(changes)-1]
	wantChange := tracker.Change{
		ID: last.ID, At: w.clock.Now(), Author: "1120000000000001", Type: "IssueWorkflow",
		Status: &tracker.StatusChange{From: "resolved", To: "reopened"}, Fields: last.Fields,
	}
	if diff := cmp.Diff(wantChange, last); diff != "" {
		t.Error(diff)
	}
	if got, _ := w.Issue(ctx, "SUP-1"); got.Resolution != "" || !got.ResolvedAt.IsZero() || got.Status.Key != "reopened" {
		t.Errorf("got %+v, want reopened without a resolution", got)
	}
}

func TestMyselfAndStatuses(t *testing.T) {
	t.Parallel()
	w := setup(t)
	me, err := w.Myself(context.Background())
	if err != nil || me.Login != "support-robot" || !me.Is("1120000000000001") || me.Is("") || me.Is("1") {
		t.Errorf("got %+v, %v", me, err)
	}
	list, err := w.Statuses(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for _, s := range list {
		types[s.Key] = s.Type
	}
	if types["closed"] != "done" || types["needInfo"] != "paused" {
		t.Errorf("got %v", types)
	}
	if custom, there := types["waitingSupplier"]; custom != "" || !there {
		t.Errorf("got type %q, want a custom status without a type", custom)
	}
}

func TestCustomStatusHasNoType(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create(t, tracker.NewIssue{})
	if _, err := w.agent.Do("SUP-1", sandbox.Edit{Status: "waitingSupplier"}); err != nil {
		t.Fatal(err)
	}
	got, err := w.Issue(context.Background(), "SUP-1")
	if err != nil || got.Status.Key != "waitingSupplier" || got.Status.Type != "" {
		t.Errorf("got %+v, %v", got.Status, err)
	}
}

// What the robot sends: Markdown by name, and never itself as a follower.
func TestRequests(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if _, err := w.agent.Create(sandbox.NewTicket{Summary: "x"}); err != nil {
		t.Fatal(err)
	}
	w.create(t, tracker.NewIssue{Description: "**x**"})
	if _, err := w.AddComment(context.Background(), "SUP-1", tracker.NewComment{Text: "**y**"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.server.Calls().Since(0) {
		var body struct {
			MarkupType string `json:"markupType"`
		}
		if err := json.Unmarshal(c.Params, &body); err != nil || body.MarkupType != "md" {
			t.Errorf("%s: got markup %q, want md", c.Method, body.MarkupType)
		}
	}
	if got, _ := w.server.Ticket("SUP-1"); !cmp.Equal(got.Followers, []string{"agent"}) {
		t.Errorf("got followers %v, want only the agent", got.Followers)
	}
}

func TestIds_EmptyOrPathsAreRefusedBeforeAnyCall(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, ref := range []string{"", "  ", ".", ".."} {
		_, err := w.AddComment(context.Background(), ref, tracker.NewComment{Text: "x"})
		wantKind(t, err, tracker.Invalid)
	}
	_, err := w.Issue(context.Background(), "SUP-1/../../queues")
	wantKind(t, err, tracker.NotFound)
	if calls := w.server.Calls().Since(0); len(calls) != 1 {
		t.Errorf("got %d calls, want only the last", len(calls))
	}
}

// TestDetach: the fields that were named are gone, the others and the tags stay, and
// the issue says whose it is no more, wherever it is.
func TestDetach(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	i := w.create(t, tracker.NewIssue{Queue: "SUP", Unique: "support:telegram:1:42:d1", Tags: []string{"telegram"}, Fields: customer("42")})
	raw, err := w.agent.Create(sandbox.NewTicket{Queue: "RAW", Summary: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, id := range []string{i.ID, raw.ID} {
			if err := w.Detach(ctx, id, tracker.FieldChat, tracker.FieldNickname, tracker.FieldName); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := map[tracker.Field]string{tracker.FieldMessenger: "telegram", tracker.FieldBot: "1099511627777", tracker.FieldLocale: "ru"}
	for _, read := range []func() (tracker.Issue, error){
		func() (tracker.Issue, error) { return w.Issue(ctx, i.ID) },
		func() (tracker.Issue, error) { return w.FindByUnique(ctx, "support:telegram:1:42:d1") },
	} {
		got, err := read()
		if err != nil || !got.Erased {
			t.Fatalf("erased %v, %v", got.Erased, err)
		}
		if diff := cmp.Diff(want, got.Fields); diff != "" {
			t.Error(diff)
		}
	}
	k, _ := w.server.Ticket(i.Key)
	if diff := cmp.Diff([]string{"telegram", tracker.TagErased}, k.Tags); diff != "" {
		t.Error(diff)
	}
	if got, err := w.Issue(ctx, raw.ID); err != nil || !got.Erased {
		t.Errorf("in a queue without fields: erased %v, %v", got.Erased, err)
	}
	wantKind(t, w.Detach(ctx, "SUP-999", tracker.FieldChat), tracker.NotFound)
}
