package operate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"supportbot/functions/local/operate"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

// desk is an operator at a deployment.
type desk struct {
	*wiringtest.Rig
	vars map[string]string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{vars: map[string]string{"REDIS_URL": backendtest.Redis(t)}}
	d.Rig = wiringtest.New(t, func(c *wiringtest.Config) { c.Env["REDIS_URL"] = d.vars["REDIS_URL"] })
	web := httptest.NewServer(d.Tracker)
	t.Cleanup(web.Close)
	for name, v := range map[string]string{
		"DATABASE_URL": d.URL, "TRACKER_API_URL": web.URL, "TRACKER_TOKEN": wiringtest.Secret, "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP",
	} {
		d.vars[name] = v
	}
	return d
}

// do runs a command and gives what it says.
func (d *desk) do(name string, args ...string) (string, error) {
	d.T.Helper()
	return d.within(d.Context(), name, args...)
}

func (d *desk) within(ctx context.Context, name string, args ...string) (string, error) {
	d.T.Helper()
	var out bytes.Buffer
	o := &operate.Operator{Env: env.NewReaderFrom(func(name string) (string, bool) { v, ok := d.vars[name]; return v, ok }), Out: &out, User: "anna"}
	err := o.Run(ctx, name, args...)
	if said := out.String() + fmt.Sprint(err); strings.Contains(said, "CANARY") || strings.Contains(said, d.URL) {
		d.T.Errorf("%s says too much: %s", name, said)
	}
	return out.String(), err
}

func (d *desk) must(name string, args ...string) string {
	d.T.Helper()
	out, err := d.do(name, args...)
	if err != nil {
		d.T.Fatalf("%s %v: %v", name, args, err)
	}
	return out
}

func TestRun_Usage(t *testing.T) {
	t.Parallel()
	nothing := env.NewReaderFrom(func(string) (string, bool) { return "", false })
	for _, args := range [][]string{
		{"load"}, {"load", "--since"}, {"load", "--since", "yesterday"}, {"load", "2025-01-01"}, {"ban"}, {"ban", "anna"}, {"ban", "icq:1"}, {"ban", "telegram:"}, {"ban", "telegram:1:2"}, {"ban", "telegram:-5"},
		{"unban"}, {"unban", "vk:1", "vk:2"}, {"cancel"}, {"cancel", "all"}, {"cancel", "1", "-1"}, {"replay", "0"}, {"replay"},
		{"jobs", "all"}, {"jobs", "--state", "lost"}, {"jobs", "--kind"}, {"jobs", "show"}, {"jobs", "show", "x"}, {"jobs", "replay"}, {"jobs", "replay", "--yes", "--state", "completed"}, {"jobs", "replay", "--kind", "x", "--until", "now"},
		{"jobs", "settle", "1"}, {"jobs", "settle"}, {"jobs", "settle", "1", " ", ""}, {"jobs", "settle", "1", "\u200b"}, {"jobs", "settle", "1", strings.Repeat("я", 1001)}, {"jobs", "--before", "x"}, {"jobs", "dead", "x"}, {"jobs", "dead", "--before", "x"},
		{"restore", "now"}, {"restore", "--yes", "--yes"}, {"forget"}, {""},
	} {
		var out bytes.Buffer
		err := (&operate.Operator{Env: nothing, Out: &out}).Run(context.Background(), args[0], args[1:]...)
		if !errors.Is(err, operate.ErrUsage) || operate.ExitCode(err) != 2 || out.Len() > 0 {
			t.Errorf("%q: got %v, %q, want to be told of the usage", args, err, out.String())
			continue
		}
		if want := args[0]; slices.Contains(operate.Names(), want) && !strings.Contains(err.Error(), "usage: "+want+" ") {
			t.Errorf("%q: got %v, want the command's usage", args, err)
		}
	}
	for _, name := range operate.Names() {
		if !strings.Contains(operate.Usage(), "  "+name+" ") {
			t.Errorf("the usage does not know %s: %s", name, operate.Usage())
		}
	}
	for _, args := range [][]string{{"ban", "vk:1"}, {"unban", "vk:1"}, {"cancel", "1"}, {"replay", "1"}, {"restore"}} {
		err := (&operate.Operator{Env: env.NewReaderFrom(func(string) (string, bool) { return "", false }), Out: &bytes.Buffer{}}).Run(
			context.Background(), args[0], args[1:]...)
		if err == nil || operate.ExitCode(err) != 1 || !strings.Contains(err.Error(), "DATABASE_URL is not set") {
			t.Errorf("%q without a database: got %v", args, err)
		}
	}
	if operate.ExitCode(nil) != 0 {
		t.Error("success is no failure")
	}
}

