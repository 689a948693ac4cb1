package tracker_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/tracker"
)

func TestAuthorization(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		cloud  bool
		header http.Header
		want   int
		code   float64
	}{
		"right":             {false, http.Header{"Authorization": {"OAuth secret"}, "X-Org-Id": {"77"}}, 200, 0},
		"no token":          {false, http.Header{"X-Org-Id": {"77"}}, 401, 0},
		"wrong token":       {false, http.Header{"Authorization": {"OAuth no"}, "X-Org-Id": {"77"}}, 401, 0},
		"no scheme":         {false, http.Header{"Authorization": {"secret"}, "X-Org-Id": {"77"}}, 401, 0},
		"no organisation":   {false, http.Header{"Authorization": {"OAuth secret"}}, 403, 620345},
		"another":           {false, http.Header{"Authorization": {"OAuth secret"}, "X-Org-Id": {"78"}}, 403, 620345},
		"of the wrong kind": {false, http.Header{"Authorization": {"OAuth secret"}, "X-Cloud-Org-Id": {"77"}}, 403, 620345},
		"both":              {false, http.Header{"Authorization": {"OAuth secret"}, "X-Org-Id": {"77"}, "X-Cloud-Org-Id": {"77"}}, 403, 620345},
		"iam, no cloud":     {false, http.Header{"Authorization": {"Bearer secret"}, "X-Org-Id": {"77"}}, 401, 0},
		"iam, cloud":        {true, http.Header{"Authorization": {"Bearer secret"}, "X-Cloud-Org-Id": {"bpf"}}, 200, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t, func(c *tracker.Config) {
				if tc.cloud {
					c.OrgID, c.CloudOrgID = "", "bpf"
				}
			})
			w.header = tc.header
			r := w.call("GET", "/v3/myself", "")
			code, _ := r.at("errorCode").(float64)
			if r.status != tc.want || code != tc.code {
				t.Errorf("got %d %s, want %d", r.status, r.raw, tc.want)
			}
		})
	}
}

