package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/postgres/schema"
)

// town is who lives there, by the chats that a broadcast may choose.
func town(s *studio) map[string]int64 {
	day := func(n int) string {
		return fmt.Sprintf("created_at = timestamptz '2026-02-01Z' + make_interval(days => %d)", n)
	}
	ids := map[string]int64{
		"plain":   s.person(day(0), "plain"),
		"english": s.person("locale = 'en', "+day(1), "english"),
		"agent":   s.person("roles = '{agent}', "+day(2), "agent"),
		"boss":    s.person("roles = '{admin,agent}', news = false, maintenance = false, "+day(3), "boss"),
		"tagged":  s.person("tags = '{beta,gold}', "+day(4), "tagged"),
		"nonews":  s.person("news = false, "+day(5), "nonews"),
		"nomaint": s.person("maintenance = false, "+day(6), "nomaint"),
		"banned":  s.person("banned_at = now(), "+day(7), "banned"),
		"gone":    s.person(day(8), "gone"),
		"both":    s.person(day(9), "telegram:both", "vk:both2"),
		"vkonly":  s.person(day(10), "vk:vkonly"),
		"lost":    s.person(day(11), "telegram:lost", "vk:lost2"),
		"foreign": s.person(day(12), "foreign"),
	}
	s.exec(`UPDATE identities SET reachable = false WHERE chat IN ('gone', 'lost2')`)
	s.exec(`UPDATE identities SET bot = 'another' WHERE chat = 'foreign'`)
	return ids
}

func TestPlan_Audience(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	at := func(day int) *time.Time {
		t := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, day)
		return &t
	}
	seen := func(day int) *time.Time { t := time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC); return &t }
	tests := []struct {
		name string
		kind broadcast.Kind
		a    broadcast.Audience
		want string
	}{
		{"news to all", broadcast.News, broadcast.Audience{}, "agent both2 english lost nomaint plain tagged vkonly"},
		{"maintenance to all", broadcast.Maintenance, broadcast.Audience{}, "agent both2 english lost nonews plain tagged vkonly"},
		{"system by role, whatever they opted out of", broadcast.System, broadcast.Audience{Roles: []person.Role{person.Agent}}, "agent boss"},
		{"system without a role is to nobody", broadcast.System, broadcast.Audience{}, ""},
		{"news by role", broadcast.News, broadcast.Audience{Roles: []person.Role{person.Admin, person.Agent}}, "agent"},
		{"customers are those without a role", broadcast.News, broadcast.Audience{Roles: []person.Role{person.Customer}}, "both2 english lost nomaint plain tagged vkonly"},
		{"one messenger: there is their only copy", broadcast.News, broadcast.Audience{Messengers: []messenger.Name{messenger.Telegram}}, "agent both english lost nomaint plain tagged"},
		{"the other", broadcast.News, broadcast.Audience{Messengers: []messenger.Name{messenger.VK}}, "both2 vkonly"},
		{"locale", broadcast.News, broadcast.Audience{Locales: []string{"en"}}, "english"},
		{"any of the tags", broadcast.News, broadcast.Audience{Tags: []string{"gold", "silver"}}, "tagged"},
		{"every criterion", broadcast.News, broadcast.Audience{Tags: []string{"gold"}, Locales: []string{"en"}}, ""},
		{"registered between", broadcast.News, broadcast.Audience{Registered: &broadcast.Span{From: at(1), To: at(4)}}, "agent english"},
		{"registered since", broadcast.News, broadcast.Audience{Registered: &broadcast.Span{From: at(9)}}, "both2 lost vkonly"},
		{"seen since, anywhere", broadcast.News, broadcast.Audience{Seen: &broadcast.Span{From: seen(1)}}, "both2 lost"},
		{"not seen since, anywhere", broadcast.News, broadcast.Audience{Seen: &broadcast.Span{To: seen(1)}}, "agent english nomaint plain tagged vkonly"},
		{"with an open ticket, in any chat", broadcast.News, broadcast.Audience{OpenTicket: &yes}, "both2 plain"},
		{"without", broadcast.News, broadcast.Audience{OpenTicket: &no}, "agent english lost nomaint tagged vkonly"},
	}
	s := newStudio(t, 2)
	ids := town(s)
	tickets := []messenger.Address{
		{Messenger: messenger.Telegram, Bot: telegramBot, Chat: "plain"}, {Messenger: messenger.Telegram, Bot: telegramBot, Chat: "both"},
		{Messenger: messenger.Telegram, Bot: telegramBot, Chat: "banned"}, {Messenger: messenger.VK, Bot: telegramBot, Chat: "vkonly"},
	}
	tests = append(tests, struct {
		name string
		kind broadcast.Kind
		a    broadcast.Audience
		want string
	}{"a message to customers by id, opted out or not", broadcast.Message, broadcast.Audience{Customers: []int64{ids["boss"], ids["both"], ids["banned"], ids["gone"], 1 << 50}}, "boss both2"},
		struct {
			name string
			kind broadcast.Kind
			a    broadcast.Audience
			want string
		}{"a message without customers is to nobody", broadcast.Message, broadcast.Audience{}, ""})
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := *s
			s.t = t
			spec := news("text")
			spec.Kind, spec.Audience = tc.kind, tc.a
			b, jobs := s.create(spec)
			c := s.claim(jobs[0].ID)
			p := planOf(b, c)
			p.Tickets = tickets
			if _, err := s.db.Plan(s.ctx, p); err != nil {
				t.Fatal(err)
			}
			got := list[string](&s, `SELECT i.chat FROM batches b JOIN recipients r ON r.batch = b.id JOIN identities i ON i.id = r.identity
				WHERE b.broadcast = $1 AND b.messenger = i.messenger AND b.bot = i.bot ORDER BY i.chat`, b.ID)
			if want := strings.Fields(tc.want); !slices.Equal(got, want) {
				t.Errorf("recipients %v, want %v", got, want)
			}
			by, err := s.db.Estimate(s.ctx, tc.a, tc.kind, bothBots, tickets)
			if err != nil {
				t.Fatal(err)
			}
			total := 0
			for _, n := range by {
				total += n
			}
			after := s.broadcast(b.ID)
			if total != len(got) || after.Counts.Total != len(got) {
				t.Errorf("estimate %v and total %d, want %d", by, after.Counts.Total, len(got))
			}
			if want := broadcast.Running; len(got) > 0 && after.State != want || len(got) == 0 && after.State != broadcast.Finished {
				t.Errorf("state %s with %d recipients", after.State, len(got))
			}
		})
	}
}

