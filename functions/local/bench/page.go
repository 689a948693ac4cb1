package bench

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/browsertest"
	"supportbot/shared/catalogue"
	"supportbot/shared/clickhouse"
	"supportbot/shared/console"
	"supportbot/shared/metric"
	"supportbot/shared/notification"
	somebody "supportbot/shared/person"
)

// chartsPage measures what the page of charts costs a browser that has nothing of it
// yet: its files, and the time until every chart of the last 30 days is drawn. The
// browser, the API and ClickHouse share this machine.
func chartsPage(ctx context.Context, o options, r *report, all *metric.Catalogue, db *clickhouse.DB) error {
	book, err := catalogue.Load(catalogue.Config{Queue: "SUP"})
	if err != nil {
		return err
	}
	page := console.New(catalogue.Languages)
	mux := http.NewServeMux()
	mux.Handle(console.Path, page)
	mux.Handle(console.Path+"/", page)
	mux.Handle("/v1/", notification.New(notification.Deps{
		Store: analystsStore{}, Sessions: analystsSession{}, Metrics: all, Analytics: db, Catalogue: book, Zone: moscow(),
		Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}))
	web := httptest.NewServer(mux)
	defer web.Close()

	var took []time.Duration
	var w browsertest.Weight
	for range o.rounds {
		address := web.URL + console.Path
		if w, err = browsertest.Weigh(ctx, address+"/#code=bench", address, console.ChartsReady); errors.Is(err, browsertest.ErrMissing) {
			r.note("charts: not measured, %v", err)
			return nil
		} else if err != nil {
			return err
		}
		took = append(took, w.Ready)
	}
	r.figure("charts: files of the page", float64(w.Files), "")
	r.figure("charts: as sent", float64(w.Sent), "bytes")
	r.figure("charts: unpacked", float64(w.Whole), "bytes")
	r.figure("charts: all drawn, from an empty cache, median", percentile(took, 0.5), "ms")
	return nil
}

// analystsSession lets an analyst in, whatever the code is.
type analystsSession struct{ notification.Sessions }

func (analystsSession) Open(ctx context.Context, _ string) (somebody.Session, string, bool, error) {
	s, ok, err := analystsSession{}.Session(ctx, "")
	return s, "token", ok, err
}

func (analystsSession) Session(context.Context, string) (somebody.Session, bool, error) {
	now := time.Now()
	return somebody.Session{Person: 1, Roles: []somebody.Role{somebody.Analyst}, Locale: "ru", Expires: now.Add(time.Hour), Checked: now}, true, nil
}

func (analystsSession) Keep(context.Context, string, somebody.Session) error { return nil }

// analystsStore knows the analyst, and of no load.
type analystsStore struct{ notification.Store }

func (analystsStore) PersonByID(context.Context, int64) (*somebody.Person, error) {
	return &somebody.Person{ID: 1, Roles: []somebody.Role{somebody.Analyst}}, nil
}

func (analystsStore) Load(context.Context, string) (*analytics.Load, error) { return nil, nil }