// Every refusal: its status, and that nothing changed.
func TestRefusals(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		method, path, body string
		want               int
		field              string // refused
	}{
		"no such path":                 {"GET", "/v3/nothing", "", 404, ""},
		"no version":                   {"GET", "/issues/SUP-1", "", 404, ""},
		"another method":               {"DELETE", "/v3/issues/SUP-1", "", 405, ""},
		"create, not JSON":             {"POST", "/v3/issues", `{`, 400, ""},
		"create without queue":         {"POST", "/v3/issues", `{"summary":"x"}`, 422, "queue"},
		"create without summary":       {"POST", "/v3/issues", `{"queue":"SUP","summary":" "}`, 422, "summary"},
		"summary of 256":               {"POST", "/v3/issues", `{"queue":"SUP","summary":"` + strings.Repeat("ж", 256) + `"}`, 422, "summary"},
		"unknown field":                {"POST", "/v3/issues", `{"queue":"SUP","summary":"x","color":"red"}`, 422, "color"},
		"local field by key":           {"POST", "/v3/issues", `{"queue":"SUP","summary":"x","chat":"1"}`, 422, "chat"},
		"unknown type":                 {"POST", "/v3/issues", `{"queue":"SUP","summary":"x","type":"epic"}`, 422, "type"},
		"unknown priority":             {"POST", "/v3/issues", `{"queue":"SUP","summary":"x","priority":"urgent"}`, 422, "priority"},
		"unknown assignee":             {"POST", "/v3/issues", `{"queue":"SUP","summary":"x","assignee":"nobody"}`, 422, "assignee"},
		"unknown attachment":           {"POST", "/v3/issues", `{"queue":"SUP","summary":"x","attachmentIds":["9"]}`, 422, "attachmentIds"},
		"status in create":             {"POST", "/v3/issues", `{"queue":"SUP","summary":"x","status":"closed"}`, 422, "status"},
		"same unique":                  {"POST", "/v3/issues", `{"queue":"SUP","summary":"x","unique":"u"}`, 409, ""},
		"same unique in another queue": {"POST", "/v3/issues", `{"queue":"BIL","summary":"x","unique":"u"}`, 409, ""},
		"status in edit":               {"PATCH", "/v3/issues/SUP-1", `{"status":"closed"}`, 422, "status"},
		"unique in edit":               {"PATCH", "/v3/issues/SUP-1", `{"unique":"v"}`, 422, "unique"},
		"old version":                  {"PATCH", "/v3/issues/SUP-1?version=7", `{"summary":"y"}`, 409, ""},
		"summary taken away":           {"PATCH", "/v3/issues/SUP-1", `{"summary":null}`, 422, "summary"},
		"edit of what is not there":    {"PATCH", "/v3/issues/SUP-9", `{"summary":"y"}`, 404, ""},
		"comment without text":         {"POST", "/v3/issues/SUP-1/comments", `{"text":""}`, 422, "text"},
		"comment as a text":            {"POST", "/v3/issues/SUP-1/comments", `"x"`, 400, ""},
		"comment with more":            {"POST", "/v3/issues/SUP-1/comments", `{"text":"x","visibility":"public"}`, 422, "comment"},
		"comment too long":             {"POST", "/v3/issues/SUP-1/comments", `{"text":"` + strings.Repeat("ж", 512_001) + `"}`, 422, "text"},
		"comment, summoned nobody":     {"POST", "/v3/issues/SUP-1/comments", `{"text":"x","summonees":["nobody"]}`, 422, "summonees"},
		"comment, no such file":        {"POST", "/v3/issues/SUP-1/comments", `{"text":"x","attachmentIds":[5]}`, 422, "attachmentIds"},
		"edit of another's comment":    {"PATCH", "/v3/issues/SUP-1/comments/103", `{"text":"x"}`, 403, ""},
		"no such comment":              {"GET", "/v3/issues/SUP-1/comments/9", "", 404, ""},
		"no such transition":           {"POST", "/v3/issues/SUP-1/transitions/reopen/_execute", `{}`, 404, ""},
		"close without resolution":     {"POST", "/v3/issues/SUP-1/transitions/close/_execute", `{}`, 422, "resolution"},
		"close, unknown resolution":    {"POST", "/v3/issues/SUP-1/transitions/close/_execute", `{"resolution":"done"}`, 422, "resolution"},
		"resolution not on the screen": {"POST", "/v3/issues/SUP-1/transitions/start_progress/_execute", `{"resolution":"fixed"}`, 422, "resolution"},
		"transition without a body":    {"POST", "/v3/issues/SUP-1/transitions/start_progress/_execute", "", 400, ""},
		"move nowhere":                 {"POST", "/v3/issues/SUP-1/_move?queue=NO", "", 404, ""},
		"move to where it is":          {"POST", "/v3/issues/SUP-1/_move?queue=SUP", "", 422, "queue"},
		"search by two":                {"POST", "/v3/issues/_search", `{"queue":"SUP","query":"Queue: SUP"}`, 400, ""},
		"search by three":              {"POST", "/v3/issues/_search", `{"queue":"SUP","keys":["A"],"filter":{}}`, 400, ""},
		"search, bad query":            {"POST", "/v3/issues/_search", `{"query":"Queue SUP"}`, 400, ""},
		"search, too deep":             {"POST", "/v3/issues/_search", `{"query":"` + strings.Repeat("(", 100_000) + `"}`, 400, ""},
		"search, unknown field":        {"POST", "/v3/issues/_search", `{"query":"Color: red"}`, 400, ""},
		"scroll with keys":             {"POST", "/v3/issues/_search?scrollType=sorted", `{"keys":["SUP-1"]}`, 400, ""},
		"scroll with queue":            {"POST", "/v3/issues/_search?scrollType=sorted", `{"queue":"SUP"}`, 400, ""},
		"scroll of 1001":               {"POST", "/v3/issues/_search?scrollType=sorted&perScroll=1001", `{"query":"Queue: SUP"}`, 400, ""},
		"scroll of nothing":            {"POST", "/v3/issues/_search?scrollId=x", `{"query":"Queue: SUP"}`, 404, ""},
		"beyond the limit":             {"POST", "/v3/issues/_search?perPage=50&page=201", `{"query":"Queue: SUP"}`, 400, ""},
		"changes after nothing":        {"GET", "/v3/issues/SUP-1/changelog?id=x", "", 404, ""},
		"page of nothing":              {"GET", "/v3/issues/SUP-1/comments?perPage=0", "", 400, ""},
		"no such queue":                {"GET", "/v3/queues/sup", "", 404, ""}, // keys are case-sensitive
		"no such unique":               {"POST", "/v2/issues/_findByUnique?unique=v", "", 404, ""},
		"field without names":          {"POST", "/v3/queues/SUP/localFields", `{"id":"a","category":"000000000000000000000003","type":"ru.yandex.startrek.core.fields.StringFieldType"}`, 422, "name"},
		"field that exists":            {"POST", "/v3/queues/SUP/localFields", `{"name":{"en":"a","ru":"а"},"id":"chat","category":"000000000000000000000003","type":"ru.yandex.startrek.core.fields.StringFieldType"}`, 409, ""},
		"trigger, unknown condition":   {"POST", "/v3/queues/SUP/triggers", `{"name":"a","conditions":[{"type":"Moon"}],"actions":[{"type":"Webhook","endpoint":"http://x","method":"POST"}]}`, 422, "conditions"},
		"trigger, unknown action":      {"POST", "/v3/queues/SUP/triggers", `{"name":"a","actions":[{"type":"Mail"}]}`, 422, "actions"},
		"trigger, bad address":         {"POST", "/v3/queues/SUP/triggers", `{"name":"a","actions":[{"type":"Webhook","endpoint":"ftp://x","method":"POST"}]}`, 422, "actions"},
		"trigger without a name":       {"POST", "/v3/queues/SUP/triggers", `{"actions":[{"type":"Webhook","endpoint":"http://x","method":"POST"}]}`, 422, "name"},
		"trigger with more":            {"POST", "/v3/queues/SUP/triggers", `{"name":"a","retry":3}`, 400, ""},
		"upload that is none":          {"POST", "/v3/attachments?filename=x", `{}`, 400, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x","unique":"u"}`)
			if _, err := w.As("anna").Comment("SUP-1", "hello"); err != nil {
				t.Fatal(err)
			}
			before := w.Tickets()
			r := w.call(tc.method, tc.path, tc.body)
			if r.status != tc.want {
				t.Fatalf("got %d %s, want %d", r.status, r.raw, tc.want)
			}
			errors, _ := r.at("errors").(map[string]any)
			messages, _ := r.at("errorMessages").([]any)
			if code, _ := r.at("statusCode").(float64); int(code) != tc.want || errors == nil || messages == nil {
				t.Errorf("got %s, want the original's form of an error", r.raw)
			}
			if tc.field != "" && errors[tc.field] == nil {
				t.Errorf("got %s, want %s refused", r.raw, tc.field)
			}
			if diff := cmp.Diff(before, w.Tickets()); diff != "" {
				t.Errorf("something changed: %s", diff)
			}
			calls := w.Calls().Since(1)
			if len(calls) != 1 || calls[0].Effect || calls[0].Status != tc.want {
				t.Errorf("got log %+v, want one call without effect", calls)
			}
		})
	}
}

