package postgres_test

import (
	"strings"
	"testing"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	"supportbot/shared/postgres/schema"
)

// tableStats is what the server has counted of the table of recipients.
type tableStats struct{ seqScans, read, updates, hot int64 }

func statsOf(s *studio) (st tableStats) {
	s.t.Helper()
	err := s.conn.QueryRow(s.ctx, `SELECT seq_scan, coalesce(idx_tup_fetch, 0), n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'recipients'`).
		Scan(&st.seqScans, &st.read, &st.updates, &st.hot)
	if err != nil {
		s.t.Fatal(err)
	}
	return st
}

// A whole batch of many, worked on three times over (all claims given back twice): no
// statement reads the table from end to end, none reads the batch for each recipient,
// and the updates touch no index as long as pages have room.
func TestBatch_CostsWhatItsSizeIs(t *testing.T) {
	t.Parallel()
	for name, passes := range map[string]struct {
		analyzed bool
		ahead    int64 // how often reading ahead reads a row: without statistics each page reads what is left
	}{"statistics": {true, 1}, "no statistics yet": {false, 6}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := backendtest.Postgres(t, schema.Migrate)
			s := studioOn(t, url, "", 2)
			s.exec(`ALTER TABLE recipients SET (autovacuum_enabled = false)`) // dead rows stay
			s.crowd(6 * broadcast.BatchSize)
			b, _ := s.planned(news("text"))
			if passes.analyzed {
				s.exec(`ANALYZE`)
			}
			batch := list[int64](s, `SELECT id FROM batches WHERE broadcast = $1 ORDER BY id`, b.ID)[3]
			s.settleStats()
			before := statsOf(s)

			worker := studioOn(t, url, "", 2)
			for _, outcome := range []broadcast.Outcome{"", "", broadcast.Sent} {
				workThrough(worker, batch, outcome)
			}
			worker.settle(b.ID)
			worker.db.Close()
			_ = worker.conn.Close(worker.ctx)
			s.settleStats()
			after := statsOf(s)
			if n := after.seqScans - before.seqScans; n != 0 {
				t.Errorf("%d statements read the whole table", n)
			}
			// Three passes. Each row is read ahead, claimed (looked up and updated),
			// written; ten counts, and three statements at the ends, read the batch.
			most := (3*(passes.ahead+2+1+10+3) + 2) * broadcast.BatchSize
			if n := after.read - before.read; n > most {
				t.Errorf("%d rows were read, want at most %d", n, most)
			}
			updates, hot := after.updates-before.updates, after.hot-before.hot
			if want := int64(3 * 2 * broadcast.BatchSize); updates != want || hot < want*6/10 { // 0 with an index on what changes; how many depends on who looks meanwhile
				t.Errorf("%d updates, %d of them heap-only; want %d, most", updates, hot, want)
			}
			if got := s.broadcast(b.ID).Counts; got.Sent != broadcast.BatchSize {
				t.Errorf("counts %+v", got)
			}
		})
	}
}

// workThrough does what a run of a batch does.
func workThrough(s *studio, batch int64, outcome broadcast.Outcome) {
	s.t.Helper()
	token := newToken()
	if _, err := s.db.Recover(s.ctx, batch, token, false); err != nil {
		s.t.Fatal(err)
	}
	for after, n := 0, 0; ; {
		page, err := s.db.Next(s.ctx, batch, after, 600)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		after = page[len(page)-1].N
		for ; len(page) > 0; n++ {
			part := page[:min(50, len(page))]
			page = page[len(part):]
			s.claimed(batch, token, numbersOf(part)...)
			var rs []broadcast.Result
			for _, r := range part {
				rs = append(rs, broadcast.Result{N: r.N, Outcome: outcome, MessageID: "1234567"})
			}
			s.write(batch, token, rs...)
		}
		if _, err := s.db.Count(s.ctx, batch); err != nil {
			s.t.Fatal(err)
		}
	}
	if _, _, err := s.db.Rest(s.ctx, batch); err != nil {
		s.t.Fatal(err)
	}
}

