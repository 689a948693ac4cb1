package notification_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/gauge"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/notification"
	"supportbot/shared/person"
)

// TestDocument_Form: the document is OpenAPI 3.1 and whole in itself.
func TestDocument_Form(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	if v, _ := d.root["openapi"].(string); !strings.HasPrefix(v, "3.1.") {
		t.Errorf("version %q", v)
	}
	ids := map[string]bool{}
	schemes := d.root["components"].(map[string]any)["securitySchemes"].(map[string]any)
	for _, o := range d.operations() {
		if o.id() == "" || ids[o.id()] || o.spec["summary"] == "" {
			t.Errorf("%s %s has no id or summary of its own", o.method, o.path)
		}
		ids[o.id()] = true
		if o.spec["security"] == nil {
			t.Errorf("%s does not say who may call", o.id())
		}
		for _, s := range list(o.spec["security"]) {
			for name := range s.(map[string]any) {
				if schemes[name] == nil {
					t.Errorf("%s: security scheme %s is not there", o.id(), name)
				}
			}
		}
		inPath := 0
		for _, p := range list(o.spec["parameters"]) {
			if param := p.(map[string]any); param["in"] == "path" {
				inPath++
				if param["required"] != true || !strings.Contains(o.path, "{"+param["name"].(string)+"}") {
					t.Errorf("%s: parameter %v", o.id(), param["name"])
				}
			}
		}
		if want := strings.Count(o.path, "{"); inPath != want {
			t.Errorf("%s documents %d parameters of its path, want %d", o.id(), inPath, want)
		}
		for status, answer := range o.spec["responses"].(map[string]any) {
			if answer.(map[string]any)["description"] == nil {
				t.Errorf("%s %s has no description", o.id(), status)
			}
		}
	}
	walk("", d.root, func(pointer string, v map[string]any) {
		if ref, ok := v["$ref"].(string); ok {
			if _, err := d.compiler.Compile(at + ref); err != nil {
				t.Errorf("%s: %v", pointer, err)
			}
		}
		if _, ok := v["schema"]; ok {
			where := pointer + "/schema"
			if err := d.check(where, []byte("null")); err != nil && strings.Contains(err.Error(), "schema "+where) {
				t.Error(err)
			}
		}
		if v["type"] == "object" && v["additionalProperties"] == nil && !strings.HasPrefix(pointer, "/paths/~1v1~1openapi.json") {
			t.Errorf("%s lets any property in", pointer)
		}
		if example, ok := v["example"]; ok {
			if err := d.check(pointer+"/schema", encode(t, example)); err != nil {
				t.Errorf("example at %s: %v", pointer, err)
			}
		}
	})
}

func list(v any) []any { l, _ := v.([]any); return l }

// walk visits every object.
func walk(pointer string, v any, visit func(pointer string, v map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(pointer, v)
		for name, item := range v {
			walk(pointer+"/"+escape(name), item, visit)
		}
	case []any:
		for i, item := range v {
			walk(fmt.Sprint(pointer, "/", i), item, visit)
		}
	}
}

