package notification_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	gocmp "github.com/google/go-cmp/cmp"

	"supportbot/shared/notification"
)

// refusal is a call that is refused; fields are "<pointer> <code>".
type refusal struct {
	body    any
	headers []string
	status  int
	fields  []string
	says    string // in the detail, or in the first field's message
}

func (d *desk) refuse(t *testing.T, method, path string, all map[string]refusal) {
	t.Helper()
	for name, tc := range all {
		t.Run(name, func(t *testing.T) {
			body := tc.body
			if body == nil {
				body = spec()
			}
			got := d.call(method, path, body, tc.headers...)
			p := got.problem()
			var fields []string
			said := p.Detail
			for i, f := range p.Errors {
				fields = append(fields, f.Pointer+" "+f.Code)
				if i == 0 {
					said = f.Message
				}
			}
			if want := cmp.Or(tc.status, http.StatusUnprocessableEntity); got.status != want || p.Status != want {
				t.Errorf("got %d %s, want %d", got.status, got.body, want)
			}
			if diff := gocmp.Diff(tc.fields, fields, cmpopts.EquateEmpty()); diff != "" || !strings.Contains(said, tc.says) {
				t.Errorf("%s%s, want %q", diff, got.body, tc.says)
			}
			for _, secret := range []string{"CANARY", "SELECT", "pq:", "SQLSTATE", "map[", "struct"} {
				if strings.Contains(string(got.body), secret) {
					t.Errorf("the answer shows %q: %s", secret, got.body)
				}
			}
		})
	}
}

// TestRefusals_Callers: who may not.
func TestRefusals_Callers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.refuse(t, "POST", "/v1/broadcasts", map[string]refusal{
		"no key":              {headers: []string{"X-API-Key", ""}, status: 401, says: "an API key (X-API-Key) or a session (X-Session) is needed"},
		"unknown key":         {headers: []string{"X-API-Key", "CANARY-guessed"}, status: 401, says: "unknown or was revoked"},
		"revoked key":         {headers: []string{"X-API-Key", revokedKey}, status: 401, says: "unknown or was revoked"},
		"key of other bytes":  {headers: []string{"X-API-Key", "\xff' OR 1=1"}, status: 401, says: "unknown or was revoked"},
		"operator's key":      {headers: []string{"X-API-Key", operatorKey}, status: 403, says: "one of the roles admin"},
		"analyst's key":       {headers: []string{"X-API-Key", analystKey}, status: 403, says: "one of the roles admin"},
		"malformed session":   {headers: []string{"X-API-Key", "", "X-Session", "CANARY\xff/../*"}, status: 401, says: "/console"},
		"very long session":   {headers: []string{"X-API-Key", "", "X-Session", strings.Repeat("x", 1<<20)}, status: 401, says: "/console"},
		"no idempotency key":  {headers: []string{"Idempotency-Key", ""}, status: 400, says: "Idempotency-Key is needed"},
		"a too long one":      {headers: []string{"Idempotency-Key", strings.Repeat("д", 201)}, status: 400, says: "up to 200 characters"},
		"one of other bytes":  {headers: []string{"Idempotency-Key", "\xff"}, status: 400, says: "Idempotency-Key is needed"},
		"wrong content type":  {headers: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 415, says: "application/json"},
		"nearly the type":     {headers: []string{"Content-Type", "application/jsonp"}, status: 415, says: "application/json"},
		"no type, in doubt":   {body: "x=1", headers: []string{"Content-Type", ""}, status: 400, says: "not JSON"},
		"not JSON":            {body: `{"kind": news}`, status: 400, says: "not JSON"},
		"two values":          {body: `{} {}`, status: 400, says: "not JSON"},
		"cut off":             {body: `{"kind": "news"`, status: 400, says: "not JSON"},
		"not UTF-8":           {body: "{\"kind\": \"\xff\"}", status: 400, says: "not UTF-8"},
		"too deep":            {body: strings.Repeat("[", 100_000), status: 400, says: "not JSON"},
		"too large":           {body: spec(set("title", strings.Repeat("x", 1<<20))), status: 413, says: "1 MiB"},
		"too large of spaces": {body: strings.Repeat(" ", 1<<20) + "{}", status: 413, says: "1 MiB"},
	})
	if n := d.number(`SELECT count(*) FROM broadcasts`); n != 0 {
		t.Errorf("%d broadcasts were made by refused calls", n)
	}
	// With both headers the key counts, good or bad.
	token := d.session(d.person(`roles = '{admin}'`), "admin")
	d.call("POST", "/v1/broadcasts", spec(), "X-Session", "wrong").into(&struct{}{})
	if got := d.call("POST", "/v1/broadcasts", spec(), "X-Session", token, "X-API-Key", "wrong"); got.status != 401 {
		t.Errorf("a session beside a wrong key: %d", got.status)
	}
}

