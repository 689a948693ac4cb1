package postgres_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

// created is the job that opens a ticket for somebody in Telegram.
func created(draft, id string) job.New {
	a := chat(messenger.Telegram, id)
	j := newJob(ticket.DraftKey(draft), ticket.InboundLane(a), 1)
	j.Kind, j.Payload = ticket.KindCreate, ticket.Create{Draft: draft, Customer: ticket.Customer{Address: a}, Subject: "canary"}
	return j
}

func TestDossier(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	a, b, other := s.person("tags = '{beta}', news = false", "a"), s.person("", "vk:b"), s.person("", "other")
	if _, err := s.db.Link(s.ctx, a, b); err != nil {
		t.Fatal(err)
	}
	for _, to := range []int64{a, other} {
		spec := news("text")
		spec.Kind, spec.Title, spec.Audience.Customers = broadcast.Message, "to one", []int64{to}
		s.planned(spec)
	}
	for text, to := range map[string][]int64{"to them alone": {a}, "to several": {a, other}} {
		spec := news(text)
		spec.Kind, spec.Title, spec.Audience.Customers = broadcast.Maintenance, text, to
		s.planned(spec)
	}
	out := newJob("out", "out:telegram:"+telegramBot+":a", 2)
	out.Payload = map[string]string{"text": "of somebody else"}
	if _, err := s.db.Insert(s.ctx, []job.New{created("d1", "a"), out, created("d2", "other")}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{a, b} { // by the old id, too
		d, err := s.db.Dossier(s.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if d.Person.ID != a || len(d.Chats) != 2 || len(d.Broadcasts) != 3 || len(d.Requests) != 2 || d.Person.Settings.News || !d.Person.Settings.Status {
			t.Errorf("dossier %+v", d)
		}
		if diff := cmp.Diff([]string{"beta"}, d.Person.Tags); diff != "" {
			t.Error(diff)
		}
		var wrote ticket.Create
		if err := json.Unmarshal(d.Requests[0].Content, &wrote); err != nil || wrote.Subject != "canary" || d.Requests[1].Content != nil {
			t.Errorf("requests %s", d.Requests)
		}
		if got := d.Broadcasts[0]; got.Title != "to one" || got.Kind != "message" || got.Outcome != "" || got.Texts["ru"] != "text" {
			t.Errorf("broadcast %+v", got)
		}
		for _, got := range d.Broadcasts[1:] {
			if alone := got.Title == "to them alone"; alone != (got.Texts["ru"] == got.Title) || !alone && got.Texts != nil {
				t.Errorf("notice %+v", got)
			}
		}
	}
	if _, err := s.db.Dossier(s.ctx, 1<<40); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("of nobody: %v", err)
	}
}

// forget erases somebody as they are now.
func (s *studio) forget(id int64, issues ...string) ([]messenger.Address, error) {
	s.t.Helper()
	steps, err := s.db.Steps(s.ctx, id)
	if err != nil {
		return nil, err
	}
	return s.db.Forget(s.ctx, id, steps, issues...)
}

// What is done for somebody after their tickets were looked for may make another one:
// they are not forgotten before it was looked for again.
func TestForget_Steps(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	a, b := s.person("", "a"), s.person("", "vk:b")
	made, err := s.db.Insert(s.ctx, []job.New{created("old", "a"), created("new", "a")})
	if err != nil {
		t.Fatal(err)
	}
	run := func(id int64) func() {
		return func() {
			c, err := s.db.Claim(s.ctx, "tickets", id, tokenA)
			if err == nil {
				_, err = s.db.Stage(s.ctx, id, tokenA, "done intro", nil)
			}
			if err == nil {
				_, err = s.db.Finish(s.ctx, job.Finish{Job: c.Job, Token: tokenA, Verdict: job.VerdictCompleted})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	run(made[0].ID)()
	for what, meanwhile := range map[string]func(){
		"a ticket was opened": run(made[1].ID),
		"another account was linked": func() {
			if _, err := s.db.Link(s.ctx, a, b); err != nil {
				t.Fatal(err)
			}
		},
		"a job runs": func() {
			s.exec(`UPDATE jobs SET state = 'running', finished_at = NULL, lease_token = $1 WHERE key = 'draft:old'`, tokenB)
		},
	} {
		steps, err := s.db.Steps(s.ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		meanwhile()
		if _, err := s.db.Forget(s.ctx, a, steps); !errors.Is(err, person.ErrBusy) {
			t.Errorf("%s meanwhile: %v, want ErrBusy", what, err)
		}
		s.exec(`UPDATE jobs SET state = 'completed', finished_at = now(), lease_token = NULL WHERE state = 'running'`)
	}
	// What only waits goes with them.
	if _, err := s.db.Insert(s.ctx, []job.New{created("waits", "a")}); err != nil {
		t.Fatal(err)
	}
	if gone, err := s.forget(a); err != nil || len(gone) != 2 {
		t.Errorf("forget: %v, %v", gone, err)
	}
}

// Who is forgotten waits for what has begun: a ticket that may come must not come
// behind our back.
func TestStepsAndDrafts(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	a := s.person("", "a")
	s.person("", "other")
	if _, err := s.db.Insert(s.ctx, []job.New{created("none", "a"), created("maybe", "a"), created("done", "a"), created("opened", "a"), created("theirs", "other")}); err != nil {
		t.Fatal(err)
	}
	under := func(want error) {
		t.Helper()
		if _, err := s.db.Steps(s.ctx, a); !errors.Is(err, want) {
			t.Errorf("steps: %v, want %v", err, want)
		}
	}
	under(nil)
	s.exec(`UPDATE jobs SET stage = 'begin create' WHERE key IN ('draft:maybe', 'draft:theirs')`)
	under(person.ErrBusy)
	s.exec(`UPDATE jobs SET state = 'needs_review' WHERE key = 'draft:maybe'`)
	under(nil)
	s.exec(`UPDATE jobs SET state = 'completed', stage = 'done intro', result = '{"issue": "i1"}' WHERE key = 'draft:done'`)
	s.exec(`UPDATE jobs SET state = 'needs_review', stage = 'begin intro', stage_data = '{"issue": {"issue": "i2"}}' WHERE key = 'draft:opened'`)
	got, err := s.db.Drafts(s.ctx, a)
	for i, d := range got {
		if d.Job == 0 || d.Asked.IsZero() {
			t.Errorf("%s: job %d of %v", d.ID, d.Job, d.Asked)
		}
		got[i].Unseen = person.Unseen{}
	}
	where := chat(messenger.Telegram, "a")
	want := []person.Draft{{Address: where, ID: "maybe"}, {Address: where, ID: "done", Issue: "i1"}, {Address: where, ID: "opened", Issue: "i2"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

// An erasure that waits asks every few seconds, for as long as a messenger is away: that
// costs what is under way, whatever is kept.
func TestSteps_WhoWaitsReadsLittle(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	a := s.person("", "a")
	s.exec(`INSERT INTO jobs (queue, kind, key, lane, strict, payload, state, finished_at)
		SELECT 'tickets', 'k', 'over ' || n, 'lane ' || n, true, '{}', 'completed', now() - interval '2 days' FROM generate_series(1, 20000) n`)
	if _, err := s.db.Insert(s.ctx, []job.New{created("begun", "a")}); err != nil {
		t.Fatal(err)
	}
	s.exec(`UPDATE jobs SET stage = 'begin create', stage_at = now() WHERE open`)
	s.exec(`VACUUM ANALYZE jobs`)
	scans := func() int64 {
		return get[int64](s, `SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'jobs'`)
	}
	s.settleStats()
	before := scans()
	if _, err := s.db.Steps(s.ctx, a); !errors.Is(err, person.ErrBusy) {
		t.Errorf("steps: %v, want ErrBusy", err)
	}
	s.settleStats()
	if n := scans() - before; n != 0 {
		t.Errorf("read all jobs %d times", n)
	}
}

// Nobody may look at a ticket while its customer is forgotten: the look would make a
// delivery to somebody who is nobody any more.
func TestForget_Tickets(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	a := s.person("", "a")
	look := newJob("look", ticket.IssueLane("i1"), 1)
	made, err := s.db.Insert(s.ctx, []job.New{look, created("d1", "a"), newJob("other look", ticket.IssueLane("i2"), 1)})
	if err != nil {
		t.Fatal(err)
	}
	s.exec(`INSERT INTO ticket_cursors (issue, starts_at) VALUES ('i1', now()), ('i2', now())`)
	s.exec(`INSERT INTO answers (issue, comment, version, messages) VALUES ('i1', '1', 1, '{7}'), ('i2', '1', 1, '{7}')`)
	s.exec(`INSERT INTO dead_letters (queue, message, job, state, correlation_id) VALUES
		('tickets', '1', $1, 'queued', ''), ('tickets', '2', NULL, '', $2), ('tickets', '3', $3, 'queued', 'telegram:1:2')`,
		made[1].ID, chat(messenger.Telegram, "a").String()+":15", made[2].ID)
	c, err := s.db.Claim(s.ctx, "tickets", made[0].ID, tokenA)
	if err != nil || c.Job == nil {
		t.Fatalf("claim: %+v, %v", c, err)
	}
	if _, err := s.forget(a, "i1"); !errors.Is(err, person.ErrBusy) {
		t.Errorf("forget while somebody looks: %v, want ErrBusy", err)
	}
	if _, err := s.db.Finish(s.ctx, job.Finish{Job: c.Job, Token: tokenA, Verdict: job.VerdictCompleted}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.forget(a, "i1"); err != nil {
		t.Fatal(err)
	}
	for what, sql := range map[string]string{
		"cursors": `SELECT string_agg(issue, ',') FROM ticket_cursors`, "answers": `SELECT string_agg(issue, ',') FROM answers`,
		"dead letters": `SELECT replace(string_agg(message, ','), '3', 'i2') FROM dead_letters`,
		"looks":        `SELECT string_agg(substr(lane, 7), ',') FROM jobs`,
	} {
		if got := get[string](s, sql); got != "i2" {
			t.Errorf("%s of %s are left, want those of i2", what, got)
		}
	}
}

// A letter that is kept while its customer is forgotten goes with them, or has nothing of
// them: whichever is first.
func TestForget_LettersMeanwhile(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the letter", "the erasure"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 4)
			a := s.person("", "a")
			made, err := s.db.Insert(s.ctx, []job.New{created("d1", "a")})
			if err != nil {
				t.Fatal(err)
			}
			letter := func() {
				l := job.DeadLetter{Queue: "tickets", Message: "1", Job: made[0].ID, CorrelationID: "canary"}
				if _, err := s.db.KeepDead(s.ctx, []job.DeadLetter{l}); err != nil {
					t.Error(err)
				}
			}
			forget := func() {
				if _, err := s.forget(a); err != nil {
					t.Error(err)
				}
			}
			if first == "the letter" { // the erasure waits for a lane
				s.beside(`INSERT INTO lanes (name) VALUES ($1)`, forget, letter, ticket.InboundLane(chat(messenger.Telegram, "a")))
			} else { // it has deleted the job, and is not over
				s.beside(`DELETE FROM jobs WHERE lane = $1`, letter, func() {}, ticket.InboundLane(chat(messenger.Telegram, "a")))
			}
			if got := get[string](s, `SELECT coalesce(string_agg(concat(job, correlation_id, body), ','), '') FROM dead_letters`); got != "" {
				t.Errorf("kept: %s", got)
			}
		})
	}
}

// beside lets one thing begin that waits for what a transaction has done, then does another
// one, and ends the transaction.
func (s *studio) beside(sql string, waits, then func(), args ...any) {
	s.t.Helper()
	conn := s.session()
	tx, err := conn.Begin(s.ctx)
	if err == nil {
		_, err = tx.Exec(s.ctx, sql, args...)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); waits() }()
	waitFor(s.t.(*testing.T), s.url, `SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	then()
	if err := tx.Commit(s.ctx); err != nil {
		s.t.Fatal(err)
	}
	<-done
}
