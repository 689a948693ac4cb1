package bench

import (
	"bufio"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"supportbot/shared/analytics/loader"
	"supportbot/shared/clickhouse"
	"supportbot/shared/env"
)

// loading is the measured process of a load: the loader, on the databases and the
// Tracker of the environment.
type loading struct {
	since  time.Time
	blocks string // a file with what was inserted
	bare   string // another database
}

// loaded is what came of a load. Took is without the time that the ledger's copies
// took.
type loaded struct {
	Tickets, Rows, Blocks          int
	Took, Known, Inserting, Noting time.Duration
}

// reading is the time for what is none of the others: for Tracker's answers and for
// making rows of them.
func (l loaded) reading() time.Duration { return l.Took - l.Known - l.Inserting - l.Noting }

// inserted is what came of the bare insert.
type inserted struct {
	Rows int
	Took time.Duration
}

func serveLoader(ctx context.Context, args []string) error {
	var o options
	var l loading
	flags := flag.NewFlagSet(serveLoaderCommand, flag.ContinueOnError)
	flags.StringVar(&l.blocks, "blocks", "", "a `file` for the blocks that are inserted")
	flags.StringVar(&l.bare, "bare", "", "the `address` of another database for the same blocks")
	since := flags.String("since", "", "the `time` from which tickets are loaded")
	flags.StringVar(&o.profile, "profile", "", "a `folder` for a CPU profile")
	err := flags.Parse(args)
	if err == nil {
		l.since, err = loader.ParseSince(*since)
	}
	if err != nil {
		return err
	}
	stop, err := o.profiled(fmt.Sprintf("loader-%d", os.Getpid()))
	if err != nil {
		return err
	}
	defer stop()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /usage", serveUsage)
	mux.HandleFunc("POST /load", does(func() (any, error) { return l.load(ctx) }))
	mux.HandleFunc("POST /bare", does(func() (any, error) { return l.insert(ctx) }))
	return present(mux, func() {})
}

// does answers with what f gives.
func does(f func() (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		result, err := f()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(result)
	}
}

func failure(res *http.Response) string {
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1000))
	return string(text)
}

// load loads everything, in as many calls as it takes.
func (l *loading) load(ctx context.Context) (total loaded, err error) {
	file, err := os.Create(l.blocks)
	if err != nil {
		return total, fmt.Errorf("keep blocks: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	defer func() { err = errors.Join(err, out.Flush()) }()
	book := &ledger{copies: gob.NewEncoder(out)}
	load, done, err := book.loader(env.NewReader())
	if err != nil {
		return total, err
	}
	defer done()
	began := time.Now()
	for range loadsMost {
		report, err := load.Since(ctx, l.since)
		if err != nil {
			return total, err
		}
		total.Tickets += report.Tickets
		if report.Done {
			total.Rows, total.Blocks, total.Took = book.rows, book.blocks, time.Since(began)-book.copying
			total.Known, total.Inserting, total.Noting = book.known, book.inserting, book.noting
			return total, nil
		}
	}
	return total, errors.New("the history has no end")
}

// insert inserts the same blocks into the other database.
func (l *loading) insert(ctx context.Context) (all inserted, err error) {
	file, err := os.Open(l.blocks)
	if err != nil {
		return all, fmt.Errorf("read blocks: %w", err)
	}
	defer func() { _ = file.Close() }()
	db, err := clickhouse.Open(clickhouse.Config{URL: env.NewSecret(l.bare)})
	if err != nil {
		return all, err
	}
	defer func() { _ = db.Close() }()
	for blocks := gob.NewDecoder(bufio.NewReader(file)); ; {
		var b block
		if err := blocks.Decode(&b); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return all, fmt.Errorf("read blocks: %w", err)
		}
		began := time.Now()
		if err := b.insert(ctx, db); err != nil {
			return all, err
		}
		all.Took += time.Since(began)
		all.Rows += b.rows()
	}
}
