package v3_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/tracker"
	"supportbot/shared/tracker/v3"
)

func TestErrors_KindsOfAnswers(t *testing.T) {
	t.Parallel()
	const own, page = `{"errors":{},"errorMessages":["No."],"statusCode":0}`, "<html>502 Bad Gateway</html>"
	cases := map[string]struct {
		status      int
		body        string
		read, write tracker.ErrorKind
	}{
		"400":                        {400, own, tracker.Invalid, tracker.Invalid},
		"401":                        {401, own, tracker.Forbidden, tracker.Forbidden},
		"403":                        {403, own, tracker.Forbidden, tracker.Forbidden},
		"403, a page":                {403, page, tracker.Temporary, tracker.Uncertain},
		"404":                        {404, own, tracker.NotFound, tracker.NotFound},
		"404, empty":                 {404, "", tracker.NotFound, tracker.NotFound},
		"404, a page":                {404, page, tracker.Temporary, tracker.Uncertain},
		"409":                        {409, own, tracker.Conflict, tracker.Conflict},
		"412":                        {412, own, tracker.Conflict, tracker.Conflict},
		"413, a page":                {413, page, tracker.Invalid, tracker.Invalid},
		"422":                        {422, own, tracker.Invalid, tracker.Invalid},
		"423":                        {423, own, tracker.Frozen, tracker.Frozen},
		"428":                        {428, own, tracker.Invalid, tracker.Invalid},
		"429":                        {429, own, tracker.RateLimited, tracker.RateLimited},
		"429, a page":                {429, page, tracker.RateLimited, tracker.RateLimited},
		"500":                        {500, own, tracker.Temporary, tracker.Uncertain},
		"502, a page":                {502, page, tracker.Temporary, tracker.Uncertain},
		"503":                        {503, own, tracker.Temporary, tracker.Temporary},
		"503 of a balancer":          {503, "upstream connect error", tracker.Temporary, tracker.Uncertain},
		"504, a page":                {504, page, tracker.Temporary, tracker.Uncertain},
		"302":                        {302, "", tracker.Temporary, tracker.Uncertain},
		"200, a page":                {200, page, tracker.Temporary, tracker.Uncertain},
		"200, empty":                 {200, "", tracker.Temporary, tracker.Uncertain},
		"200, cut":                   {200, `{"id":"1","key":"SUP-1"`, tracker.Temporary, tracker.Uncertain},
		"200, another thing":         {200, `{}`, tracker.Temporary, tracker.Uncertain},
		"200, null":                  {200, `null`, tracker.Temporary, tracker.Uncertain},
		"200, several":               {200, `[{"id":"1"},{"id":"2"}]`, tracker.Temporary, tracker.Uncertain},
		"200, a time of a new shape": {200, `{"id":"1","key":"SUP-1","createdAt":"yesterday"}`, tracker.Temporary, tracker.Uncertain},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := against(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			})
			_, err := c.Issue(context.Background(), "SUP-1")
			wantKind(t, err, tc.read)
			_, err = c.AddComment(context.Background(), "SUP-1", tracker.NewComment{Text: "x"})
			wantKind(t, err, tc.write)
			var e *tracker.Error
			if errors.As(err, &e); e.Status != tc.status || e.Call != "add comment" {
				t.Errorf("got status %d of %q, want %d of add comment", e.Status, e.Call, tc.status)
			}
		})
	}
}

func TestErrors_OneObjectInsideAListIsTaken(t *testing.T) {
	t.Parallel()
	c := against(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`[ {"id": 9849018, "longId": "5fa1", "text": "x"} ]`))
	})
	got, err := c.AddComment(context.Background(), "SUP-1", tracker.NewComment{Text: "x"})
	if err != nil || got.ID != "9849018" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestErrors_RetryAfter(t *testing.T) {
	t.Parallel()
	clock := newClock()
	cases := map[string]struct {
		header string
		want   time.Duration
	}{
		"none":    {"", time.Second},
		"seconds": {"7", 7 * time.Second},
		"zero":    {"0", time.Second},
		"date":    {clock.Now().Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		"past":    {clock.Now().Add(-time.Hour).Format(http.TimeFormat), time.Second},
		"absurd":  {"999999", 5 * time.Minute},
		"nothing": {"soon", time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := against(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", tc.header)
				w.WriteHeader(http.StatusTooManyRequests)
			}, func(c *v3.Config) { c.Now = clock.Now })
			_, err := c.Issue(context.Background(), "SUP-1")
			var e *tracker.Error
			if !errors.As(err, &e) || e.RetryAfter != tc.want {
				t.Errorf("got %v, want a wait of %s", err, tc.want)
			}
		})
	}
}