func TestPlan_TieOfLastUseIsBrokenTheSameWayAlways(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.person("", "telegram:a", "vk:b")
	s.exec(`UPDATE identities SET seen_at = '2026-01-01Z'`)
	for range 3 {
		b, _ := s.planned(news("text"))
		if got := get[string](s, `SELECT messenger FROM batches WHERE broadcast = $1`, b.ID); got != "vk" {
			t.Errorf("went to %s, want the identity that was made last", got)
		}
	}
}

func TestPlan_BatchesAndTheirJobs(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.crowd(2*broadcast.BatchSize + 1)
	s.person("", "vk:1")
	spec := news("text")
	spec.Urgency = 4
	b, jobs := s.planned(spec)
	type row struct {
		Messenger string
		Number    int
		Size      int
		First     int
		Last      int
		Count     int
	}
	rows, err := s.conn.Query(s.ctx, `SELECT b.messenger, b.number, b.size, min(r.n), max(r.n), count(DISTINCT (r.n, r.identity))
		FROM batches b JOIN recipients r ON r.batch = b.id GROUP BY b.id ORDER BY b.id`)
	if err != nil {
		t.Fatal(err)
	}
	var got []row
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.Messenger, &r.Number, &r.Size, &r.First, &r.Last, &r.Count); err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	const full = broadcast.BatchSize
	want := []row{{"telegram", 1, full, 1, full, full}, {"vk", 1, 1, 1, 1, 1}, {"telegram", 2, full, 1, full, full}, {"telegram", 3, 1, 1, 1, 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	if b.Counts.Total != 2*full+2 || b.StartedAt == nil {
		t.Errorf("total %d, started at %v", b.Counts.Total, b.StartedAt)
	}
	if n := get[int](s, `SELECT count(DISTINCT identity) FROM recipients`); n != 2*full+2 {
		t.Errorf("%d different recipients", n)
	}
	for _, batch := range list[int64](s, `SELECT id FROM batches`) {
		j, err := s.db.Find(s.ctx, broadcast.BatchKey(batch, 0))
		if err != nil || j == nil {
			t.Fatalf("job of batch %d: %v, %v", batch, j, err)
		}
		var in broadcast.BatchJob
		run := job.Run{Job: *j}
		if err := run.Decode(&in); err != nil || in != (broadcast.BatchJob{Broadcast: b.ID, Batch: batch}) {
			t.Errorf("payload %+v, %v", in, err)
		}
		m := get[string](s, `SELECT messenger FROM batches WHERE id = $1`, batch)
		if want := broadcast.Lane(messenger.Name(m), bothBots[messenger.Name(m)]); j.Lane != want || j.Priority != 4 || j.Sequence != batch || j.Queue != broadcast.Queue || j.Kind != broadcast.KindBatch {
			t.Errorf("job %+v", j)
		}
		if got := get[int64](s, `SELECT job FROM batches WHERE id = $1`, batch); got != j.ID {
			t.Errorf("batch names job %d, want %d", got, j.ID)
		}
	}
	lanes := map[string]bool{}
	for _, in := range jobs {
		lanes[in.Lane] = true
	}
	if len(jobs) != 2 || len(lanes) != 2 {
		t.Errorf("jobs to publish %+v, want the first of each lane", jobs)
	}
}

func TestPlan_RepeatedChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.person("", "a")
	b, jobs := s.create(news("text"))
	c := s.claim(jobs[0].ID)
	first, err := s.db.Plan(s.ctx, planOf(b, c))
	if err != nil {
		t.Fatal(err)
	}
	s.person("", "late") // whoever comes now is not in
	again, err := s.db.Plan(s.ctx, planOf(b, c))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".RunIn" }, cmp.Ignore())); diff != "" || len(again) != 1 {
		t.Errorf("jobs to publish differ (-first +again):\n%s", diff)
	}
	if n := get[int](s, `SELECT count(*) FROM recipients`); n != 1 {
		t.Errorf("%d recipients, want one", n)
	}
}