func TestIssue_AnswerHasTheOriginalsShape(t *testing.T) {
	t.Parallel()
	w := setup(t)
	field := w.localID("SUP", "chat")
	if !regexp.MustCompile(`^[0-9a-f]{24}--chat$`).MatchString(field) || field == w.localID("BIL", "chat") {
		t.Fatalf("got field id %s, want one of its own per queue", field)
	}
	r := w.must("POST", "/v3/issues/", fmt.Sprintf(
		`{"queue":{"key":"SUP"},"summary":"x","type":{"key":"bug"},"priority":4,"tags":["a"],"assignee":"anna","markupType":"md",%q:"42"}`, field))
	if r.status != 201 {
		t.Fatalf("got %d, want 201", r.status)
	}
	want := map[string]any{
		"key": "SUP-1", "version": 1.0, "createdAt": "2026-08-01T09:00:00.000+0000", field: "42",
		"type": "bug", "priority": "critical", "status": "open", "statusType": "new", "queue": "SUP",
	}
	for name, v := range want {
		got := r.at(name)
		if m, object := got.(map[string]any); object {
			got = m["key"]
		}
		if got != v {
			t.Errorf("%s: got %v, want %v", name, got, v)
		}
	}
	if _, there := r.body.(map[string]any)["resolution"]; there {
		t.Error("an empty field is there, want it absent")
	}
	if self := r.text("createdBy", "self"); !strings.Contains(self, "/v2/users/") {
		t.Errorf("got %s, want the old prefix in links to users", self)
	}
	w.header.Set("Accept-Language", "en")
	if got := w.must("GET", "/v3/issues/SUP-1", "").text("status", "display"); got != "Open" {
		t.Errorf("got %s, want Open", got)
	}
	r = w.must("GET", "/v3/issues/SUP-1?expand=transitions,attachments", "")
	if r.text("transitions", 0, "to", "key") == "" || r.at("attachments") == nil {
		t.Errorf("got %s, want transitions and attachments", r.raw)
	}
}