// Nothing that people wrote, no token and no address appears in an error,
// whatever Tracker quotes.
func TestErrors_CarryNothingPersonal(t *testing.T) {
	t.Parallel()
	statuses := []int{400, 401, 403, 404, 409, 413, 422, 423, 429, 500, 502, 503}
	for _, status := range statuses {
		c := against(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/localFields") {
				_, _ = w.Write([]byte(`[{"id":"6054ae3a2b6b2c7f80bb9a93--supportNickname","key":"supportNickname"}]`))
				return
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"errors":{"summary":"canary-text is wrong","canary name":"x"},"errorMessages":["canary-text, ` +
				r.Header.Get("Authorization") + ` ` + r.URL.String() + `"],"errorCode":620345}`))
		})
		ctx := context.Background()
		_, e1 := c.Create(ctx, tracker.NewIssue{
			Summary: "canary-text", Unique: "canary-unique", Fields: map[tracker.Field]string{tracker.FieldNickname: "canary-nick"},
		})
		_, e2 := c.AddComment(ctx, "SUP-1", tracker.NewComment{Text: "canary-text"})
		_, e3 := c.Upload(ctx, tracker.Upload{Name: "canary.txt", Size: 1, Body: strings.NewReader("x")})
		_, e4 := c.Download(ctx, "SUP-1", tracker.Attachment{ID: "5", Name: "canary.txt"})
		e5 := c.Transit(ctx, "SUP-1", "close")
		_, e6 := c.FindByUnique(ctx, "canary-unique")
		of := map[tracker.Field]string{tracker.FieldChat: "canary-chat"}
		_, e7 := c.Search(ctx, nil, of, 1)
		var e8 error
		for _, err := range c.Of(ctx, nil, of) {
			e8 = err
		}
		for n, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8} {
			if err == nil {
				t.Fatalf("%d: call %d did not fail", status, n)
			}
			if text := err.Error(); strings.Contains(text, "canary") || strings.Contains(text, "http://") {
				t.Errorf("%d: call %d: got %q", status, n, text)
			}
		}
		_, err := c.Issue(ctx, "SUP-1") // carries nothing personal: Tracker's message is kept, the token is not
		if text := err.Error(); strings.Contains(text, token) || !strings.Contains(text, "[redacted]") && status != 500 {
			t.Errorf("%d: got %q", status, text)
		}
	}
}