func TestBan(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := wiringtest.VKontakter()
	d.Open(c, "d1")
	user := "vk:" + c.Address.Chat
	banned := func(want string) {
		t.Helper()
		if got := d.Text(`SELECT concat(banned_at IS NOT NULL, ' ', ban_reason) FROM people p JOIN identities i ON i.person_id = p.id WHERE user_id = $1`, c.Address.Chat); got != want {
			t.Errorf("banned: %q, want %q", got, want)
		}
	}
	if _, err := d.do("ban", "vk:1"); err == nil || operate.ExitCode(err) != 1 || !strings.Contains(err.Error(), "nobody has written as vk:1") {
		t.Errorf("of somebody unknown: %v", err)
	}
	if out := d.must("ban", user, "writes", "nonsense"); !strings.Contains(out, "is banned") || !strings.Contains(out, "Chats of this person: 1") {
		t.Errorf("said %q", out)
	}
	banned("t writes nonsense")
	if out := d.must("unban", user); !strings.Contains(out, "is not banned any more") {
		t.Errorf("said %q", out)
	}
	banned("f ")
	d.vars["REDIS_URL"] = "redis://127.0.0.1:1/0"
	if _, err := d.do("ban", user); err == nil || !strings.Contains(err.Error(), "in an hour at the latest") {
		t.Errorf("without Redis: %v", err)
	}
	banned("t ")
}

func TestCancelAndReplay(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := wiringtest.Telegrammer()
	made := d.Insert(wiringtest.Says(c, "m1", "d1", "раз"), wiringtest.Says(c, "m2", "d1", "два"), wiringtest.Says(c, "m3", "d1", "три"))
	id := func(i int) string { return strconv.FormatInt(made[i].ID, 10) }
	d.Exec(`UPDATE jobs SET state = 'needs_review', finished_at = now() WHERE key = 'm2'`)

	if out := d.must("cancel", id(0)); !strings.Contains(out, "job "+id(0)+" is cancelled") {
		t.Errorf("said %q", out)
	}
	d.Want("m1", job.Cancelled)
	d.Exec(`UPDATE jobs SET state = 'running', lease_token = gen_random_uuid() WHERE key = 'm3'`)
	if out := d.must("cancel", id(2)); !strings.Contains(out, "job "+id(2)+" runs") {
		t.Errorf("said %q", out)
	}
	if out := d.must("replay", id(1)); !strings.Contains(out, "job "+id(1)+" gets new attempts") {
		t.Errorf("said %q", out)
	}
	d.Want("m2", job.Accepted)

	out, err := d.do("cancel", id(0), "987654321", id(1))
	if err == nil || !strings.Contains(err.Error(), "job "+id(0)+" has ended") || !strings.Contains(err.Error(), "job 987654321 has ended, or there is no such job") {
		t.Errorf("of jobs that cannot be cancelled: %v", err)
	}
	if !strings.Contains(out, "job "+id(1)+" is cancelled") {
		t.Errorf("the one that can: %q", out)
	}
	if _, err := d.do("replay", id(0)); err == nil || !strings.Contains(err.Error(), "is not in review") {
		t.Errorf("of a job that is over: %v", err)
	}
	for i, want := range [][]string{{"cancelled"}, {"replayed", "cancelled"}, {"cancelled"}} {
		out := d.must("jobs", "show", id(i))
		for _, what := range want {
			if n := strings.Count(out, fmt.Sprintf("%-9s   command line (anna)", what)); n != 1 {
				t.Errorf("who has %s job %d stands there %d times: %s", what, i, n, out)
			}
		}
	}
}

