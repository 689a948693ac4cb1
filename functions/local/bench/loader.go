package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/backend"
	"supportbot/shared/clickhouse"
	"supportbot/shared/env"
)

const (
	insertsLeast  = 0.5 // of the bare insert's rate
	loadsMost     = 20  // calls of a history
	tooBusyToWait = 5 * time.Minute
)

// loader measures loads of ever more tickets, each by a fresh process into a fresh
// database, and inserts the same blocks into another one.
func (s *stage) loader(ctx context.Context, o options, r *report) error {
	if err := s.house(ctx); err != nil {
		return err
	}
	r.note("loader: a fresh process loads the history of a Tracker that tells of any number of tickets, by the loader's own code, Tracker's")
	r.note("limiter set to 100,000/s; Tracker, Redis, Postgres and ClickHouse share the machine with it; the bare insert: the same blocks in the")
	r.note("same order by the same process into another database, before which ClickHouse has merged what there was")
	var peaks []float64
	sizes := []int{o.tickets / 100, o.tickets / 10, o.tickets}
	for _, tickets := range sizes {
		peak, err := s.loads(ctx, o, r, tickets)
		if err != nil {
			return fmt.Errorf("%d tickets: %w", tickets, err)
		}
		peaks = append(peaks, peak)
	}
	r.atMost(fmt.Sprintf("loader, %d tickets : %d, peak of memory", sizes[2], sizes[0]), peaks[2]/peaks[0], growsMost, "")
	r.atMost(fmt.Sprintf("loader, %d tickets : %d, peak of memory", sizes[2], sizes[1]), peaks[2]/peaks[1], growsMost, "")
	return nil
}

// house starts ClickHouse.
func (s *stage) house(ctx context.Context) (err error) {
	if s.clickhouse == nil {
		s.clickhouse, err = backend.ClickHouse(ctx, backend.Options{Durable: true, Dir: filepath.Join(s.dir, "clickhouse")})
	}
	return err
}

// analytics makes a database in ClickHouse, of the newest schema, and gives its
// address.
func (s *stage) analytics(ctx context.Context, name string, views ...clickhouse.View) (address string, db *clickhouse.DB, err error) {
	admin, err := clickhouse.Open(clickhouse.Config{URL: env.NewSecret(s.clickhouse.URL())})
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = admin.Close() }()
	if err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	address = strings.TrimSuffix(s.clickhouse.URL(), "default") + name
	if db, err = clickhouse.Open(clickhouse.Config{URL: env.NewSecret(address)}); err != nil {
		return "", nil, err
	}
	if err := db.Migrate(ctx, views...); err != nil {
		_ = db.Close()
		return "", nil, err
	}
	return address, db, nil
}