// A call that cannot have been sent did nothing.
func TestErrors_RefusedConnectionIsTemporaryForWritesToo(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	c, err := v3.New(v3.Config{URL: "http://" + address, Token: env.NewSecret(token), OrgID: "77", Queue: "SUP"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.AddComment(context.Background(), "SUP-1", tracker.NewComment{Text: "canary"})
	wantKind(t, err, tracker.Temporary)
	if strings.Contains(err.Error(), "/v3") {
		t.Errorf("got %v, want it without the address of the call", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = c.AddComment(ctx, "SUP-1", tracker.NewComment{Text: "canary"})
	wantKind(t, err, tracker.Temporary)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestPace_IsAskedBeforeEachCallAndItsRefusalSendsNothing(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	full := errors.New("no place")
	w := setup(t, func(_ *sandbox.Config, c *v3.Config) {
		c.Pace = func(context.Context) error {
			if asked.Add(1) > 3 {
				return full
			}
			return nil
		}
	})
	ctx := context.Background()
	w.create(t, tracker.NewIssue{Fields: customer("1")}) // two calls
	if _, err := w.Upload(ctx, tracker.Upload{Name: "x", Size: 0, Body: strings.NewReader("")}); err != nil {
		t.Fatal(err)
	}
	before := len(w.server.Calls().Since(0))
	_, err := w.AddComment(ctx, "SUP-1", tracker.NewComment{Text: "x"})
	wantKind(t, err, tracker.Temporary)
	if !errors.Is(err, full) || before != 3 || len(w.server.Calls().Since(0)) != before {
		t.Errorf("got %v after %d calls, want the limiter's refusal and no call", err, before)
	}
}

func TestRefused_IsToldOfEach429(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	calls := map[string]func(*v3.Client) error{
		"read": func(c *v3.Client) error { _, err := c.Issue(ctx, "SUP-1"); return err },
		"write": func(c *v3.Client) error {
			_, err := c.AddComment(ctx, "SUP-1", tracker.NewComment{Text: "x"})
			return err
		},
		"upload": func(c *v3.Client) error {
			_, err := c.Upload(ctx, tracker.Upload{Name: "x", Body: strings.NewReader("")})
			return err
		},
		"download": func(c *v3.Client) error {
			_, err := c.Download(ctx, "SUP-1", tracker.Attachment{ID: "1", Name: "x"})
			return err
		},
		"search": func(c *v3.Client) error {
			for _, err := range c.UpdatedSince(ctx, time.Time{}) {
				return err
			}
			return nil
		},
	}
	answers := map[string]struct {
		status int
		retry  string
		want   []time.Duration
	}{
		"seconds":         {429, "17", []time.Duration{17 * time.Second}},
		"no time":         {429, "", []time.Duration{time.Second}},
		"nonsense":        {429, "soon", []time.Duration{time.Second}},
		"too long":        {429, "999999", []time.Duration{5 * time.Minute}},
		"another refusal": {503, "17", nil},
		"no such issue":   {404, "", nil},
	}
	for name, call := range calls {
		for how, a := range answers {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				var told []time.Duration
				c := against(t, func(w http.ResponseWriter, _ *http.Request) {
					if a.retry != "" {
						w.Header().Set("Retry-After", a.retry)
					}
					w.WriteHeader(a.status)
				}, func(c *v3.Config) {
					c.Refused = func(_ context.Context, wait time.Duration) { told = append(told, wait) }
				})
				if err := call(c); err == nil {
					t.Error("got no error")
				}
				if !slices.Equal(told, a.want) {
					t.Errorf("told of %v, want %v", told, a.want)
				}
			})
		}
	}
}

// Whatever breaks around a comment, the error says whether it may be there.
func TestFaults_OfAComment(t *testing.T) {
	t.Parallel()
	cases := map[fault.Kind]struct {
		kind tracker.ErrorKind
		made int
	}{
		fault.HangBefore:  {tracker.Uncertain, 0},
		fault.HangAfter:   {tracker.Uncertain, 1},
		fault.CloseBefore: {tracker.Uncertain, 0},
		fault.CloseAfter:  {tracker.Uncertain, 1},
		fault.HTMLBefore:  {tracker.Uncertain, 0},
		fault.HTMLAfter:   {tracker.Uncertain, 1},
		fault.Delay:       {"", 1},
	}
	for kind, want := range cases {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create(t, tracker.NewIssue{})
			w.server.Faults().Add(fault.Fault{Method: "POST /v3/issues/*/comments", Kind: kind, Times: 1, Wait: time.Millisecond})
			_, err := w.AddComment(patience(t, kind), "SUP-1", tracker.NewComment{Text: "x"})
			if want.kind == "" && err != nil {
				t.Fatal(err)
			}
			if want.kind != "" {
				wantKind(t, err, want.kind)
			}
			made := func(list []sandbox.Ticket) bool { return len(list[0].Comments) == want.made }
			if err := w.server.Wait(short(t, time.Minute), made); err != nil {
				t.Errorf("got not %d comments", want.made)
			}
			if _, err := w.AddComment(context.Background(), "SUP-1", tracker.NewComment{Text: "x"}); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// patience gives up soon on what hangs.
func patience(t *testing.T, kind fault.Kind) context.Context {
	if kind == fault.HangBefore || kind == fault.HangAfter {
		return short(t, 300*time.Millisecond)
	}
	return context.Background()
}

func TestFaults_OfReadsAreTemporary(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault.Kind{fault.HangBefore, fault.HangAfter, fault.CloseBefore, fault.CloseAfter, fault.HTMLBefore} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create(t, tracker.NewIssue{})
			w.server.Faults().Add(fault.Fault{Method: "GET /v3/issues/*", Kind: kind})
			_, err := w.Issue(patience(t, kind), "SUP-1")
			wantKind(t, err, tracker.Temporary)
		})
	}
}

// After an unknown end the issue is found by its unique value.
func TestFaults_CreateThatTookEffectIsFound(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx := context.Background()
	w.server.Faults().Add(fault.Fault{Method: "POST /v3/issues", Kind: fault.CloseAfter, Times: 1})
	n := tracker.NewIssue{Summary: "x", Unique: "u"}
	_, err := w.Create(ctx, n)
	wantKind(t, err, tracker.Uncertain)
	_, err = w.Create(ctx, n)
	wantKind(t, err, tracker.Duplicate)
	if got, err := w.FindByUnique(ctx, "u"); err != nil || got.Key != "SUP-1" {
		t.Errorf("got %s, %v", got.Key, err)
	}
}

func TestFaults_StatusAndRate(t *testing.T) {
	t.Parallel()
	w := setup(t, func(s *sandbox.Config, _ *v3.Config) { s.Rate, s.Burst = 1, 2 })
	ctx := context.Background()
	w.server.Faults().Add(fault.Fault{Method: "GET /v3/*", Kind: fault.Status, Status: 429, RetryAfter: 3, Times: 1})
	_, err := w.Statuses(ctx)
	var e *tracker.Error
	if !errors.As(err, &e) || e.Kind != tracker.RateLimited || e.RetryAfter != 3*time.Second {
		t.Errorf("got %v, want a wait of 3 s", err)
	}
	for range 2 {
		if _, err := w.Statuses(ctx); err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.Statuses(ctx)
	wantKind(t, err, tracker.RateLimited)
	w.clock.Add(time.Second)
	if _, err := w.Statuses(ctx); err != nil {
		t.Error(err)
	}
}

func TestFindByUnique_WhenTheOldPrefixIsGone(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		v2, v3 int
		want   tracker.ErrorKind // "" = found
	}{
		"v2 knows":                    {200, 500, ""},
		"v2 is gone, v3 knows":        {404, 200, ""},
		"neither knows":               {404, 404, tracker.NotFound},
		"v2 does not, v3 has no path": {404, 405, tracker.NotFound},
		"v2 fails":                    {500, 200, tracker.Temporary},
		"v3 fails":                    {404, 500, tracker.Temporary},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := against(t, func(w http.ResponseWriter, r *http.Request) {
				status := tc.v2
				if strings.HasPrefix(r.URL.Path, "/v3") {
					status = tc.v3
				}
				w.WriteHeader(status)
				if status == 200 {
					_, _ = w.Write([]byte(`{"id":"1","key":"SUP-1","unique":"u"}`))
				}
			})
			got, err := c.FindByUnique(context.Background(), "u")
			if tc.want != "" {
				wantKind(t, err, tc.want)
			} else if err != nil || got.Key != "SUP-1" {
				t.Errorf("got %s, %v", got.Key, err)
			}
		})
	}
}