// TestErasureIsNotCalledOff: a customer was promised it; another job is not kept by it.
func TestErasureIsNotCalledOff(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	made := d.Insert(person.EraseJob(7), wiringtest.Says(wiringtest.Telegrammer(), "m1", "d1", "раз"))
	id := func(i int) string { return strconv.FormatInt(made[i].ID, 10) }
	if _, err := d.do("cancel", id(0), id(1)); !errors.Is(err, person.ErrPromised) || !strings.Contains(err.Error(), "job "+id(0)) {
		t.Errorf("cancel: %v", err)
	}
	d.Want(person.EraseKey(7), job.Queued)
	d.Want("m1", job.Cancelled)
	d.Exec(`UPDATE jobs SET state = 'needs_review' WHERE key = $1`, person.EraseKey(7))
	if _, err := d.do("jobs", "settle", id(0), "by", "hand"); !errors.Is(err, person.ErrPromised) {
		t.Errorf("settle: %v", err)
	}
	d.Want(person.EraseKey(7), job.NeedsReview)
}

// TestJobs: what waits is listed page by page, looked at, settled, and replayed as it was told.
func TestJobs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := wiringtest.Telegrammer()
	var news []job.New
	for i := range 60 {
		news = append(news, wiringtest.Says(c, fmt.Sprint("m", i), fmt.Sprint("d", i), "CANARY"))
	}
	made := d.Insert(news...)
	id := func(i int) string { return strconv.FormatInt(made[i].ID, 10) }
	d.Exec(`UPDATE jobs SET state = 'needs_review', finished_at = now(), last_error = 'tracker: 500',
		failures = '[{"at": "2026-01-02T03:04:05Z", "what": "review", "stage": "comment", "error": "tracker: 500"}]' WHERE key <> 'm0'`)

	out := d.must("jobs")
	if n := strings.Count(out, "needs_review"); n != 50 || !strings.Contains(out, "--before "+id(10)) {
		t.Errorf("%d of a page: %s", n, out)
	}
	if out := d.must("jobs", "--before", id(10)); strings.Count(out, "needs_review") != 9 || strings.Contains(out, "more") {
		t.Errorf("the rest: %s", out)
	}
	if out := d.must("jobs", "--state", "accepted,queued", "--kind", "ticket."); !strings.Contains(out, id(0)) || strings.Contains(out, "needs_review") {
		t.Errorf("of a state: %s", out)
	}
	if out := d.must("jobs", "--error", "404"); !strings.Contains(out, "No such jobs") {
		t.Errorf("of an error that none has: %s", out)
	}
	if out := d.must("jobs", "show", id(1)); !strings.Contains(out, "tracker: 500") || !strings.Contains(out, "2026-01-02 03:04:05 UTC  review") {
		t.Errorf("one: %s", out)
	}
	if out := d.must("jobs", "settle", id(1), "told", "her", "by", "phone"); !strings.Contains(out, "settled") {
		t.Errorf("settled: %s", out)
	}
	if out := d.must("jobs", "show", id(1)); !strings.Contains(out, "told her by phone") || !strings.Contains(out, "cancelled") {
		t.Errorf("what was settled: %s", out)
	}
	if _, err := d.do("jobs", "settle", id(1), "again"); err == nil {
		t.Error("settled twice")
	}
	out = d.must("jobs", "replay", "--kind", "ticket.")
	_, until, told := strings.Cut(out, "58 would get new attempts; with --yes --until ")
	if until, _, _ = strings.Cut(until, " "); !told {
		t.Errorf("a dry run: %s", out)
	}
	d.Want("m2", job.NeedsReview)
	d.Exec(`UPDATE jobs SET finished_at = clock_timestamp() WHERE key = 'm3'`) // it failed again meanwhile
	if out := d.must("jobs", "replay", "--kind", "ticket.", "--yes", "--until", until); !strings.Contains(out, "57 get new attempts") {
		t.Errorf("what was told: %s", out)
	}
	d.Want("m2", job.Accepted)
	d.Want("m3", job.NeedsReview)
	if out := d.must("jobs", "replay", "--kind", "ticket.", "--yes"); !strings.Contains(out, "1 get new attempts") {
		t.Errorf("all of a kind: %s", out)
	}
	d.Want("m3", job.Accepted)

	if out := d.must("jobs", "dead"); !strings.Contains(out, "No dead letters") {
		t.Errorf("no letters: %s", out)
	}
	d.Exec(`INSERT INTO dead_letters (queue, message, job, state, body) SELECT 'tickets', 'message ' || i, NULL, '', 'no hint' FROM generate_series(1, 50) i`)
	d.Exec(`INSERT INTO dead_letters (queue, message, job, state, correlation_id) VALUES ('deliveries', 'the last', $1, 'queued', 'vk:7')`, made[3].ID)
	if out := d.must("jobs", "dead"); strings.Count(out, `"no hint"`) != 49 || !strings.Contains(out, "vk:7") || !strings.Contains(out, "--before 2") {
		t.Errorf("letters: %s", out)
	}
	if out := d.must("jobs", "dead", "--before", "2"); strings.Count(out, `"no hint"`) != 1 || strings.Contains(out, "--before") {
		t.Errorf("the rest of them: %s", out)
	}
}

