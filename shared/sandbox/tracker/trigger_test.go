package tracker_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/tracker"
)

// hook is where triggers call.
type hook struct {
	url   string
	calls chan hookCall
}

type hookCall struct {
	header http.Header
	method string
	query  string
	body   string
}

func newHook(t *testing.T, status int) *hook {
	t.Helper()
	h := &hook{calls: make(chan hookCall, 100)}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.calls <- hookCall{r.Header, r.Method, r.URL.RawQuery, string(body)}
		w.WriteHeader(status)
	}))
	t.Cleanup(web.Close)
	h.url = web.URL
	return h
}

// noKeepAlive lets the hook's server close while the tracker's still runs.
func noKeepAlive(c *tracker.Config) {
	c.Client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

// trigger makes a trigger with the conditions and a body of the variables.
func (w *world) trigger(h *hook, conditions, body string) reply {
	w.t.Helper()
	text, _ := json.Marshal(body)
	return w.must("POST", "/v3/queues/SUP/triggers", fmt.Sprintf(
		`{"name":"bridge","conditions":%s,"actions":[{"type":"Webhook","endpoint":"%s/hook?key={{issue.key}}","method":"POST",
		"contentType":"application/json; charset=UTF-8","headers":{"X-Webhook-Secret":"s3"},"authContext":{"type":"noauth"},"body":%s}]}`,
		conditions, h.url, text))
}

// fired waits until n calls of triggers have ended and gives their bodies.
func (w *world) fired(n int) []string {
	w.t.Helper()
	var bodies []string
	err := w.Calls().Wait(patient(w.t), func(calls []fault.Call) bool {
		bodies = nil
		for _, c := range calls {
			var p struct {
				Body string `json:"body"`
			}
			if c.Method == "trigger" && json.Unmarshal(c.Params, &p) == nil {
				bodies = append(bodies, p.Body)
			}
		}
		return len(bodies) >= n
	})
	if err != nil {
		w.t.Fatalf("got %d calls, want %d", len(bodies), n)
	}
	slices.Sort(bodies)
	return bodies
}

const bridge = `[{"type":"Or","conditions":[
	{"type":"And","conditions":[{"type":"Event.comment-create"},{"type":"CommentMessageInternal"},{"type":"CommentAuthorNot","user":"support-robot"}]},
	{"type":"And","conditions":[{"type":"Event.update"},{"type":"FieldChangedCondition","field":"status"}]}]}]`

func TestTrigger_CallsWithWhatItWasTold(t *testing.T) {
	t.Parallel()
	h := newHook(t, 200)
	w := setup(t, noKeepAlive)
	w.trigger(h, bridge, `{"key":{{issue.key.json}},"comment":"{{userComment.id}}","by":"{{currentUser.login}}","status":"{{issue.status.key}}","no":"{{issue.nothing}}{{moon}}"}`)
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
	w.must("POST", "/v3/issues/SUP-1/comments", `{"text":"the robot's own"}`)
	c, err := w.As("anna").Comment("SUP-1", "/reply hello")
	if err != nil {
		t.Fatal(err)
	}
	got := <-h.calls
	want := `{"key":"SUP-1","comment":"` + c.ID + `","by":"anna","status":"open","no":""}`
	if got.body != want || got.method != "POST" || got.query != "key=SUP-1" {
		t.Errorf("got %+v, want %s", got, want)
	}
	if got.header.Get("X-Webhook-Secret") != "s3" || got.header.Get("X-Startrek-Transport") == "" ||
		got.header.Get("Content-Type") != "application/json; charset=UTF-8" {
		t.Errorf("got %v", got.header)
	}
	if _, err := w.As("anna").Do("SUP-1", tracker.Edit{Status: "inProgress"}); err != nil {
		t.Fatal(err)
	}
	if got := <-h.calls; !strings.Contains(got.body, `"comment":"","by":"anna","status":"inProgress"`) {
		t.Errorf("got %s", got.body)
	}
	if bodies := w.fired(2); len(bodies) != 2 {
		t.Errorf("got %d calls, want 2", len(bodies))
	}
}

func TestTrigger_SeveralCommentsInOneEditFireOnceWithTheFirst(t *testing.T) {
	t.Parallel()
	h := newHook(t, 200)
	w := setup(t, noKeepAlive)
	w.trigger(h, bridge, `{{userComment.id}}`)
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
	ticket, err := w.As("anna").Do("SUP-1", tracker.Edit{
		Status: "inProgress", Comments: []tracker.NewComment{{Text: "1"}, {Text: "2"}, {Text: "3"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	last, err := w.As("anna").Comment("SUP-1", "4")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{ticket.Comments[0].ID, last.ID}
	if diff := cmp.Diff(want, w.fired(2)); diff != "" {
		t.Error(diff)
	}
}

func TestTrigger_Conditions(t *testing.T) {
	t.Parallel()
	create := func(w *world) { w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"n"}`) }
	comment := func(w *world) { _, _ = w.As("anna").Comment("SUP-1", "Hello World") }
	status := func(w *world) { _, _ = w.As("anna").Do("SUP-1", tracker.Edit{Status: "inProgress"}) }
	assign := func(w *world) { _, _ = w.As("anna").Do("SUP-1", tracker.Edit{Assignee: "boris"}) }
	cases := map[string]struct {
		conditions string
		does       func(*world)
		fires      bool
	}{
		"none":                       {`[]`, comment, true},
		"create":                     {`[{"type":"Event.create"}]`, create, true},
		"create, not an update":      {`[{"type":"Event.update"}]`, create, false},
		"comment is no update":       {`[{"type":"Event.update"}]`, func(w *world) { w.must("POST", "/v3/issues/SUP-1/comments?isAddToFollowers=false", `{"text":"x"}`) }, false},
		"status is an update":        {`[{"type":"Event.update"}]`, status, true},
		"by the author":              {`[{"type":"CommentAuthor","user":{"id":"101"}}]`, comment, true},
		"not by the author":          {`[{"type":"CommentAuthorNot","user":"101"}]`, comment, false},
		"author without a comment":   {`[{"type":"CommentAuthorNot","user":"102"}]`, status, false},
		"mail":                       {`[{"type":"CommentMessageExternal"}]`, comment, false},
		"word":                       {`[{"type":"CommentStringMatchCondition","word":"hello","ignoreCase":true}]`, comment, true},
		"word, case":                 {`[{"type":"CommentStringMatchCondition","word":"hello"}]`, comment, false},
		"not word":                   {`[{"type":"CommentStringNotMatchCondition","word":"bye"}]`, comment, true},
		"whole":                      {`[{"type":"CommentFullyMatchCondition","word":"Hello"}]`, comment, false},
		"any":                        {`[{"type":"CommentAnyMatchCondition","words":["x","World"]}]`, comment, true},
		"none of":                    {`[{"type":"CommentNoneMatchCondition","words":["x","World"]}]`, comment, false},
		"field changed":              {`[{"type":"FieldChangedCondition","field":{"id":"assignee"}}]`, assign, true},
		"another field changed":      {`[{"type":"FieldChangedCondition","field":"priority"}]`, assign, false},
		"field equals":               {`[{"type":"FieldEquals","field":"assignee","value":"boris"}]`, assign, true},
		"became equal":               {`[{"type":"FieldBecameEqual","field":"status","value":{"key":"inProgress"}}]`, status, true},
		"became another":             {`[{"type":"FieldBecameEqual","field":"status","value":"closed"}]`, status, false},
		"became not empty":           {`[{"type":"FieldBecameNotEmpty","field":"assignee"}]`, assign, true},
		"became empty":               {`[{"type":"FieldBecameEmpty","field":"assignee"}]`, assign, false},
		"is empty":                   {`[{"type":"FieldIsEmpty","field":"resolution"}]`, assign, true},
		"is not empty":               {`[{"type":"FieldIsNotEmpty","field":"resolution"}]`, assign, false},
		"and":                        {`[{"type":"Event.comment-create"},{"type":"FieldChangedCondition","field":"status"}]`, comment, false},
		"or":                         {`[{"type":"Or","conditions":[{"type":"Event.create"},{"type":"Event.comment-create"}]}]`, comment, true},
		"of what there is none here": {`[{"type":"ChecklistDone"}]`, status, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.Faults().Add(fault.Fault{Method: "trigger", Kind: fault.Drop})
			w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
			w.trigger(&hook{url: "http://127.0.0.1:1"}, tc.conditions, "x")
			tc.does(w)
			ran := 0 // the changelog tells, whether the call arrives or not
			for _, ticket := range w.Tickets() {
				ran += strings.Count(w.must("GET", "/v3/issues/"+ticket.Key+"/changelog", "").raw, `"executedTriggers"`)
			}
			if got := ran == 1; got != tc.fires || ran > 1 {
				t.Errorf("got %d runs, want fired %v", ran, tc.fires)
			}
		})
	}
}

func TestTrigger_Variables(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"{{issue.key}} {{ issue.key }}": "SUP-1 SUP-1",
		"{{issue.summary.json}}":        `"a \"b\""`,
		"{{issue.tags.json}}":           `["x","y"]`,
		"{{issue.status}}":              "Открыт",
		"{{issue.status.id}}":           "1",
		"{{issue.statusType.key}}":      "new",
		"{{issue.queue.key}}":           "SUP",
		"{{issue.local.chat}}":          "42",
		"{{issue.local.none}}":          "",
		"{{issue.author.login}}":        "anna",
		"{{issue.author.login.json}}":   `"anna"`,
		"{{issue.author.json}}":         "", // objects have none
		"{{issue.assignee.login}}":      "",
		"{{issue.assignee}}":            "",
		"{{issue.previousStatus.key}}":  "",
		"{{issue.createdAt.date}}":      "2026-08-01",
		"{{currentDateTime.unixEpoch}}": "1785574800",
		"{{currentDateTime.iso8601}}":   "2026-08-01T09:00:00.000+0000",
		"{{currentUser.firstName}}":     "Анна",
		"{{userComment.text}}":          "hi\n\"you\"",
		"{{userComment.author.login}}":  "anna",
		"{{generatedComment.id}}":       "",
		"{{}} {{issue} {{x}}":           "{{}} {{issue} ",
		"{{issue.id}}":                  "ID",
	}
	for template, want := range cases {
		t.Run(template, func(t *testing.T) {
			t.Parallel()
			h := newHook(t, 200)
			w := setup(t, noKeepAlive)
			made, err := w.As("anna").Create(tracker.NewTicket{Summary: `a "b"`, Fields: map[string]string{"chat": "42"}})
			if err != nil {
				t.Fatal(err)
			}
			w.must("PATCH", "/v3/issues/SUP-1", `{"tags":["x","y"]}`)
			w.trigger(h, `[{"type":"Event.comment-create"}]`, template)
			if _, err := w.As("anna").Comment("SUP-1", "hi\n\"you\""); err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll((<-h.calls).body, made.ID, "ID")
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestTrigger_Faults(t *testing.T) {
	t.Parallel()
	cases := map[fault.Kind][]string{
		fault.Drop:      {"2"},
		fault.Duplicate: {"1", "1", "2"},
		fault.Late:      {"2", "1"}, // overtaken
	}
	for kind, want := range cases {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			h := newHook(t, 200)
			w := setup(t, noKeepAlive)
			w.trigger(h, `[{"type":"Event.comment-create"}]`, `{{userComment.text}}`)
			w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
			w.Faults().Add(fault.Fault{Method: "trigger", Kind: kind, Times: 1, Wait: 1500 * time.Millisecond})
			for _, text := range []string{"1", "2"} {
				if _, err := w.As("anna").Comment("SUP-1", text); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for range want {
				got = append(got, (<-h.calls).body)
			}
			if kind != fault.Late {
				slices.Sort(got) // otherwise no order is promised
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			w.fired(len(want))
			if n := len(h.calls); n != 0 {
				t.Errorf("got %d calls more", n)
			}
		})
	}
}

// A call is made once; what became of it is in the trigger's log and in the
// changelog.
func TestTrigger_FailuresAreLoggedAndNotRepeated(t *testing.T) {
	t.Parallel()
	h := newHook(t, 503)
	w := setup(t, noKeepAlive)
	id := fmt.Sprint(w.trigger(h, `[{"type":"Event.comment-create"}]`, "x").at("id"))
	issue := w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`).text("id")
	if _, err := w.As("anna").Comment("SUP-1", "1"); err != nil {
		t.Fatal(err)
	}
	w.fired(1)
	log := w.must("GET", "/v3/queues/SUP/triggers/"+id+"/webhooks/log?issueId="+issue, "")
	if list, _ := log.body.([]any); len(list) != 1 || log.at(0, "response", "statusCode") != 503.0 || log.text(0, "request", "body") != "x" {
		t.Errorf("got %s", log.raw)
	}
	changes := w.must("GET", "/v3/issues/SUP-1/changelog", "")
	if got := changes.at(1, "executedTriggers", 0, "success"); got != false {
		t.Errorf("got %v, want a failure: %s", got, changes.raw)
	}
	if n := len(h.calls); n != 1 {
		t.Errorf("got %d calls, want 1", n)
	}
	other := w.must("GET", "/v3/queues/SUP/triggers/"+id+"/webhooks/log?issueId=other", "")
	if other.raw != "[]\n" {
		t.Errorf("got %s, want nothing of another issue", other.raw)
	}
}

func TestTrigger_MakingAndChanging(t *testing.T) {
	t.Parallel()
	h := newHook(t, 200)
	w := setup(t, noKeepAlive)
	made := w.trigger(h, `[{"type":"Event.comment-create"}]`, "x")
	path := fmt.Sprintf("/v3/queues/SUP/triggers/%v", made.at("id"))
	if made.status != 201 || made.at("version") != 1.0 || made.at("active") != true {
		t.Fatalf("got %s", made.raw)
	}
	if r := w.call("PATCH", path+"?version=9", `{"active":false}`); r.status != 409 {
		t.Errorf("got %d, want 409", r.status)
	}
	if r := w.must("PATCH", path+"?version=1", `{"active":false}`); r.at("version") != 2.0 || r.at("active") != false {
		t.Errorf("got %s", r.raw)
	}
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
	if _, err := w.As("anna").Comment("SUP-1", "1"); err != nil {
		t.Fatal(err)
	}
	if r := w.must("GET", "/v3/issues/SUP-1/changelog", ""); strings.Contains(r.raw, "executedTriggers") {
		t.Error("an inactive trigger ran")
	}
	if list, _ := w.must("GET", "/v3/queues/SUP/triggers", "").body.([]any); len(list) != 1 {
		t.Errorf("got %d triggers, want 1", len(list))
	}
	w.header.Set("Authorization", "OAuth boris-token")
	for _, c := range [][2]string{{"GET", path}, {"DELETE", path}, {"POST", "/v3/queues/SUP/triggers"}, {"POST", "/v3/queues/SUP/localFields"}} {
		if r := w.call(c[0], c[1], "{}"); r.status != 403 {
			t.Errorf("%s %s: got %d, want 403: only the owner may", c[0], c[1], r.status)
		}
	}
	w.header.Set("Authorization", "OAuth secret")
	if r := w.call("DELETE", path, ""); r.status != 204 {
		t.Errorf("got %d, want 204", r.status)
	}
	if r := w.call("GET", path, ""); r.status != 404 {
		t.Errorf("got %d, want 404", r.status)
	}
}

func TestTrigger_AuthorizationAndObjectBody(t *testing.T) {
	t.Parallel()
	for auth, want := range map[string]string{
		`{"type":"basic","login":"u","password":"p"}`:                                          "Basic dTpw",
		`{"type":"oauth","headerName":"Authorization","tokenType":"Bearer","accessToken":"t"}`: "Bearer t",
		`{"type":"noauth"}`: "",
	} {
		h := newHook(t, 200)
		w := setup(t, noKeepAlive)
		w.must("POST", "/v3/queues/SUP/triggers", fmt.Sprintf(`{"name":"a","conditions":[{"type":"Event.create"}],"actions":[
			{"type":"Webhook","endpoint":%q,"method":"PUT","authContext":%s,"body":{"key":"{{issue.key}}"}}]}`, h.url, auth))
		w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
		got := <-h.calls
		if got.header.Get("Authorization") != want || got.body != `{"key":"SUP-1"}` || got.method != "PUT" {
			t.Errorf("%s: got %+v", auth, got)
		}
		w.fired(1)
	}
}

// Close ends what is under way and what waits; nothing is called afterwards.
func TestClose_StopsDeliveries(t *testing.T) {
	t.Parallel()
	h := newHook(t, 200)
	w := setup(t, noKeepAlive)
	w.trigger(h, `[{"type":"Event.comment-create"}]`, "x")
	w.must("POST", "/v3/issues", `{"queue":"SUP","summary":"x"}`)
	w.Faults().Add(fault.Fault{Method: "trigger", Kind: fault.Late, Wait: time.Hour})
	if _, err := w.As("anna").Comment("SUP-1", "1"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := w.As("anna").Comment("SUP-1", "2"); err != nil {
		t.Fatal(err)
	}
	if n := len(h.calls); n != 0 {
		t.Errorf("got %d calls, want none", n)
	}
}