func TestPlan_Refused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		spoil func(s *studio, b broadcast.Broadcast, p *broadcast.Plan)
		err   error
		state broadcast.State
	}{
		{"the lease is lost", func(s *studio, _ broadcast.Broadcast, p *broadcast.Plan) { p.Token = newToken() }, job.ErrLost, broadcast.Planning},
		{"the job has ended", func(s *studio, _ broadcast.Broadcast, p *broadcast.Plan) {
			s.exec(`UPDATE jobs SET state = 'completed', lease_token = NULL`)
		}, job.ErrLost, broadcast.Planning},
		{"cancelled", func(s *studio, b broadcast.Broadcast, _ *broadcast.Plan) {
			if _, err := s.db.CancelBroadcast(s.ctx, b.ID); err != nil {
				s.t.Fatal(err)
			}
		}, nil, broadcast.Cancelled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 2)
			s.person("", "a")
			b, jobs := s.create(news("text"))
			p := planOf(b, s.claim(jobs[0].ID))
			tc.spoil(s, b, &p)
			made, err := s.db.Plan(s.ctx, p)
			if !errors.Is(err, tc.err) || len(made) != 0 {
				t.Errorf("plan: %v, %v; want %v", made, err, tc.err)
			}
			s.wantState(b.ID, tc.state)
			if n := get[int](s, `SELECT (SELECT count(*) FROM recipients) + (SELECT count(*) FROM batches) + (SELECT count(*) FROM jobs WHERE kind = 'broadcast.batch')`); n != 0 {
				t.Errorf("%d rows were left", n)
			}
		})
	}
}