// TestJobs_OthersWords: what services and people said stays within its line of a terminal.
func TestJobs_OthersWords(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	made := d.Insert(wiringtest.Says(wiringtest.Telegrammer(), "m1", "d1", "раз"))
	id := strconv.FormatInt(made[0].ID, 10)
	const said = "502\x1b[2J\nForged\tline\u202e\r"
	d.Exec(`UPDATE jobs SET state = 'needs_review', finished_at = now(), last_error = $1, correlation_id = $1, remark = $1,
		failures = jsonb_build_array(jsonb_build_object('at', now(), 'what', 'failed', 'stage', '', 'error', $1::text))`, said)
	d.Exec(`INSERT INTO dead_letters (queue, message, job, state, correlation_id) VALUES ('tickets', $1, $2, 'queued', $1)`, said, made[0].ID)
	for _, args := range [][]string{nil, {"show", id}, {"dead"}} {
		out := d.must("jobs", args...)
		if !strings.Contains(out, "502 [2J Forged line") || strings.ContainsAny(out, "\x1b\r\t\u202e") {
			t.Errorf("%v: %q", args, out)
		}
	}
}

// TestRestore: a database goes back to a backup while the world has gone on.
func TestRestore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := wiringtest.Telegrammer()
	k := d.Open(c, "d1")
	d.Reply(k, "/reply первый")
	d.Insert(wiringtest.Says(c, "m1", "d1", "вопрос"), wiringtest.Create(c, "d2"))
	d.Exec(`INSERT INTO broadcasts (kind, state, content, audience, created_by) VALUES ('news', 'running', '{}', '{}', 'admin')`)
	d.backup()

	d.Work() // after the backup the comment is written and the second ticket is opened
	k2 := d.Ticket("d2")
	d.Reply(k, "/reply второй")
	d.Reply(k2, "/reply третий")
	d.Exec(`UPDATE jobs SET created_at = created_at - interval '3 hours', published_at = NULL`)
	d.back()
	d.Exec(`UPDATE jobs SET created_at = created_at - interval '3 hours', published_at = NULL, started_at = NULL, stage_at = NULL, finished_at = NULL WHERE open`)

	told := d.must("restore")
	for _, want := range []string{k.Key, k2.Key, "opened since then", "2 tickets changed", "2 jobs", ticket.KindComment, ticket.KindCreate, "1 broadcasts", "Nothing was changed"} {
		if !strings.Contains(told, want) {
			t.Errorf("the plan does not have %q: %s", want, told)
		}
	}
	d.Want("m1", job.Queued)
	told = d.must("restore", "--yes")
	if !strings.Contains(told, "Done.") {
		t.Errorf("said %q", told)
	}
	if got := d.Text(`SELECT state FROM broadcasts`); got != "paused" && got != "pausing" {
		t.Errorf("the broadcast is %s, want it paused", got)
	}

	// The functions work again: triggers, the poll, the reconciler.
	for range 2 {
		d.Look(k.ID, "late trigger")
		d.Look(k2.ID, "another")
	}
	d.once(c, "первый", "второй", "третий")
	if n := len(wiringtest.Comments(d.Ticket("d1"), "вопрос")); n != 1 {
		t.Errorf("the customer's message is in the ticket %d times", n)
	}
	d.Reply(k, "/reply четвёртый")
	d.Reply(k2, "/reply пятый")
	d.once(c, "четвёртый", "пятый")

	// The creation that was under way is done once more, on purpose.
	d.must("replay", strconv.FormatInt(d.Find(ticket.DraftKey("d2")).ID, 10))
	d.Later(0)
	d.Want(ticket.DraftKey("d2"), job.Completed)
	d.Look(k2.ID, "and again")
	if n := len(d.Tracker.Tickets()); n != 2 {
		t.Errorf("%d tickets, want 2", n)
	}
	d.once(c, "первый", "второй", "третий", "четвёртый", "пятый")
}