// settleStats waits until the other sessions have ended and so have told what they
// did, and lets its own tell it.
func (s *studio) settleStats() {
	s.t.Helper()
	s.db.Close()
	waitFor(s.t.(*testing.T), s.url, `SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`)
	_, _ = s.conn.Exec(s.ctx, `SELECT pg_stat_force_next_flush()`) // before PostgreSQL 15 there is none
	s.exec(`SELECT pg_stat_clear_snapshot()`)
	s.db = connect(s.t, s.url, 2)
}

// One customer's message is planned without reading everybody.
func TestPlan_OfOneReadsOne(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.crowd(20_000)
	s.exec(`ANALYZE`)
	one := s.person("", "one")
	before := get[int64](s, `SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname IN ('people', 'identities')`)
	spec := news("text")
	spec.Kind, spec.Audience.Customers = broadcast.Message, []int64{one}
	b, _ := s.planned(spec)
	if b.Counts.Total != 1 {
		t.Errorf("%d recipients, want one", b.Counts.Total)
	}
	if _, err := s.db.Estimate(s.ctx, spec.Audience, spec.Kind, broadcast.Bots{messenger.Telegram: telegramBot}, nil); err != nil {
		t.Fatal(err)
	}
	s.settleStats()
	if n := get[int64](s, `SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname IN ('people', 'identities')`) - before; n != 0 {
		t.Errorf("%d scans of everybody", n)
	}
}

// Lists are read through indexes, whatever they are filtered by.
func TestRecipients_AreReadThroughIndexes(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.crowd(4 * broadcast.BatchSize)
	b, _ := s.planned(news("text"))
	s.exec(`UPDATE recipients SET outcome = CASE WHEN n % 1000 = 0 THEN 'uncertain' ELSE 'sent' END`)
	s.exec(`VACUUM ANALYZE`)
	s.settleStats()
	before := statsOf(s)
	place, total := "", 0
	for {
		page, next, err := s.db.Recipients(s.ctx, b.ID, broadcast.Uncertain, place, 5)
		if err != nil {
			t.Fatal(err)
		}
		total += len(page)
		if place = next; next == "" {
			break
		}
	}
	s.settleStats()
	after := statsOf(s)
	if n := after.read - before.read; total != 4*broadcast.BatchSize/1000 || n > int64(3*total) || after.seqScans != before.seqScans {
		t.Errorf("%d recipients by %d rows read and %d scans", total, n, after.seqScans-before.seqScans)
	}
	plan := strings.Join(list[string](s, `EXPLAIN SELECT r.batch FROM batches b JOIN recipients r ON r.batch = b.id AND r.odd = 'uncertain' WHERE b.broadcast = 1`), "\n")
	if !strings.Contains(plan, "recipients_odd") {
		t.Errorf("plan of resending:\n%s", plan)
	}
}

// Those who got a broadcast that was cancelled at its beginning are not looked for
// among all who did not.
func TestRecipients_FewWereSent(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	s.crowd(5 * broadcast.BatchSize)
	b, _ := s.planned(news("text"))
	batch := s.batch(b.ID)
	s.claimed(batch, tokenA, 1)
	s.write(batch, tokenA, broadcast.Result{N: 1, Outcome: broadcast.Sent})
	s.exec(`UPDATE recipients SET outcome = 'skipped' WHERE outcome IS NULL`)
	s.exec(`VACUUM ANALYZE`)
	s.settleStats()
	before := statsOf(s)
	page, next, err := s.db.Recipients(s.ctx, b.ID, broadcast.Sent, "", 100)
	if err != nil || len(page) != 1 || next != "" {
		t.Errorf("listed %+v, %q, %v", page, next, err)
	}
	s.settleStats()
	after := statsOf(s)
	if n := after.read - before.read; n > 2*broadcast.BatchSize || after.seqScans != before.seqScans {
		t.Errorf("%d rows were read by %d scans, want those of one batch", n, after.seqScans-before.seqScans)
	}
}