// TestRefusals_Paths: what is not there, and methods that a path does not take.
func TestRefusals_Paths(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, p := range []string{"/v1", "/v1/broadcasts/0", "/v1/broadcasts/-1", "/v1/broadcasts/+1", "/v1/broadcasts/01", "/v1/broadcasts/x",
		"/v1/broadcasts/9999999999999999999999", "/v1/broadcasts/1/nothing", "/v1/broadcasts/1/pause/x", "/v2/broadcasts"} {
		if got := d.call("GET", p, nil); got.status != 404 || !strings.Contains(got.problem().Detail, "/v1/openapi.json") {
			t.Errorf("%s: %d %s", p, got.status, got.body)
		}
	}
	for _, tc := range []struct{ method, path, allow string }{
		{"DELETE", "/v1/broadcasts", "GET, POST"}, {"HEAD", "/v1/openapi.json", "GET"}, {"POST", "/v1/broadcasts/1", "GET, PATCH, PUT"},
		{"GET", "/v1/messages", "POST"}, {"OPTIONS", "/v1/session", "DELETE, GET, POST"}, {"get", "/v1/broadcasts", "GET, POST"},
	} {
		if got := d.call(tc.method, tc.path, nil); got.status != 405 || got.header.Get("Allow") != tc.allow {
			t.Errorf("%s %s: %d, Allow %q, want 405, %q", tc.method, tc.path, got.status, got.header.Get("Allow"), tc.allow)
		}
	}
	id := d.make("draft")
	for query, want := range map[string]string{
		"/v1/broadcasts?state=gone": "gone", "/v1/broadcasts?limit=x": "1 to 200", "/v1/broadcasts?limit=201": "1 to 200", "/v1/broadcasts?before=-1": "1 to",
		"/v1/broadcasts?status=draft": "status: there is no such parameter here; there are state, before, limit", "/v1/broadcasts?state=draft&state=running": "state: it is there twice",
		path(id, "?full=yes"):                "full: there is no such parameter here; there are none",
		path(id, "/recipients?outcome=open"): "outcome is one of", path(id, "/recipients?after=x"): `"next" of an earlier page`,
	} {
		if got := d.call("GET", query, nil); got.status != 400 || !strings.Contains(got.problem().Detail, want) {
			t.Errorf("%s: %d %s, want %q", query, got.status, got.body, want)
		}
	}
}

func audience(name string, v any) refusalBody {
	return spec(set("audience", map[string]any{name: v}))
}

type refusalBody = map[string]any

func buttons(list ...any) refusalBody { return spec(set("buttons", list)) }

func button(label, url string) map[string]any {
	return map[string]any{"labels": map[string]any{"ru": label}, "url": url}
}

