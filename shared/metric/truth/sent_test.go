package truth_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics"
	"supportbot/shared/metric"
)

// sent is what Postgres tells of messages and broadcasts, in the end.
type sent struct {
	messages []analytics.Messages
	batches  []analytics.Batch
}

// sending makes up some months.
func sending(r *rand.Rand) (s sent) {
	for at := day("2025-09-15"); at.Before(day("2026-01-10")); at = at.AddDate(0, 0, 1) {
		for _, messenger := range []string{"telegram", "vk"} {
			for kind, direction := range map[string]string{"ticket.create": "in", "ticket.comment": "in", "deliver.answer": "out"} {
				if n := r.Int64N(40); n > 20 {
					s.messages = append(s.messages, analytics.Messages{Day: at, Messenger: messenger, Direction: direction, Kind: kind, Count: n})
				}
			}
		}
	}
	relations := []string{"", "", "correction", "test"}
	for n := range int64(120) {
		created := day("2025-10-20").Add(time.Duration(r.Int64N(int64(60*24*time.Hour/time.Second))) * time.Second)
		kind, relation := []string{"news", "maintenance", "system", "message"}[r.IntN(4)], relations[r.IntN(4)]
		for part := range int64(1 + r.IntN(3)) {
			b := analytics.Batch{
				Broadcast: n, ID: 10*n + part, Kind: kind, Relation: relation, Messenger: []string{"telegram", "vk"}[part%2],
				CreatedAt: created, Size: 100 + r.IntN(900), ReadAt: created.Add(50 * time.Hour),
			}
			if r.IntN(8) > 0 { // begun, often on another day
				b.StartedAt = created.Add(time.Duration(r.IntN(40)) * time.Hour)
				b.Sent, b.Blocked, b.Failed, b.Uncertain, b.Skipped = r.IntN(80), r.IntN(10), r.IntN(3), r.IntN(2), r.IntN(2)
			}
			s.batches = append(s.batches, b)
		}
	}
	return s
}

// earlier is what was told of it before it was over.
func (s sent) earlier(r *rand.Rand) (e sent) {
	for _, m := range s.messages {
		m.Count = r.Int64N(m.Count)
		e.messages = append(e.messages, m)
	}
	for _, b := range s.batches {
		b.ReadAt, b.StartedAt = b.ReadAt.Add(-time.Duration(1+r.IntN(40))*time.Hour), time.Time{}
		b.Sent, b.Blocked, b.Failed, b.Uncertain, b.Skipped = 0, 0, 0, 0, 0
		e.batches = append(e.batches, b)
	}
	return e
}

// What Postgres has counted is counted once, however often and in whatever order it
// comes.
func TestMetrics_OfWhatWasSent(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	s, db := sending(r), empty(t)
	for _, told := range []sent{s, s.earlier(r), s, s.earlier(r)} {
		if err := db.InsertMessages(ctx, told.messages); err != nil {
			t.Fatal(err)
		}
		if err := db.InsertBatches(ctx, told.batches); err != nil {
			t.Fatal(err)
		}
	}
	all := metrics(t)
	now := day("2026-02-01")
	for name, truth := range sentCounters {
		m, _ := all.Find(name)
		for _, p := range [][2]string{{"2025-10-20", "2025-11-03"}, {"2025-09-01", "2026-01-05"}, {"2025-01-01", "2026-03-01"}, {"2025-11-05", "2025-11-06"}} {
			for _, z := range []string{"Europe/Berlin", "Asia/Kolkata"} {
				for _, messenger := range []string{"", "vk"} {
					q := question{metric.Query{From: day(p[0]), To: day(p[1]), Zone: zone(z), Messenger: messenger, Now: now}, nil}
					got, err := m.Run(ctx, db, q.Query)
					if err != nil {
						t.Fatal(err)
					}
					want := truth(s, q)
					slices.Sort(want)
					if diff := cmp.Diff(want, lines(got.Rows)); diff != "" {
						t.Errorf("%s, %v in %s, %q (-true +got):\n%s", name, p, z, messenger, diff)
					}
				}
			}
		}
	}
}

// sentCounters are all metrics of what was sent.
var sentCounters = map[string]func(sent, question) []string{"messages": sent.byDirection, "broadcasts": sent.byOutcome}

// table is numbers by bucket and series, of which each bucket has all.
type table map[[2]string]int

func (t table) rows(q question) (rows []string) {
	lines := map[string]bool{}
	for at := range t {
		lines[at[1]] = true
	}
	for _, b := range q.buckets() {
		for line := range lines {
			rows = append(rows, row(b, line, t[[2]string{b, line}]))
		}
	}
	return rows
}

// byDirection goes by days of UTC.
func (s sent) byDirection(q question) []string {
	t := table{}
	q.Zone = time.UTC
	for _, m := range s.messages {
		if q.in(m.Day) && (q.Messenger == "" || m.Messenger == q.Messenger) {
			t[[2]string{q.bucket(q.date(m.Day)), m.Direction}] += int(m.Count)
		}
	}
	return t.rows(q)
}

func (s sent) byOutcome(q question) []string {
	t := table{}
	for _, b := range s.batches {
		at := b.StartedAt
		if at.IsZero() {
			at = b.CreatedAt
		}
		if !q.in(at) || b.Kind == "message" || b.Relation == "test" || q.Messenger != "" && b.Messenger != q.Messenger {
			continue
		}
		for outcome, n := range map[string]int{
			"sent": b.Sent, "blocked": b.Blocked, "failed": b.Failed, "uncertain": b.Uncertain, "skipped": b.Skipped,
			"open": b.Size - b.Sent - b.Blocked - b.Failed - b.Uncertain - b.Skipped,
		} {
			if n > 0 {
				t[[2]string{q.bucket(q.date(at)), outcome}] += n
			}
		}
	}
	return t.rows(q)
}