func TestEdit_OperatorsVersionsAndIds(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x","tags":["a","b"]}`)
	r := w.must("PATCH", "/v3/issues/SUP-1?version=1", `{"tags":{"add":["c"],"remove":["a"]},"summary":"y"}`)
	if diff := cmp.Diff([]any{"b", "c"}, r.at("tags")); diff != "" || r.at("version") != 2.0 {
		t.Errorf("got version %v; %s", r.at("version"), diff)
	}
	r = w.must("PATCH", "/v3/issues/SUP-1", `{"tags":[],"assignee":"anna"}`)
	if r.at("tags") != nil || r.text("assignee", "id") != "101" {
		t.Errorf("got %s", r.raw)
	}
	w.must("PATCH", "/v3/issues/SUP-1", `{"assignee":null}`)
	same := w.must("PATCH", "/v3/issues/SUP-1", `{"summary":"y"}`)
	if same.at("version") != 4.0 {
		t.Errorf("got version %v: an edit that changes nothing makes none", same.at("version"))
	}
	// The same comment has a number in a listing, a text elsewhere.
	made := w.must("POST", "/v3/issues/SUP-1/comments?isAddToFollowers=false", `{"text":"z"}`)
	list := w.must("GET", "/v3/issues/SUP-1/comments", "")
	n, _ := list.at(0, "id").(float64)
	if made.status != 201 || strconv.Itoa(int(n)) != made.text("id") || len(made.text("longId")) != 24 {
		t.Errorf("got %s and %s", made.raw, list.raw)
	}
	if v := w.Tickets()[0].Version; v != 5 {
		t.Errorf("got version %d, want 5: comments count", v)
	}
}

func TestFollowers(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if _, err := w.As("anna").Create(tracker.NewTicket{Summary: "x"}); err != nil {
		t.Fatal(err)
	}
	w.must("POST", "/v3/issues/SUP-1/comments?isAddToFollowers=false", `{"text":"z"}`)
	if diff := cmp.Diff([]string{"anna"}, w.Tickets()[0].Followers); diff != "" {
		t.Error(diff)
	}
	w.must("POST", "/v3/issues/SUP-1/comments", `{"text":"z"}`)
	if diff := cmp.Diff([]string{"anna", "support-robot"}, w.Tickets()[0].Followers); diff != "" {
		t.Error(diff)
	}
}

func TestVersionLimit_OfRobotAndPeople(t *testing.T) {
	t.Parallel()
	w := setup(t, func(c *tracker.Config) { c.VersionLimit = 3 })
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
	w.must("PATCH", "/v3/issues/SUP-1", `{"summary":"1"}`)
	w.must("PATCH", "/v3/issues/SUP-1", `{"summary":"2"}`)
	for _, c := range [][3]string{
		{"PATCH", "/v3/issues/SUP-1", `{"summary":"3"}`},
		{"POST", "/v3/issues/SUP-1/comments", `{"text":"3"}`},
		{"POST", "/v3/issues/SUP-1/transitions/start_progress/_execute", `{}`},
		{"POST", "/v3/issues/SUP-1/_move?queue=BIL", ``},
	} {
		if r := w.call(c[0], c[1], c[2]); r.status != 423 {
			t.Errorf("%s: got %d, want 423", c[1], r.status)
		}
	}
	if _, err := w.As("anna").Comment("SUP-1", "people may go on"); err != nil {
		t.Error(err)
	}
}