// A cancellation of what is being planned does not wait for it, and wins.
func TestPlan_CancelledUnderWay(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 4)
	s.person("", "a")
	b, jobs := s.create(news("text"))
	c := s.claim(jobs[0].ID)
	block, err := s.session().Begin(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	// The snapshot waits for the table that it fills.
	if _, err := block.Exec(s.ctx, `LOCK TABLE recipients IN SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		made, err := s.db.Plan(s.ctx, planOf(b, c))
		if err == nil && len(made) > 0 {
			err = fmt.Errorf("jobs %v of a cancelled broadcast", made)
		}
		done <- err
	}()
	waitFor(t, s.url, waitingForLocks(1))
	if err := s.db.Renew(s.ctx, c.job.Lane.Name, c.token); err != nil {
		t.Errorf("renewal while it is planned: %v", err)
	}
	if got, err := s.db.CancelBroadcast(s.ctx, b.ID); err != nil || got.State != broadcast.Cancelled {
		t.Errorf("cancel: %s, %v", got.State, err)
	}
	if err := block.Commit(s.ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	s.wantState(b.ID, broadcast.Cancelled)
	if n := get[int](s, `SELECT (SELECT count(*) FROM recipients) + (SELECT count(*) FROM batches)`); n != 0 {
		t.Errorf("%d rows were left", n)
	}
}

func waitingForLocks(n int) string {
	return fmt.Sprintf(`SELECT count(*) = %d FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`, n)
}

func TestPlan_ManyAtOnceMakeOnePlan(t *testing.T) {
	t.Parallel()
	url := backendtest.Postgres(t, schema.Migrate)
	for _, via := range []string{"", backendtest.PgBouncer(t, url)} {
		s := studioOn(t, url, via, 6)
		s.crowd(300)
		want := get[int](s, `SELECT count(*) FROM identities`)
		b, jobs := s.create(news("text"))
		c := s.claim(jobs[0].ID)
		var wg sync.WaitGroup
		for range 6 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				made, err := s.db.Plan(s.ctx, planOf(b, c))
				if err != nil || len(made) != 1 {
					t.Errorf("plan: %v, %v", made, err)
				}
			}()
		}
		wg.Wait()
		if n := get[int](s, `SELECT count(*) FROM batches b JOIN recipients r ON r.batch = b.id WHERE b.broadcast = $1`, b.ID); n != want {
			t.Errorf("%d recipients, want %d", n, want)
		}
		s.wantState(b.ID, broadcast.Running)
	}
}

func TestPlan_Correction(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	for _, chat := range []string{"sent", "uncertain", "blocked", "open", "nonews", "gone"} {
		s.person("", chat)
	}
	s.person("", "telegram:both", "vk:both2")
	spec := news("wrong")
	spec.Audience.Seen = &broadcast.Span{To: ptr(time.Now())} // true of them then, not any more
	b, _ := s.planned(spec)
	outcome := map[string]string{"sent": "sent", "uncertain": "uncertain", "blocked": "blocked", "nonews": "sent", "gone": "sent", "both2": "sent"}
	for chat, o := range outcome {
		s.exec(`UPDATE recipients r SET outcome = $2 FROM identities i WHERE i.id = r.identity AND i.chat = $1`, chat, o)
	}
	s.exec(`UPDATE people SET news = false FROM identities i WHERE i.person_id = people.id AND i.chat = 'nonews'`)
	s.exec(`UPDATE identities SET reachable = false WHERE chat = 'gone'`)
	s.exec(`UPDATE identities SET seen_at = now() + interval '1 hour' WHERE chat = 'both'`) // they use the other one now
	s.person("", "never written to")
	correct := broadcast.New{Spec: news("right"), By: "key:test", Parent: b.ID, Relation: broadcast.Correction}
	if _, _, _, err := s.db.CreateBroadcast(s.ctx, correct); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("correction of a running broadcast: %v, want ErrNotFound", err)
	}
	if got, err := s.db.CancelBroadcast(s.ctx, b.ID); err != nil || got.State != broadcast.Cancelled {
		t.Fatalf("cancel: %s, %v", got.State, err)
	}
	correct.Audience = spec.Audience
	c, _, jobs, err := s.db.CreateBroadcast(s.ctx, correct)
	if err != nil {
		t.Fatal(err)
	}
	c, _ = s.plan(c, jobs[0].ID)
	got := list[string](s, `SELECT i.chat FROM batches b JOIN recipients r ON r.batch = b.id JOIN identities i ON i.id = r.identity
		WHERE b.broadcast = $1 ORDER BY i.chat`, c.ID)
	if want := []string{"both2", "sent", "uncertain"}; !slices.Equal(got, want) {
		t.Errorf("corrected %v, want %v", got, want)
	}
	if c.Parent != b.ID || c.Relation != broadcast.Correction {
		t.Errorf("parent %d, relation %s", c.Parent, c.Relation)
	}
}

func ptr[T any](v T) *T { return &v }
