package notification

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"supportbot/shared/catalogue"
	"supportbot/shared/metric"
)

// question is what is asked of a metric.
type question struct {
	metric.Query
	locale string
	csv    bool
}

const (
	usualDays = 30       // of a period whose begin is not said
	mostDays  = 10 * 366 // of any
)

var (
	firstDay = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDay  = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

	zoneForm     = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)
	categoryForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) // of earlier catalogues too
)

// asked reads the parameters of a query, each of which may stand there once.
type asked struct {
	values url.Values
	wrong  []Field
}

func (q *asked) bad(name, code, format string, args ...any) {
	q.wrong = append(q.wrong, Field{pointer("", name), code, fmt.Sprintf(format, args...)})
}

// only complains about parameters that nobody knows: a misspelt one would be answered
// with other numbers than were asked for, or, where jobs are chosen in the query of a call that
// reads its body, with all of them.
func (q *asked) only(names ...string) {
	there := "there are " + strings.Join(names, ", ")
	if len(names) == 0 {
		there = "there are none"
	}
	for name, values := range q.values {
		switch {
		case !slices.Contains(names, name):
			q.bad(name, "unknown", "there is no such parameter here; %s", there)
		case len(values) > 1:
			q.bad(name, "duplicate", "it is there twice")
		}
	}
}

// oneOf reads a value of a list; an empty one is the fallback.
func (q *asked) oneOf(name, fallback string, all ...string) string {
	value := q.values.Get(name)
	if value == "" {
		return fallback
	}
	if !slices.Contains(all, value) {
		q.bad(name, "unknown", "it has to be one of %s", strings.Join(all, ", "))
	}
	return value
}

func (q *asked) day(name string, fallback time.Time) time.Time {
	value := q.values.Get(name)
	if value == "" {
		return fallback
	}
	day, err := time.Parse(time.DateOnly, value)
	if err != nil || day.Before(firstDay) || day.After(lastDay) {
		q.bad(name, "invalid", "a day from 2000-01-01 to 2100-01-01 is expected, like 2026-01-31")
		return fallback
	}
	return day
}

// zone reads an IANA name. Names that only this machine has are refused: ClickHouse has
// to know it too.
func (q *asked) zone(name string, fallback *time.Location) *time.Location {
	value := q.values.Get(name)
	if value == "" {
		return fallback
	}
	zone, err := time.LoadLocation(value)
	if err != nil || value == "Local" || !zoneForm.MatchString(value) {
		q.bad(name, "unknown", "a time zone is expected, like Europe/Moscow")
		return fallback
	}
	return zone
}

// err is a problem that names every parameter that is wrong.
func (q *asked) err() error {
	if len(q.wrong) == 0 {
		return nil
	}
	slices.SortFunc(q.wrong, func(x, y Field) int { return strings.Compare(x.Pointer, y.Pointer) })
	wrong := q.wrong[:min(len(q.wrong), fieldsMost)]
	said := make([]string, len(wrong))
	for i, f := range wrong {
		said[i] = f.Pointer[1:] + ": " + f.Message
	}
	p := refuse(http.StatusBadRequest, strings.Join(said, "; "))
	p.Errors = wrong
	return p
}

func (a *API) listQuestion(c *call) (locale string, err error) {
	in := &asked{values: c.r.URL.Query()}
	locale = in.oneOf("locale", catalogue.Languages[0], catalogue.Languages...)
	return locale, in.err()
}

// question reads what is asked of a metric. Without a period it is the last 30 days,
// today among them.
func (a *API) question(c *call, m *metric.Metric) (question, error) {
	in := &asked{values: c.r.URL.Query()}
	in.only(append([]string{"from", "to", "tz", "locale", "format"}, m.Parameters...)...)
	q := question{
		Query:  metric.Query{Now: a.d.Now(), Zone: in.zone("tz", a.d.Zone)},
		locale: in.oneOf("locale", catalogue.Languages[0], catalogue.Languages...),
		csv:    in.oneOf("format", formatAccepted(c.r), "json", "csv") == "csv",
	}
	y, month, d := q.Now.In(q.Zone).Date()
	q.To = in.day("to", time.Date(y, month, d+1, 0, 0, 0, 0, time.UTC))
	q.From = in.day("from", q.To.AddDate(0, 0, -usualDays))
	switch {
	case !q.From.Before(q.To):
		in.bad("to", "invalid", "the period ends before it begins; to is the day after its last")
	case q.To.Sub(q.From) > mostDays*24*time.Hour:
		in.bad("from", "invalid", "a period has at most ten years")
	}
	if m.Takes(metric.Messenger) {
		q.Messenger = in.oneOf(metric.Messenger, "", messengers...)
	}
	if m.Takes(metric.Category) {
		q.Category = in.values.Get(metric.Category)
		if q.Category != "" && !categoryForm.MatchString(q.Category) {
			in.bad(metric.Category, "invalid", "the key of a category is expected, as /v1/metrics lists them")
		}
	}
	return q, in.err()
}

// formatAccepted is what the caller's program asks for.
func formatAccepted(r *http.Request) string {
	for _, kind := range strings.Split(r.Header.Get("Accept"), ",") {
		if kind, _, _ = strings.Cut(kind, ";"); strings.TrimSpace(kind) == "text/csv" {
			return "csv"
		}
	}
	return "json"
}