func TestChangelog_OneEntryPerOperation(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
	w.must("PATCH", "/v3/issues/SUP-1", `{"summary":"y","comment":"why"}`)
	w.clock.Add(time.Second)
	w.must("POST", "/v3/issues/SUP-1/transitions/close/_execute", `{"resolution":"fixed","comment":"bye"}`)
	w.must("POST", "/v3/issues/SUP-1/_move?queue=BIL", "")
	w.upload("/v3/issues/SUP-1/attachments?filename=a.txt", "file", "file", "x")
	if _, err := w.As("anna").Do("BIL-1", tracker.Edit{
		Priority: "critical", Comments: []tracker.NewComment{{Text: "1"}, {Text: "2"}, {Text: "3"}},
	}); err != nil {
		t.Fatal(err)
	}
	r := w.must("GET", "/v3/issues/BIL-1/changelog", "")
	type entry struct {
		Type             string
		Fields, Comments int
	}
	var got []entry
	for n := 0; r.at(n) != nil; n++ {
		fields, _ := r.at(n, "fields").([]any)
		comments, _ := r.at(n, "comments", "added").([]any)
		if r.text(n, "type") == "IssueCreated" {
			fields = nil
		}
		got = append(got, entry{r.text(n, "type"), len(fields), len(comments)})
	}
	want := []entry{
		{"IssueCreated", 0, 0}, {"IssueUpdated", 1, 1}, {"IssueWorkflow", 7, 1}, {"IssueMoved", 2, 0},
		{"IssueAttachmentAdded", 0, 0}, {"IssueUpdated", 2, 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	only := w.must("GET", "/v3/issues/BIL-1/changelog?field=status&type=IssueWorkflow", "")
	if list, _ := only.body.([]any); len(list) != 1 || only.text(0, "fields", 1, "from", "key") != "open" {
		t.Errorf("got %s, want the one change of status", only.raw)
	}
}

func TestPaging_LinksLeadToTheEnd(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
	for n := range 7 {
		if _, err := w.As("anna").Comment("SUP-1", strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"/v3/issues/SUP-1/comments", "/v3/issues/SUP-1/changelog"} {
		next := path + "?perPage=3"
		pages := 0
		for next != "" {
			r := w.must("GET", next, "")
			pages++
			next = ""
			for _, link := range r.header.Values("Link") {
				if m := regexp.MustCompile(`^<https?://[^/]+([^>]+)>; rel="next"$`).FindStringSubmatch(link); m != nil {
					next = m[1]
				}
			}
		}
		if pages != 3 {
			t.Errorf("%s: got %d pages, want 3", path, pages)
		}
	}
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
	up := w.upload("/v3/attachments?filename="+"%D0%B0%2Fb.txt", "file", "file", "hello")
	if up.status != 201 || up.text("name") != "а/b.txt" || up.at("size") != 5.0 || up.text("mimetype") != "text/plain" {
		t.Fatalf("got %d %s", up.status, up.raw)
	}
	if r := w.upload("/v3/attachments", "document", "x", "hello"); r.status != 400 {
		t.Errorf("got %d, want 400 without the part file", r.status)
	}
	if list := w.must("GET", "/v3/issues/SUP-1/attachments", ""); list.raw != "[]\n" {
		t.Errorf("got %s, want no attachment before it is used", list.raw)
	}
	made := w.must("POST", "/v3/issues/SUP-1/comments?expand=attachments", `{"text":"x","attachmentIds":["`+up.text("id")+`"]}`)
	if made.text("attachments", 0, "display") != "а/b.txt" {
		t.Errorf("got %s", made.raw)
	}
	if again := w.call("POST", "/v3/issues/SUP-1/comments", `{"text":"x","attachmentIds":["`+up.text("id")+`"]}`); again.status != 422 {
		t.Errorf("got %d, want 422: an upload is used once", again.status)
	}
	file := "/v3/issues/SUP-1/attachments/" + up.text("id")
	for path, want := range map[string]int{"/%D0%B0%2Fb.txt": 200, "/": 200, "/other.txt": 404} {
		if r := w.call("GET", file+path, ""); r.status != want || want == 200 && path != "/" && r.raw != "hello" {
			t.Errorf("%s: got %d %q, want %d", path, r.status, r.raw, want)
		}
	}
}

func TestMove_KeepsOldKeysAndDropsLocalFields(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if _, err := w.As("anna").Create(tracker.NewTicket{Summary: "x", Fields: map[string]string{"chat": "1", "user": "2"}}); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"BIL", "SUP", "BIL"} {
		if _, err := w.As("anna").Move("SUP-1", to); err != nil {
			t.Fatal(err)
		}
	}
	got, _ := w.Ticket("SUP-1")
	if got.Key != "BIL-2" || len(got.Fields) != 0 {
		t.Errorf("got %s with %v, want BIL-2 without fields", got.Key, got.Fields)
	}
	if diff := cmp.Diff([]string{"SUP-1", "BIL-1", "SUP-2"}, got.Aliases); diff != "" {
		t.Error(diff)
	}
	for _, key := range append(got.Aliases, got.ID, "bil-2") {
		if r := w.must("GET", "/v3/issues/"+key, ""); r.text("key") != "BIL-2" {
			t.Errorf("%s: got %s", key, r.text("key"))
		}
	}
}

func TestLag_HidesWhatIsNewFromListingsOnly(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"old"}`)
	w.clock.Add(time.Minute)
	w.SetLag(2 * time.Second)
	w.must("PATCH", "/v3/issues/SUP-1", `{"summary":"new"}`)
	search := func() string {
		return w.must("POST", "/v3/issues/_search", `{"query":"Queue: SUP"}`).text(0, "summary")
	}
	if got := search(); got != "old" {
		t.Errorf("got %q, want what search knew", got)
	}
	if got := w.must("GET", "/v3/issues/SUP-1", "").text("summary"); got != "new" {
		t.Errorf("got %q, want the present state", got)
	}
	w.clock.Add(2 * time.Second)
	if got := search(); got != "new" {
		t.Errorf("got %q, want what search knows now", got)
	}
}