func TestRestore_Refuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, err := d.do("restore", "--yes"); err == nil || !strings.Contains(err.Error(), "nothing in this database") {
		t.Errorf("of an empty database: %v", err)
	}
	d.Open(wiringtest.Telegrammer(), "d1")
	d.Insert(wiringtest.Says(wiringtest.Telegrammer(), "m1", "d1", "вопрос"))
	d.vars["TRACKER_TOKEN"] = "wrong"
	if _, err := d.do("restore", "--yes"); err == nil || !strings.Contains(err.Error(), "list tickets") {
		t.Errorf("without Tracker: %v", err)
	}
	delete(d.vars, "TRACKER_TOKEN")
	if _, err := d.do("restore", "--yes"); err == nil || !strings.Contains(err.Error(), "TRACKER_TOKEN is not set") {
		t.Errorf("without a token: %v", err)
	}
	d.Want("m1", job.Queued)
}

// once: the customer got each of the answers once.
func (d *desk) once(c ticket.Customer, answers ...string) {
	d.T.Helper()
	for _, text := range answers {
		if got := d.Count(c, text); got != 1 {
			d.T.Errorf("the answer %q was sent %d times to a customer of %s", text, got, messenger.Telegram)
		}
	}
}

// tables names the tables with their columns, but those that are computed.
const tables = `
SELECT table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)
FROM information_schema.columns WHERE table_schema = 'public' AND is_generated = 'NEVER' AND table_name NOT LIKE 'goose%'
GROUP BY table_name`

// backup keeps all rows; back brings them back, as a restored backup would.
func (d *desk) backup() {
	d.T.Helper()
	d.Exec(`CREATE SCHEMA backup`)
	d.eachTable(func(name, columns string) string {
		return `CREATE TABLE backup.` + name + ` AS SELECT ` + columns + ` FROM public.` + name
	})
}

func (d *desk) back() {
	d.T.Helper()
	d.eachTable(func(name, columns string) string {
		return `SET session_replication_role = replica; DELETE FROM public.` + name + `;
			INSERT INTO public.` + name + ` (` + columns + `) OVERRIDING SYSTEM VALUE SELECT ` + columns + ` FROM backup.` + name
	})
}

func (d *desk) eachTable(sql func(name, columns string) string) {
	d.T.Helper()
	ctx := d.Context()
	conn, err := pgx.Connect(ctx, d.URL)
	if err != nil {
		d.T.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(ctx, tables)
	if err != nil {
		d.T.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Columns string }])
	if err != nil || len(all) < 8 {
		d.T.Fatalf("%d tables, %v", len(all), err)
	}
	for _, t := range all {
		if _, err := conn.Exec(ctx, sql(t.Name, t.Columns), pgx.QueryExecModeSimpleProtocol); err != nil {
			d.T.Fatalf("%s: %v", t.Name, err)
		}
	}
}
