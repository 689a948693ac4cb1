package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/functions/local/deploy"
	"supportbot/migrations"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/tracker"
)

// TestDoctor_NamesWhatIsBroken: a deployment that is in order, and then one thing of
// it is not.
func TestDoctor_NamesWhatIsBroken(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// harm breaks something. It may change the variables.
		harm func(*rig)
		want []string
		only string // "warning": it is no failure
	}{
		{"the platform has another secret for Telegram", func(r *rig) { r.entry.set("/telegram", "another") },
			[]string{"FAILURE  /telegram refuses the secret of TELEGRAM_WEBHOOK_SECRET", "apply"}, ""},
		{"the platform has another secret for VK", func(r *rig) { r.entry.set("/vk", "another") }, []string{"FAILURE  /vk refuses the secret of VK_SECRET"}, ""},
		{"the platform has another secret for Tracker", func(r *rig) { r.entry.set("/tracker", "another") }, []string{"FAILURE  /tracker refuses the secret of TRACKER_WEBHOOK_SECRET"}, ""},
		{"the platform has one of two secrets", func(r *rig) { r.vars["VK_SECRET"] += ",CANARYnext" }, []string{"FAILURE  /vk refuses secret 2 of 2 of VK_SECRET"}, ""},
		{"the platform lets everybody in", func(r *rig) { r.entry.set("/tracker", "", trackerSecret) }, []string{"FAILURE  /tracker answers a call without the secret with 400"}, ""},
		{"Telegram has another secret", (*rig).anotherSecret, []string{"FAILURE  webhook: ", "with a secret that the platform refuses", "make connect sets it", "Wrong response from the webhook: 403 Forbidden"}, ""},
		{"the webhook points elsewhere", func(r *rig) { r.telegram.Connect("https://elsewhere.example/telegram", "") },
			[]string{"FAILURE  webhook: https://elsewhere.example/telegram", "make connect sets it"}, ""},
		{"updates pile up", (*rig).manyUpdates, []string{"FAILURE  101 updates wait for the platform"}, ""},
		{"commands of before", func(r *rig) {
			r.ask(r.vars["TELEGRAM_API_URL"]+"/bot"+telegramToken+"/deleteMyCommands", `{"language_code":"en"}`)
		}, []string{"warning  commands in en: missing; should be: /new a new request"}, "warning"},
		{"the callback server is gone", func(r *rig) { r.vkServers("delete") }, []string{"FAILURE  callback server: missing"}, ""},
		{"the callback server failed", (*rig).failedServer, []string{"FAILURE  callback server: ", "; failed)", "make connect sets it"}, ""},
		{"VK has another secret", func(r *rig) { r.vkServers("edit") }, []string{"FAILURE  callback server: ", "(another secret; ok)"}, ""},
		{"an event is off", func(r *rig) { r.vkCall("groups.setCallbackSettings", "server_id="+r.vkServer()+"&message_event=0") },
			[]string{"FAILURE  events of the callback server: message_allow, message_deny, message_edit, message_new, user_block, user_unblock; version 5.199"}, ""},
		{"long poll is on", func(r *rig) { r.vkCall("groups.setLongPollSettings", "enabled=1") }, []string{"warning  long poll: on; should be: off"}, "warning"},
		{"the confirmation is another", func(r *rig) { r.vars["VK_CONFIRMATION"] = "guessed" }, []string{"FAILURE  VK_CONFIRMATION: guessed; should be: c0de", "/vk answers another confirmation"}, ""},
		{"the token lacks rights", func(r *rig) { r.vk.Lack("messages") }, []string{"FAILURE  rights of VK_TOKEN: docs, manage, photos"}, ""},
		{"a second server", func(r *rig) { r.vk.Connect("http://127.0.0.1:9/old/vk") }, []string{`warning  another callback server, "server"`}, "warning"},
		{"a queue without fields and trigger", (*rig).bareQueue, []string{"FAILURE  field supportMessenger of BARE: missing", "FAILURE  trigger of BARE: missing"}, ""},
		{"a queue is missing", func(r *rig) { r.vars["TRACKER_QUEUE"] = "NONE" }, []string{"FAILURE  could not be asked: queue NONE of the catalogue is not in Tracker"}, ""},
		{"a paused trigger", func(r *rig) { r.changeTrigger(`{"active":false}`) }, []string{"FAILURE  trigger of SUP: is paused, calls "}, ""},
		{"a changed trigger", func(r *rig) { r.changeTrigger(`{"conditions":[{"type":"Event.comment-create"}]}`) }, []string{"FAILURE  trigger of SUP: has other conditions, calls "}, ""},
		{"a trigger with another secret", (*rig).triggerSecret, []string{"FAILURE  trigger of SUP: calls ", "with another secret", "FAILURE  1 of the last 1 call of the trigger of SUP failed", "403, the platform refuses its secret"}, ""},
		{"the robot is in the team", func(r *rig) { r.tracker.Join("SUP", "support-robot") }, []string{"warning  team of SUP: with the robot", "SLA"}, "warning"},
		{"the robot may not create", func(r *rig) { r.tracker.Deny("SUP", "support-robot", "CREATE") }, []string{"warning  rights of support-robot in SUP: READ, WRITE"}, "warning"},
		{"a queue piles up", func(r *rig) { r.queues.set("tickets", "4711") }, []string{"FAILURE  4711 messages wait in the queue tickets"}, ""},
		{"dead letters", func(r *rig) { r.queues.set("broadcasts-dead", "3") }, []string{"FAILURE  3 dead letters in broadcasts-dead"}, ""},
		{"a function breaks", func(r *rig) { r.entry.answer("/vk", http.StatusBadGateway) }, []string{"FAILURE  /vk answers a call without the secret with 502", "its log says why"}, ""},
		{"a path is missing", func(r *rig) { r.entry.answer("/console", http.StatusNotFound) }, []string{"FAILURE  /console answers", "terraform apply"}, ""},
		{"nobody is there", func(r *rig) { r.vars["WEBHOOKS"] = "http://127.0.0.1:9" }, []string{"FAILURE  /telegram does not answer", "FAILURE  webhook: "}, ""},
		{"this machine's clock is wrong", func(r *rig) { r.now = func() time.Time { return time.Now().Add(time.Hour) } }, []string{"warning  ", "127.0.0.1 is 1h0m"}, "warning"},
		{"the database has reviews", (*rig).reviews, []string{"FAILURE  2 jobs in review", "replay <job>", "FAILURE  a job of the lane late has been due for 1h0m"}, ""},
		{"the database is of a release before", func(r *rig) { r.database(`DELETE FROM goose_db_version WHERE version_id > 1`) }, []string{"FAILURE  the schema of Postgres has version 1, and the code needs "}, ""},
		{"the database is of a later release", func(r *rig) { r.database(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (90000, true)`) },
			[]string{"warning  the schema of Postgres has version 90000, newer than this checkout's"}, "warning"},
		{"the database has no schema", func(r *rig) { r.vars["DATABASE_URL"] = backendtest.Postgres(r.t, nil) }, []string{"FAILURE  the database of DATABASE_URL has not what it should have"}, ""},
		{"dead letters that were kept", func(r *rig) {
			r.database(`INSERT INTO dead_letters (queue, message, state) VALUES ('tickets', 'm-1', ''), ('tickets', 'm-2', '')`)
		}, []string{"FAILURE  2 dead letters within the last hour"}, ""},
		{"the analytics stand still", func(r *rig) {
			r.database(`INSERT INTO analytics_loads (name, since, reached, started_at) VALUES ('tickets', now(), now() - interval '5 hours', now())`)
		}, []string{"FAILURE  the analytics were last loaded 5h0m0s ago"}, ""},
		{"the database is out of reach", func(r *rig) { r.vars["DATABASE_URL"] = "postgres://app:CANARY@127.0.0.1:1/none" }, []string{"warning  the database of DATABASE_URL does not answer"}, "warning"},
		{"a certificate is the functions' alone", func(r *rig) {
			r.vars["DATABASE_URL"] = "postgres://app:CANARY@127.0.0.1:1/none?sslmode=verify-full&sslrootcert=/none.crt"
			r.vars["REDIS_URL"], r.vars["REDIS_CA"] = "rediss://:CANARY@127.0.0.1:1/0", "/none.crt"
			r.vars["CLICKHOUSE_URL"], r.vars["CLICKHOUSE_CA"] = "https://app:CANARY@127.0.0.1:1/none", "/none.crt"
		}, []string{"warning  the database of DATABASE_URL was not looked at", "warning  the database of REDIS_URL was not looked at", "warning  the database of CLICKHOUSE_URL was not looked at"}, "warning"},
		{"Redis is out of reach", func(r *rig) { r.vars["REDIS_URL"] = "redis://:CANARY@127.0.0.1:1/0" }, []string{"warning  the database of REDIS_URL does not answer"}, "warning"},
		{"the quota is a new cloud's", (*rig).newCloud, []string{"warning  calls at the same time in a zone: the quota is 10, of which 4 are used", "It has to be 50 at least",
			"ok       functions: the quota is 10, of which 10 are used", "A second environment needs 10 more"}, "warning"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *sandboxtracker.Config) { c.Queues = append(c.Queues, sandboxtracker.DefaultQueue("BARE")) })
			r.swift = true
			r.mustConnect()
			test.harm(r)
			out, err := r.doctor()
			wants(t, out, test.want...)
			if failed := errors.Is(err, deploy.ErrUnwell); failed != (test.only == "") || err != nil && !failed {
				t.Errorf("got %v\n%s", err, out)
			}
		})
	}
}

// bareQueue: the catalogue leads to a queue that nobody has set up.
func (r *rig) bareQueue() {
	r.vars["CATALOGUE"] = `{"categories":[{"key":"x","title":{"ru":"x","en":"x"},"queue":"BARE","type":"task","priority":"normal"}]}`
}

// TestDoctor_MissingField: the one field that a queue lacks is named, and no other.
func TestDoctor_MissingField(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *sandboxtracker.Config) { c.Queues = append(c.Queues, sandboxtracker.DefaultQueue("BARE")) })
	r.mustConnect()
	r.bareQueue()
	for _, field := range tracker.Fields {
		if field != tracker.FieldRating {
			r.ask(r.vars["TRACKER_API_URL"]+"/v3/queues/BARE/localFields", `{"id":"`+string(field)+`","name":{"ru":"x","en":"x"},
				"category":"000000000000000000000003","type":"ru.yandex.startrek.core.fields.StringFieldType"}`)
		}
	}
	out, err := r.doctor()
	if n := strings.Count(out, "  field support"); !errors.Is(err, deploy.ErrUnwell) || n != 1 {
		t.Errorf("%d fields are named, %v\n%s", n, err, out)
	}
	wants(t, out, "FAILURE  field supportRating of BARE: missing; should be: string")
}

// anotherSecret: somebody set the webhook with a secret of before, and a customer wrote.
func (r *rig) anotherSecret() {
	r.later.Store(int64(2 * time.Second)) // Telegram takes one webhook a second
	r.ask(r.vars["TELEGRAM_API_URL"]+"/bot"+telegramToken+"/setWebhook", `{"url":"`+r.vars["WEBHOOKS"]+`/telegram","secret_token":"another","max_connections":20}`)
	r.telegram.Customer(telegram.User{FirstName: "Anna"}).Write("hello")
	r.waits(0, "webhook", http.StatusForbidden, 0)
}

// waits waits for a call of a service's to the platform that ended with a status.
func (r *rig) waits(service int, method string, status, after int) {
	r.t.Helper()
	err := r.calls[service].Wait(r.context(), func(calls []fault.Call) bool {
		return slices.ContainsFunc(calls[after:], func(c fault.Call) bool { return c.Method == method && c.Status == status })
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) manyUpdates() {
	r.telegram.Connect("http://127.0.0.1:9/telegram", "")
	for i := range 101 {
		r.telegram.Customer(telegram.User{FirstName: fmt.Sprint("Customer ", i)}).Write("hello")
	}
}

func (r *rig) vkCall(method, query string) string {
	r.t.Helper()
	return r.ask(r.vars["VK_API_URL"]+"/method/"+method+"?group_id=209&v=5.199&access_token="+vkToken+"&"+query, "")
}

// vkServer is the id of the callback server.
func (r *rig) vkServer() string {
	_, rest, _ := strings.Cut(r.vkCall("groups.getCallbackServers", ""), `"id":`)
	id, _, _ := strings.Cut(rest, ",")
	return id
}

func (r *rig) vkServers(do string) {
	r.vkCall("groups."+do+"CallbackServer", "server_id="+r.vkServer()+"&title=supportbot&secret_key=another&url="+r.vars["WEBHOOKS"]+"/vk")
}

// failedServer: VK asked the server anew, and it did not confirm.
func (r *rig) failedServer() {
	r.vkServers("delete")
	r.entry.answer("/vk", http.StatusInternalServerError)
	before := r.calls[1].Count()
	r.vkCall("groups.addCallbackServer", "title=supportbot&secret_key="+vkSecret+"&url="+r.vars["WEBHOOKS"]+"/vk")
	r.waits(1, vk.CallbackMethod, http.StatusInternalServerError, before)
	r.entry.answer("", 0)
}

// changeTrigger changes the trigger of SUP.
func (r *rig) changeTrigger(body string) {
	at := r.vars["TRACKER_API_URL"] + "/v3/queues/SUP/triggers"
	_, rest, _ := strings.Cut(r.ask(at, "", http.MethodGet), `"id":`)
	for !strings.HasPrefix(rest, "1") || strings.HasPrefix(rest, "1,") { // the first is of an action
		_, rest, _ = strings.Cut(rest, `"id":`)
	}
	id := rest[:strings.IndexAny(rest, ",}")]
	r.ask(at+"/"+id, body, http.MethodPatch)
}

// triggerSecret: the trigger has a secret of before, and an agent commented.
func (r *rig) triggerSecret() {
	r.changeTrigger(`{"actions":[{"type":"Webhook","endpoint":"` + r.vars["WEBHOOKS"] + `/tracker","method":"POST","contentType":"application/json; charset=UTF-8",
		"headers":{"X-Webhook-Secret":"another"},"authContext":{"type":"noauth"},"body":"{\"id\":\"{{issue.id}}\",\"key\":\"{{issue.key}}\"}"}]}`)
	r.ask(r.vars["TRACKER_API_URL"]+"/v3/issues", `{"queue":"SUP","summary":"x"}`)
	if _, err := r.tracker.As("anna").Comment("SUP-1", "hello"); err != nil {
		r.t.Fatal(err)
	}
	r.waits(2, "trigger", http.StatusForbidden, 0)
}

// database gives the deployment a database and does something to it.
func (r *rig) database(statements ...string) {
	r.t.Helper()
	r.vars["DATABASE_URL"] = backendtest.Postgres(r.t, schema.Migrate)
	conn, err := pgx.Connect(r.context(), r.vars["DATABASE_URL"])
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, s := range statements {
		if _, err := conn.Exec(r.context(), s); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) reviews() {
	const insert = `INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, run_at) VALUES `
	r.database(insert+`('tickets', 'k', 'a', 'a', true, '{}', 'needs_review', now())`, insert+`('tickets', 'k', 'b', 'b', true, '{}', 'needs_review', now())`,
		// One that waits for its time, and what stands behind it, is not late.
		insert+`('tickets', 'k', 'c', 'waits', true, '{}', 'queued', now() + interval '1 hour')`, insert+`('tickets', 'k', 'd', 'waits', true, '{}', 'queued', now() - interval '9 hours')`,
		insert+`('tickets', 'k', 'e', 'late', true, '{}', 'queued', now() - interval '1 hour')`)
}

// newCloud is the API of a cloud with the quotas of a new one.
func (r *rig) newCloud() {
	r.vars["YC_TOKEN"], r.vars["YC_FOLDER_ID"] = cloudToken, "b1gfolder"
	r.cloud = r.serve(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch path := q.URL.Path; {
		case q.Header.Get("Authorization") != "Bearer "+cloudToken:
			w.WriteHeader(http.StatusUnauthorized)
		case path == "/resource-manager/resource-manager/v1/folders/b1gfolder":
			_, _ = io.WriteString(w, `{"id":"b1gfolder","cloudId":"b1gcloud"}`)
		case q.URL.Query().Get("resource.id") != "b1gcloud" || q.URL.Query().Get("resource.type") != "resource-manager.cloud":
			w.WriteHeader(http.StatusBadRequest)
		case strings.HasSuffix(path, "/quotaLimits/serverless.functions.count"):
			_, _ = io.WriteString(w, `{"quotaId":"serverless.functions.count","limit":10,"usage":10}`)
		default:
			_, _ = io.WriteString(w, `{"limit":10,"usage":4}`)
		}
	}))
}

func TestDoctor_ClickHouse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.mustConnect()
	_, r.vars["CLICKHOUSE_URL"] = clickhousetest.New(t)
	out, err := r.doctor()
	if err != nil {
		t.Errorf("got %v\n%s", err, out)
	}
	wants(t, out, "ok       the schema of ClickHouse has version ", "the newest", "2 clocks within 5s")
	r.vars["CLICKHOUSE_URL"] = clickhousetest.Empty(t)
	if out, err = r.doctor(); !errors.Is(err, deploy.ErrUnwell) {
		t.Errorf("of a database without a schema: got %v", err)
	}
	wants(t, out, "FAILURE  the database of CLICKHOUSE_URL has not what it should have")
}

// TestDoctor_FromOutside: where no database is reached the platform tells of itself, to
// who has a key.
func TestDoctor_FromOutside(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.swift = true
	r.mustConnect()
	health := func(postgres, clickhouse string, reviews, dead int, late string) string {
		return fmt.Sprintf(`{"now":%q,"schema":{"postgres":%s,"clickhouse":%s},"reviews":%d,"dead_letters":%d,"late_seconds":%s,"late_lane":"a","loaded_until":null}`,
			time.Now().UTC().Format(time.RFC3339Nano), postgres, clickhouse, reviews, dead, late)
	}
	newest := func(files fs.FS) string {
		names, err := fs.Glob(files, "*/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		return strconv.Itoa(len(names))
	}
	postgres, clickhouse := newest(migrations.Postgres), newest(migrations.ClickHouse)
	for _, test := range []struct {
		name, key, health, gauges string
		want                      []string
		fails                     bool
	}{
		{"without a key", "", "", "", []string{"warning  DATABASE_URL, REDIS_URL, CLICKHOUSE_URL: not set, so not looked at", "API_KEY"}, false},
		{"all is well", apiKey, health(postgres, clickhouse, 0, 0, "1.5"), `{"at":"x","age_seconds":60,"gauges":[]}`, []string{
			"ok       the schema of Postgres has version " + postgres, "ok       the schema of ClickHouse has version " + clickhouse, "ok       no job is in review",
			"ok       no job is late", "ok       the reconciler measured within the last", "2 clocks within",
		}, false},
		{"nothing is well", apiKey, health("3", "null", 2, 4, "3600"), `{"at":null,"age_seconds":null,"gauges":[]}`, []string{
			"FAILURE  the schema of Postgres has version 3", "warning  there is no ClickHouse", "FAILURE  2 jobs in review", "FAILURE  4 dead letters within the last hour",
			"FAILURE  a job of the lane a has been due for 1h0m0s", "FAILURE  the reconciler has not measured anything yet",
		}, true},
		{"the reconciler stands still", apiKey, health(postgres, "1", 0, 0, "0"), `{"at":"x","age_seconds":600,"gauges":[]}`, []string{
			"FAILURE  the reconciler stands still: it measured 10m0s ago", "FAILURE  the schema of ClickHouse has version 1",
		}, true},
		{"a key of nobody", "CANARY-another", health(postgres, clickhouse, 0, 0, "0"), "{}", []string{"FAILURE  the platform does not tell how it is: API_KEY is not known or was revoked"}, true},
		{"somebody else answers", apiKey, "<html>CANARY</html>", "{}", []string{"FAILURE  the platform does not tell how it is: its answer is none of the API"}, true},
	} {
		r.vars["API_KEY"] = test.key
		r.entry.tell("/v1/health", test.health)
		r.entry.tell("/v1/gauges", test.gauges)
		out, err := r.doctor()
		if failed := errors.Is(err, deploy.ErrUnwell); failed != test.fails || err != nil && !failed {
			t.Errorf("%s: got %v\n%s", test.name, err, out)
		}
		wants(t, out, test.want...)
	}
}

// TestDoctor_OneHangs: a database that takes the connection and says nothing keeps nobody
// else from being asked, and of what it does not tell the platform tells.
func TestDoctor_OneHangs(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	r := newRig(t)
	r.swift, r.reach = true, 2*time.Second
	r.mustConnect()
	r.vars["DATABASE_URL"], r.vars["REDIS_URL"] = "postgres://app:CANARY@"+silent.Addr().String()+"/none?sslmode=disable", backendtest.Redis(t)
	r.vars["API_KEY"] = apiKey
	r.entry.tell("/v1/health", fmt.Sprintf(`{"now":%q,"schema":{"postgres":1,"clickhouse":null},"reviews":3}`, time.Now().UTC().Format(time.RFC3339Nano)))
	r.entry.tell("/v1/gauges", `{"at":"x","age_seconds":600,"gauges":[]}`)
	out, err := r.doctor()
	if !errors.Is(err, deploy.ErrUnwell) {
		t.Error(err)
	}
	wants(t, out, "warning  the database of DATABASE_URL does not answer", "ok       Redis answers", "FAILURE  3 jobs in review", "FAILURE  the reconciler stands still")
}

// TestDoctor_AsksThePlatformToo: whoever reaches the databases is not told twice what they
// have told, but of the reconciler.
func TestDoctor_AsksThePlatformToo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.swift = true
	r.mustConnect()
	r.database()
	r.vars["API_KEY"] = apiKey
	r.entry.tell("/v1/health", fmt.Sprintf(`{"now":%q,"schema":{"postgres":1,"clickhouse":null},"reviews":3}`, time.Now().UTC().Format(time.RFC3339Nano)))
	r.entry.tell("/v1/gauges", `{"at":"x","age_seconds":600,"gauges":[]}`)
	out, err := r.doctor()
	if !errors.Is(err, deploy.ErrUnwell) {
		t.Error(err)
	}
	wants(t, out, "ok       no job is in review", "FAILURE  the reconciler stands still: it measured 10m0s ago")
	if strings.Contains(out, "3 jobs in review") {
		t.Errorf("told twice:\n%s", out)
	}
}

// TestDoctor_ChangesNothing: not even where everything differs.
func TestDoctor_ChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.database()
	r.vars["REDIS_URL"] = backendtest.Redis(t)
	before := r.effects()
	out, err := r.doctor()
	if !errors.Is(err, deploy.ErrUnwell) || r.effects() != before {
		t.Errorf("got %v and %d changes\n%s", err, r.effects()-before, out)
	}
	wants(t, out, "FAILURE  webhook: missing", "ok       Redis answers", "ok       no job is in review", "CLICKHOUSE_URL: not set")
}