// loads measures one size; it gives the peak of memory.
func (s *stage) loads(ctx context.Context, o options, r *report, tickets int) (peak float64, err error) {
	name, label := fmt.Sprintf("tickets%d", tickets), fmt.Sprintf("loader, %d tickets", tickets)
	address, db, err := s.analytics(ctx, name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	bare, other, err := s.analytics(ctx, "bare_"+name)
	if err != nil {
		return 0, err
	}
	_ = other.Close()
	end := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	past, err := startProcess(ctx, serveTrackerCommand, nil, "-tickets", strconv.Itoa(tickets), "-end", end.Format(time.RFC3339))
	if err != nil {
		return 0, err
	}
	defer past.stop()
	vars := trackerVariables(past.url)
	vars["REDIS_URL"], vars["CLICKHOUSE_URL"] = s.redis.URL(), address
	if vars["DATABASE_URL"], err = s.database(ctx, name, migrated); err != nil {
		return 0, err
	}
	if err := s.forget(ctx); err != nil {
		return 0, err
	}
	f, err := startProcess(ctx, serveLoaderCommand, vars,
		"-blocks", filepath.Join(s.dir, name), "-bare", bare, "-since", end.Add(-trackerTime-24*time.Hour).Format(time.RFC3339), "-profile", o.profile)
	if err != nil {
		return 0, err
	}
	defer f.stop()
	if peak, err = measureLoad(ctx, f, db, r, label, tickets); err != nil {
		return 0, err
	}
	return peak, s.sizeOnDisk(ctx, r, db, label)
}

// measureLoad lets a process load, and then insert the same blocks.
func measureLoad(ctx context.Context, f *function, db *clickhouse.DB, r *report, label string, tickets int) (peak float64, err error) {
	var l loaded
	if err := f.post(ctx, "/load", &l); err != nil {
		return 0, err
	}
	u, err := f.usage(ctx)
	if err != nil {
		return 0, err
	}
	if err := complete(ctx, db, tickets, l); err != nil {
		return 0, err
	}
	if err := settled(ctx, db); err != nil {
		return 0, err
	}
	var b inserted
	if err := f.post(ctx, "/bare", &b); err != nil {
		return 0, err
	}
	tellLoad(r, label, l, b, u)
	return u.Peak, nil
}

func tellLoad(r *report, label string, l loaded, b inserted, u usage) {
	whole, inserts, bare := l.Took.Seconds(), l.Inserting.Seconds(), b.Took.Seconds()
	r.figure(label+", tickets", float64(l.Tickets)/whole, "/s")
	r.figure(label+", rows", float64(l.Rows)/whole, "/s")
	r.figure(label+", rows while it inserts", float64(l.Rows)/inserts, "/s")
	r.figure(label+", rows of the bare insert", float64(b.Rows)/bare, "/s")
	r.figure(label+", rows of an insert", float64(l.Rows)/float64(l.Blocks), "")
	r.figure(label+", time for Tracker's answers", 100*l.reading().Seconds()/whole, "%")
	r.figure(label+", time to ask what is in already", 100*l.Known.Seconds()/whole, "%")
	r.figure(label+", time for inserts", 100*inserts/whole, "%")
	r.figure(label+", time for Postgres", 100*l.Noting.Seconds()/whole, "%")
	r.figure(label+", peak of memory", u.Peak, "MB")
	r.figure(label+", CPU per 1000", u.CPU.Seconds()*1000/float64(l.Tickets), "s")
	r.atLeast(label+": rate while it inserts : the bare insert", bare/inserts, insertsLeast)
	r.plain(label+": all of it : the bare insert", bare/whole)
}

// complete makes sure that everything was loaded.
func complete(ctx context.Context, db *clickhouse.DB, tickets int, l loaded) error {
	n, err := number(ctx, db, "SELECT uniqExact(issue) FROM tickets")
	if err == nil && (int(n) != tickets || l.Tickets != tickets) {
		err = fmt.Errorf("%.0f tickets are in, %d were read; want %d", n, l.Tickets, tickets)
	}
	return err
}

// number selects one.
func number(ctx context.Context, db *clickhouse.DB, query string) (n float64, err error) {
	res, err := db.Select(ctx, query, nil)
	if err != nil {
		return 0, err
	}
	if len(res.Rows) != 1 {
		return 0, fmt.Errorf("%s: %d rows", query, len(res.Rows))
	}
	return n, json.Unmarshal(res.Rows[0][0], &n)
}

// settled waits until ClickHouse merges no more.
func settled(ctx context.Context, db *clickhouse.DB) error {
	ctx, cancel := context.WithTimeout(ctx, tooBusyToWait)
	defer cancel()
	for idle := 0; idle < 3; {
		n, err := number(ctx, db, "SELECT count() FROM system.merges")
		if err != nil {
			return fmt.Errorf("wait for merges: %w", err)
		}
		if idle++; n > 0 {
			idle = 0
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("wait for merges: %w", ctx.Err())
		}
	}
	return nil
}

// sizeOnDisk tells what a million rows take when they are merged.
func (s *stage) sizeOnDisk(ctx context.Context, r *report, db *clickhouse.DB, label string) error {
	for _, table := range []string{"tickets", "ticket_events"} {
		if err := db.Exec(ctx, "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
			return err
		}
		mb, err := number(ctx, db, "SELECT 1e6 * sum(bytes_on_disk) / sum(rows) / 1048576 FROM system.parts WHERE database = currentDatabase() AND active AND table = '"+table+"'")
		if err != nil {
			return err
		}
		r.figure(label+", a million rows of "+table+" on disk", mb, "MB")
	}
	return nil
}

// post asks a measured process to do something.
func (f *function) post(ctx context.Context, path string, result any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+path, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("ask for %s: %s", path, failure(res))
	}
	if err := json.NewDecoder(res.Body).Decode(result); err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	return nil
}