// TestDocument_Routes: what the router knows is documented, and the other way round.
// Roles and parameters are documented too.
func TestDocument_Routes(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, o := range readDocument(t).operations() {
		said, _ := o.spec["description"].(string)
		roles := regexp.MustCompile(`^Roles: ([a-z, ]+)\.`).FindStringSubmatch(said)
		if roles == nil {
			roles = []string{"", ""}
		}
		if (roles[1] == "") != (len(list(o.spec["security"])) == 0) {
			t.Errorf("%s: roles %q, security %v", o.id(), roles[1], o.spec["security"])
		}
		want = append(want, o.method+" "+o.path+" "+roles[1]+" "+strings.Join(o.query(), ","))
	}
	got = append(got, notification.Routes(notification.New(notification.Deps{}))...)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("routes\n%s\nwant as documented\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestDocument_Handlers: every operation gives every status that it is documented to
// give, and each answer is as documented (see judge).
func TestDocument_Handlers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	me := d.person(`roles = '{admin}'`, messenger.Telegram, messenger.VK)
	agent := d.session(d.person(`roles = '{agent}'`), person.Agent)
	d.refusals(agent)
	d.successes(me)
	d.conflicts()
	d.crowded()
	d.away()
	for _, o := range d.doc.operations() {
		for _, status := range o.statuses() {
			if !d.doc.seen[o.id()+" "+status] {
				t.Errorf("%s never gives its documented %s", o.id(), status)
			}
		}
	}
}

// refusals is what can be refused of every operation.
func (d *desk) refusals(agent string) {
	for _, o := range d.doc.operations() {
		at := strings.NewReplacer("{id}", "999", "{name}", "nothing").Replace(o.path)
		if len(list(o.spec["security"])) > 0 {
			d.call(o.method, at, nil, "X-API-Key", "")
			d.call(o.method, at, nil, "X-API-Key", "", "X-Session", agent)
			d.call(o.method, at+"?nobody=knows", nil)
			d.call(o.method, at, nil) // of a broadcast that is not there, or of a key without a session
		}
		if o.spec["requestBody"] != nil {
			d.call(o.method, at, "{")
			d.call(o.method, at, `{"no such field": 1}`)
			d.call(o.method, at, `{}`, "Content-Type", "text/plain")
			d.call(o.method, at, strings.Repeat(" ", 1<<20)+"{}x")
			d.call(o.method, at, valid(o.id()))
		}
	}
	d.call("POST", "/v1/session", `{"code":"x"}`)
	d.call("GET", "/v1/broadcasts?limit=0", nil)
	d.call("GET", "/v1/broadcasts/999/recipients?limit=1001", nil)
	d.call("GET", "/v1/metrics?locale=de", nil)
	d.call("GET", "/v1/metrics/backlog?from=tomorrow", nil)
	d.shelf.fail(context.DeadlineExceeded)
	d.call("GET", "/v1/metrics/backlog", nil)
	d.shelf.fail(nil)
}

// valid is a body that an operation takes.
func valid(operation string) any {
	content := map[string]any{"texts": map[string]any{"ru": "CANARY Поправка"}}
	switch operation {
	case "createBroadcast", "changeDraft":
		return spec()
	case "changeRate":
		return map[string]any{"rate": 5}
	case "correct":
		return content
	case "test":
		return map[string]any{"customer": 1}
	case "preview":
		content["kind"] = "news"
		return content
	case "estimateAudience":
		return map[string]any{"kind": "news", "audience": map[string]any{"roles": []string{"customer"}}, "rate": 2}
	case "replayJobs":
		return map[string]any{"dry_run": true}
	case "settleJob":
		return map[string]any{"remark": "CANARY told her by phone"}
	case "sendMessage":
		content["customer"] = 1
		return content
	}
	return nil
}

func (d *desk) successes(me int64) {
	code, err := d.sessions.Code(d.ctx, person.Person{ID: me, Roles: []person.Role{person.Admin}, Locale: "ru"})
	d.must(err)
	var s struct{ Token string }
	d.call("POST", "/v1/session", map[string]string{"code": code}, "X-API-Key", "").into(&s)
	d.call("GET", "/v1/session", nil, "X-API-Key", "", "X-Session", s.Token)
	d.call("DELETE", "/v1/session", nil, "X-API-Key", "", "X-Session", s.Token)
	d.call("GET", "/v1/openapi.json", nil, "X-API-Key", "")

	full := spec(set("title", "заголовок"), set("urgency", 3), set("rate", 2.5), set("fallback", "ru"), set("draft", true),
		set("texts", map[string]any{"ru": "да", "en": "yes"}), set("start_at", "2026-01-31T09:00:00+03:00"),
		set("hours", map[string]any{"from": "22:00", "to": "06:00", "zone": "Europe/Moscow"}),
		set("buttons", []any{map[string]any{"labels": map[string]any{"ru": "Ещё"}, "url": "https://example.com"}}),
		set("audience", map[string]any{
			"messengers": []string{"telegram", "vk"}, "locales": []string{"ru"}, "roles": []string{"admin"}, "tags": []string{"beta"},
			"registered": map[string]any{"from": "2020-01-01T00:00:00Z"}, "seen": map[string]any{"to": "2100-01-01T00:00:00Z"},
			"open_ticket": false, "customers": []int64{me},
		}))
	var b broadcast.Broadcast
	d.call("POST", "/v1/broadcasts", full).into(&b)
	d.call("PUT", path(b.ID, ""), spec())
	d.call("PATCH", path(b.ID, ""), map[string]any{"rate": 0})
	d.call("POST", path(b.ID, "/start"), nil)
	d.call("POST", path(b.ID, "/test"), map[string]any{"customer": me})
	d.plan(b.ID)
	for _, what := range []string{"/pause", "/resume", "/cancel", "/resend-uncertain"} {
		if what == "/resend-uncertain" {
			d.exec(`UPDATE broadcasts SET state = 'finished', finished_at = now() WHERE id = $1`, b.ID)
			d.exec(`UPDATE recipients SET outcome = 'failed', error = 'telegram: 400', done_at = now()`)
		}
		d.call("POST", path(b.ID, what), nil)
		d.call("GET", path(b.ID, ""), nil)
		d.call("GET", path(b.ID, "/progress"), nil)
	}
	d.call("POST", path(b.ID, "/correct"), valid("correct"))
	for _, query := range []string{"", "?outcome=failed&limit=1", "?after=0-1"} {
		d.call("GET", path(b.ID, "/recipients")+query, nil)
	}
	for _, query := range []string{"", "?limit=1", "?state=finished,draft&before=1000"} {
		d.call("GET", "/v1/broadcasts"+query, nil)
	}
	d.call("POST", "/v1/preview", valid("preview"))
	var seen struct{ Previews []struct{ Code string } }
	d.call("POST", "/v1/preview", map[string]any{"kind": "news", "texts": map[string]any{"ru": "**нет"}}).into(&seen)
	if len(seen.Previews) != 2 || seen.Previews[0].Code != "bad_markup" {
		d.t.Errorf("previews %+v", seen)
	}
	d.call("POST", "/v1/audience/estimate", valid("estimateAudience"))
	d.call("POST", "/v1/messages", map[string]any{"customer": me, "texts": map[string]any{"ru": "да"}})
	d.metrics()
	d.customers()
	d.jobs()
	d.gauges()
}

// jobs looks at jobs, and does all that can be done to one in review.
func (d *desk) jobs() {
	made, err := d.db.Insert(d.ctx, []job.New{aJob("one"), aJob("two"), aJob("three"), aJob("four")})
	d.must(err)
	at := func(i int, what string) string { return fmt.Sprintf("/v1/jobs/%d%s", made[i].ID, what) }
	d.call("POST", at(0, "/replay"), nil) // which is not in review
	d.exec(`UPDATE jobs SET state = 'needs_review', finished_at = now(), failures = '[{"at": "2026-01-02T03:04:05Z", "what": "review", "stage": "s", "error": "e"}]'
		WHERE id >= $1`, made[0].ID)
	d.call("GET", "/v1/jobs?state=needs_review&kind=test&lane=one&request=&error=&limit=1&before=100000", nil)
	d.call("GET", "/v1/jobs?state=lost", nil)
	for _, query := range []string{"kind=%00", "lane=a%00b", "error=%ff", "request=%00"} {
		if got := d.call("GET", "/v1/jobs?"+query, nil); got.status != 400 {
			d.t.Errorf("%s: %d, want it refused", query, got.status)
		}
	}
	if got := d.call("POST", "/v1/jobs/replay", `{"kind":"\u0000","dry_run":false}`); got.status != 400 {
		d.t.Errorf("a kind that is no text: %d, want it refused, for it is not all kinds", got.status)
	}
	d.call("GET", at(0, ""), nil)
	d.call("POST", at(0, "/replay"), nil)
	d.call("POST", at(1, "/cancel"), nil)
	d.call("POST", at(1, "/cancel"), nil)
	d.call("POST", at(2, "/settle"), valid("settleJob"))
	d.call("POST", at(2, "/settle"), valid("settleJob"))
	var all struct{ Chosen, Replayed int }
	d.call("POST", "/v1/jobs/replay", map[string]any{"kind": "test", "dry_run": true}).into(&all)
	if all.Chosen != 1 || all.Replayed != 0 {
		d.t.Errorf("would replay %+v, want the one that is left", all)
	}
	d.call("POST", "/v1/jobs/replay", map[string]any{"kind": "test", "dry_run": false}).into(&all)
	if all.Replayed != 1 {
		d.t.Errorf("replayed %+v", all)
	}
	var got struct{ State, Remark, SettledBy string }
	d.call("GET", at(3, ""), nil).into(&got)
	if got.State != "accepted" {
		d.t.Errorf("the last one is %+v", got)
	}
}

// gauges looks at what was measured, and at dead letters.
func (d *desk) gauges() {
	var never struct{ At *time.Time }
	if d.call("GET", "/v1/gauges", nil).into(&never); never.At != nil {
		d.t.Errorf("measured at %s, want never", never.At)
	}
	made, err := d.db.Insert(d.ctx, []job.New{aJob("dead")})
	d.must(err)
	_, err = d.db.KeepDead(d.ctx, []job.DeadLetter{
		{Queue: "tickets", Message: "m-1", Job: made[0].ID, CorrelationID: "telegram:1:2", SentAt: d.now()},
		{Queue: "tickets", Message: "m-2", Body: "no hint"},
	})
	d.must(err)
	samples, err := d.db.Measure(d.ctx)
	d.must(err)
	d.must(d.db.PutGauges(d.ctx, samples))
	var got struct {
		Age    float64 `json:"age_seconds"`
		Gauges []gauge.Sample
	}
	if d.call("GET", "/v1/gauges?format=json", nil).into(&got); got.Age < 0 || len(got.Gauges) != len(samples) {
		d.t.Errorf("got %+v, want the %d samples", got, len(samples))
	}
	if r := d.call("GET", "/v1/gauges?format=prometheus", nil); !strings.Contains(string(r.body), `supportbot_dead_letters{hint="true"} 1`+"\n") {
		d.t.Errorf("to be scraped: %s", r.body)
	}
	d.call("GET", "/v1/gauges?format=xml", nil)
	var health struct {
		Schema  struct{ Postgres, ClickHouse int64 }
		Reviews int
		Dead    int `json:"dead_letters"`
	}
	if d.call("GET", "/v1/health", nil).into(&health); health.Schema.Postgres < 11 || health.Schema.ClickHouse != 4 || health.Dead != 2 {
		d.t.Errorf("health is %+v", health)
	}
	d.call("GET", "/v1/dead-letters?limit=0", nil)
	var page struct {
		Letters []struct {
			Job     *int64
			Request string
			Body    string
		} `json:"dead_letters"`
		Next int64
	}
	d.call("GET", "/v1/dead-letters?limit=1", nil).into(&page)
	if len(page.Letters) != 1 || page.Letters[0].Job != nil || page.Letters[0].Body != "no hint" {
		d.t.Errorf("the newest: %+v", page)
	}
	d.call("GET", fmt.Sprint("/v1/dead-letters?before=", page.Next), nil).into(&page)
	if len(page.Letters) != 1 || page.Letters[0].Job == nil || *page.Letters[0].Job != made[0].ID || page.Letters[0].Request != "telegram:1:2" {
		d.t.Errorf("the next page: %+v", page)
	}
}

// crowded: while too much waits in a queue nothing is added to it, and nothing else is
// refused.
func (d *desk) crowded() {
	draft, started := d.make(broadcast.Draft), d.make(broadcast.Scheduled)
	review, aside := aJob("a review"), aJob("waits elsewhere")
	review.Queue, aside.Queue = broadcast.Queue, "tickets"
	waiting := []job.New{review, aside, aside, aJob("a waiting one"), aJob("another")}
	waiting[2].Key += " too"
	waiting[3].Queue, waiting[4].Queue = broadcast.Queue, broadcast.Queue
	made, err := d.db.Insert(d.ctx, waiting)
	d.must(err)
	d.exec(`UPDATE jobs SET state = 'needs_review', finished_at = now() WHERE id = $1`, made[0].ID)
	deps := d.deps
	deps.BacklogMost = 1
	api := d.api
	d.api = notification.New(deps)
	defer func() { d.api = api }()
	jobs := d.number(`SELECT count(*) FROM jobs`)
	for what, body := range map[string]any{
		"/v1/broadcasts": spec(), "/v1/messages": valid("sendMessage"), "/v1/jobs/replay": map[string]any{"dry_run": false, "lane": review.Lane.Name},
		path(draft, "/start"): nil, path(draft, "/test"): valid("test"), path(draft, "/correct"): valid("correct"), path(draft, "/resend-uncertain"): nil,
	} {
		if got := d.call("POST", what, body); got.status != 429 || got.header.Get("Retry-After") != "60" {
			d.t.Errorf("%s: %d, again after %q", what, got.status, got.header.Get("Retry-After"))
		}
	}
	if now := d.number(`SELECT count(*) FROM jobs`); now != jobs {
		d.t.Errorf("%d jobs were made", now-jobs)
	}
	d.call("POST", "/v1/jobs/replay", map[string]any{"dry_run": true}).into(new(any))
	d.call("POST", path(started, "/start"), nil).into(new(any)) // was started before
	noWork := spec()
	noWork["draft"] = true
	d.call("POST", "/v1/broadcasts", noWork).into(new(any))
	d.call("POST", fmt.Sprintf("/v1/jobs/%d/cancel", made[3].ID), nil).into(new(any))
	d.exec(`UPDATE jobs SET run_at = now() + interval '1 hour' WHERE open AND queue = $1 AND id <> $2`, broadcast.Queue, made[4].ID)
	// What waits for its time, or for others, is no backlog of this queue.
	d.call("POST", "/v1/broadcasts", spec()).into(new(any))
	d.exec(`UPDATE jobs SET run_at = now() + interval '1 hour' WHERE open AND queue = $1`, broadcast.Queue)
	d.call("POST", "/v1/jobs/replay", map[string]any{"dry_run": false, "lane": review.Lane.Name}).into(new(any))
}

func aJob(key string) job.New {
	return job.New{Queue: "tickets", Kind: "test", Key: key, Lane: job.Lane{Name: key}, Payload: map[string]string{"text": "CANARY"}}
}

// metrics asks for every metric.
func (d *desk) metrics() {
	d.call("GET", "/v1/metrics", nil)
	d.call("GET", "/v1/metrics?locale=en", nil)
	for _, m := range d.shelf.metrics.All() {
		d.call("GET", "/v1/metrics/"+m.Name, nil)
		d.call("GET", "/v1/metrics/"+m.Name+"?format=csv&from=2026-01-01&to=2026-01-02&tz=Europe/Berlin&messenger=vk", nil)
	}
	d.exec(`INSERT INTO analytics_loads (name, since, reached, started_at) VALUES ('tickets', now(), now(), now())`)
	d.call("GET", "/v1/metrics/backlog?locale=en&category=billing&format=json", nil)
}

func (d *desk) conflicts() {
	id := d.make(broadcast.Cancelling)
	d.call("PUT", path(id, ""), spec())
	d.call("PATCH", path(id, ""), map[string]any{"rate": 1})
	d.call("POST", path(id, "/correct"), valid("correct"))
	for _, what := range []string{"/start", "/pause", "/resume", "/resend-uncertain"} {
		d.call("POST", path(id, what), nil)
	}
	d.call("POST", path(d.make(broadcast.Finished), "/cancel"), nil)
}

// away: without the stores everything is 503.
func (d *desk) away() {
	d.db.Close()
	d.must(d.redis.Close())
	for _, o := range d.doc.operations() {
		var body any
		if o.id() == "signIn" { // which asks for it first
			body = map[string]any{"code": "x"}
		}
		d.call(o.method, strings.NewReplacer("{id}", "1", "{name}", "backlog").Replace(o.path), body)
	}
	if slices.Contains(slices.Collect(maps.Keys(d.doc.seen)), "document 503") {
		d.t.Error("the document needs a store")
	}
}