func TestFindByUnique_AnotherIssueIsNotTaken(t *testing.T) {
	t.Parallel()
	c := against(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"id":"1","key":"SUP-1","unique":"other"}`))
	})
	_, err := c.FindByUnique(context.Background(), "u")
	wantKind(t, err, tracker.Temporary)
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 2)
	answer := func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		_, _ = w.Write([]byte("[]"))
	}
	c := against(t, answer, func(c *v3.Config) { c.OrgID, c.CloudOrgID, c.TokenType = "", "bpf1", "Bearer" })
	if _, err := c.Statuses(context.Background()); err != nil {
		t.Fatal(err)
	}
	h := <-got
	if h.Get("Authorization") != "Bearer "+token || h.Get("X-Cloud-Org-ID") != "bpf1" || h.Get("X-Org-ID") != "" {
		t.Errorf("got %v", h)
	}
}

// A write is never sent to where a redirect points; a download is.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var other atomic.Int64
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/elsewhere") {
			other.Add(1)
			_, _ = w.Write(bytes.Repeat([]byte("x"), 3))
			return
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	_, err := c.AddComment(context.Background(), "SUP-1", tracker.NewComment{Text: "x"})
	wantKind(t, err, tracker.Uncertain)
	if other.Load() != 0 {
		t.Error("the comment was sent elsewhere")
	}
	body, err := c.Download(context.Background(), "SUP-1", tracker.Attachment{ID: "1", Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	_ = body.Close()
	if other.Load() != 1 {
		t.Error("the download did not follow")
	}
}