// TestRefusals_Fields: each mistake at its field, in words for people.
func TestRefusals_Fields(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	texts := func(v any) refusalBody { return spec(set("texts", v)) }
	hours := func(from, to, zone string) refusalBody {
		return spec(set("hours", map[string]any{"from": from, "to": to, "zone": zone}))
	}
	long := map[string]any{"ru": strings.Repeat("&", 4097)}
	d.refuse(t, "POST", "/v1/broadcasts", map[string]refusal{
		"no body":             {body: "", fields: []string{"/audience required", "/kind invalid", "/texts required"}, says: "{} is everybody"},
		"not an object":       {body: `[]`, fields: []string{" invalid"}, says: "an object"},
		"no audience":         {body: `{"kind":"news","texts":{"ru":"да"}}`, fields: []string{"/audience required"}},
		"null for everybody":  {body: `{"kind":"news","texts":{"ru":"да"},"audience":null}`, fields: []string{"/audience invalid"}, says: "leave the field out"},
		"a null criterion":    {body: audience("roles", nil), fields: []string{"/audience/roles invalid"}},
		"an empty list":       {body: audience("customers", []int{}), fields: []string{"/audience/customers invalid"}, says: "nobody meets it"},
		"twice":               {body: `{"kind":"news","texts":{"ru":"да"},"audience":{"roles":["admin"]},"audience":{}}`, fields: []string{"/audience duplicate"}, says: "twice"},
		"twice, inside":       {body: `{"kind":"news","texts":{"ru":"a","ru":"b"},"audience":{}}`, fields: []string{"/texts/ru duplicate"}},
		"in another case":     {body: `{"kind":"news","texts":{"ru":"да"},"audience":{"Roles":["admin"]}}`, fields: []string{"/audience/Roles unknown"}, says: "no such field"},
		"unknown criterion":   {body: audience("city", "x"), fields: []string{"/audience/city unknown"}},
		"unknown fields":      {body: spec(set("when", 1), set("a/b~c", 1)), fields: []string{"/a~1b~0c unknown", "/when unknown"}},
		"wrong types":         {body: `{"kind":1,"texts":[],"audience":{"customers":[1,"2",2.5],"open_ticket":"no"},"rate":"fast","urgency":1.5}`, fields: []string{"/audience/customers/1 invalid", "/audience/customers/2 invalid", "/audience/open_ticket invalid", "/kind invalid", "/rate invalid", "/texts invalid", "/urgency invalid"}, says: "a whole number is expected"},
		"unknown kind":        {body: spec(set("kind", "spam")), fields: []string{"/kind invalid"}, says: "news, maintenance or system"},
		"a message":           {body: spec(set("kind", "message")), fields: []string{"/kind invalid"}, says: "/v1/messages"},
		"no text":             {body: texts(map[string]any{}), fields: []string{"/texts required"}},
		"empty text":          {body: texts(map[string]any{"ru": " \n"}), fields: []string{"/texts/ru required"}, says: "the text is empty"},
		"nothing to read":     {body: texts(map[string]any{"ru": "\u200b"}), fields: []string{"/texts/ru required"}, says: "the text is empty"},
		"unknown locale":      {body: texts(map[string]any{"d/e": "x"}), fields: []string{"/texts/d~1e unknown"}, says: "locales are"},
		"too long rendered":   {body: texts(long), fields: []string{"/texts/ru too_long"}, says: "(telegram)"},
		"bad markup":          {body: texts(map[string]any{"ru": "**нет"}), fields: []string{"/texts/ru bad_markup"}, says: "** is not closed"},
		"link to a script":    {body: texts(map[string]any{"ru": "[a](javascript:x)"}), fields: []string{"/texts/ru bad_markup"}, says: "no messenger opens"},
		"no fallback":         {body: texts(map[string]any{"ru": "да", "en": "yes"}), fields: []string{"/fallback required"}},
		"fallback to nothing": {body: spec(set("fallback", "en")), fields: []string{"/fallback invalid"}},
		"unknown messenger":   {body: audience("messengers", []string{"vk", "icq"}), fields: []string{"/audience/messengers/1 unknown"}},
		"unknown role":        {body: audience("roles", []string{"boss"}), fields: []string{"/audience/roles/0 unknown"}},
		"unknown language":    {body: audience("locales", []string{"de"}), fields: []string{"/audience/locales/0 unknown"}},
		"id 0":                {body: audience("customers", []int{0}), fields: []string{"/audience/customers/0 unknown"}},
		"a huge id":           {body: `{"kind":"news","texts":{"ru":"да"},"audience":{"customers":[99999999999999999999]}}`, fields: []string{"/audience/customers/0 invalid"}},
		"too many":            {body: audience("customers", make100001()), fields: []string{"/audience/customers too_many"}},
		"backwards":           {body: audience("seen", map[string]any{"from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}), fields: []string{"/audience/seen invalid"}},
		"no time":             {body: audience("seen", map[string]any{"from": "yesterday"}), fields: []string{"/audience/seen/from invalid"}, says: "2026-01-31T09:00:00+03:00"},
		"system to all":       {body: spec(set("kind", "system")), fields: []string{"/audience/roles required"}},
		"past":                {body: spec(set("start_at", d.now().Add(-2*time.Minute))), fields: []string{"/start_at past"}},
		"absurdly far":        {body: spec(set("start_at", "9999-12-31T23:59:59Z")), fields: []string{"/start_at invalid"}, says: "a year"},
		"far, as a draft":     {body: spec(set("start_at", "9999-12-31T23:59:59Z"), set("draft", true)), fields: []string{"/start_at invalid"}},
		"rate below 0":        {body: spec(set("rate", -1)), fields: []string{"/rate invalid"}, says: "from 0.1 to 375"},
		"rate above":          {body: spec(set("rate", 376)), fields: []string{"/rate invalid"}},
		"rate above one's":    {body: spec(set("rate", 21), set("audience", map[string]any{"messengers": []string{"telegram"}})), fields: []string{"/rate invalid"}, says: "from 0.1 to 20"},
		"rate beyond":         {body: `{"kind":"news","texts":{"ru":"да"},"audience":{},"rate":1e999}`, fields: []string{"/rate invalid"}, says: "a number"},
		"rate NaN":            {body: `{"kind":"news","texts":{"ru":"да"},"audience":{},"rate":NaN}`, status: 400, says: "not JSON"},
		"urgency":             {body: spec(set("urgency", 10)), fields: []string{"/urgency invalid"}},
		"title":               {body: spec(set("title", strings.Repeat("ж", 201))), fields: []string{"/title too_long"}},
		"script":              {body: buttons(button("a", "javascript:alert(1)")), fields: []string{"/buttons/0/url invalid"}, says: "https://"},
		"not encrypted":       {body: buttons(button("a", "https://a.example"), button("b", "http://b.example")), fields: []string{"/buttons/1/url invalid"}},
		"no host":             {body: buttons(button("a", "https:///x")), fields: []string{"/buttons/0/url invalid"}},
		"endless link":        {body: buttons(button("a", "https://a.example/"+strings.Repeat("x", 2000))), fields: []string{"/buttons/0/url invalid"}},
		"no label":            {body: buttons(map[string]any{"url": "https://a.example", "labels": map[string]any{"en": "x"}}), fields: []string{"/buttons/0/labels/ru invalid"}},
		"long label":          {body: buttons(button(strings.Repeat("ж", 41), "https://a.example")), fields: []string{"/buttons/0/labels/ru invalid"}},
		"six buttons":         {body: buttons(six()...), fields: []string{"/buttons too_many"}},
		"hours that are none": {body: hours("9", "21:00", "UTC"), fields: []string{"/hours invalid"}},
		"hours never open":    {body: hours("09:00", "9:00", "UTC"), fields: []string{"/hours invalid"}, says: "end when they begin"},
		"nowhere":             {body: hours("09:00", "21:00", "Mars/Base"), fields: []string{"/hours invalid"}, says: "zone"},
		"no zone":             {body: hours("09:00", "21:00", ""), fields: []string{"/hours/zone required"}},
	})
	if n := d.number(`SELECT count(*) FROM broadcasts`); n != 0 {
		t.Errorf("%d broadcasts were made by refused calls", n)
	}
	d.refuse(t, "POST", "/v1/messages", map[string]refusal{
		"to nobody":  {body: map[string]any{"texts": map[string]any{"ru": "да"}}, fields: []string{"/customer required"}},
		"unknown":    {body: map[string]any{"customer": 999, "texts": map[string]any{"ru": "да"}}, fields: []string{"/customer unknown"}},
		"too long":   {body: map[string]any{"customer": 1, "texts": long}, fields: []string{"/texts/ru too_long"}},
		"a schedule": {body: map[string]any{"customer": 1, "texts": map[string]any{"ru": "да"}, "start_at": "2030-01-01T00:00:00Z"}, fields: []string{"/start_at unknown"}},
	})
	d.refuse(t, "POST", "/v1/audience/estimate", map[string]refusal{
		"no kind":           {body: "{}", fields: []string{"/kind invalid"}},
		"unknown criterion": {body: `{"kind":"news","audience":{"role":["admin"]}}`, fields: []string{"/audience/role unknown"}},
	})
}

func make100001() []int {
	list := make([]int, 100_001)
	for i := range list {
		list[i] = i + 1
	}
	return list
}

func six() (list []any) {
	for range 6 {
		list = append(list, button("a", "https://a.example"))
	}
	return list
}

// TestRefusals_Many: an answer names no more mistakes than somebody may want to read.
func TestRefusals_Many(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ids := make([]string, 10_000)
	p := d.call("POST", "/v1/broadcasts", spec(set("audience", map[string]any{"customers": ids}))).problem()
	if len(p.Errors) != 100 || p.Errors[0] != (notification.Field{Pointer: "/audience/customers/0", Code: "invalid", Message: "a whole number is expected"}) {
		t.Errorf("%d errors, the first %+v", len(p.Errors), p.Errors[0])
	}
}
