package notification

import (
	"context"
	"net/http"
	"time"

	"supportbot/shared/gauge"
	"supportbot/shared/job"
)

// gauges shows what the reconciler measured last, as JSON or, with format=prometheus, for
// a system that scrapes it. The age is by the clock of the measurement: a reconciler that
// stands still cannot say so itself.
func (a *API) gauges(ctx context.Context, c *call) (any, error) {
	format := c.r.URL.Query().Get("format")
	if format != "" && format != "json" && format != "prometheus" {
		return nil, refuse(http.StatusBadRequest, "format is json or prometheus")
	}
	r, now, err := a.d.Store.Gauges(ctx)
	if err != nil {
		return nil, err
	}
	if format == "prometheus" {
		c.header.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		return text(r.Text(now)), nil
	}
	out := struct {
		At     *time.Time     `json:"at"`          // null: never
		Age    *float64       `json:"age_seconds"` // null: never
		Gauges []gauge.Sample `json:"gauges"`
	}{Gauges: []gauge.Sample{}}
	if !r.At.IsZero() {
		age := r.Age(now).Seconds()
		out.At, out.Age, out.Gauges = &r.At, &age, append(out.Gauges, r.Samples...)
	}
	return out, nil
}

// shownLetter is a job.DeadLetter in JSON.
type shownLetter struct {
	ID       int64      `json:"id"`
	Queue    string     `json:"queue"`
	Message  string     `json:"message"`
	Receives int        `json:"receives"`
	Job      *int64     `json:"job"`   // null: it is no hint of ours, or the job is gone
	State    job.State  `json:"state"` // of the job when the letter was kept
	Stage    string     `json:"stage"`
	Attempts int        `json:"attempts"`
	Request  string     `json:"request"`
	Body     string     `json:"body"` // of what is no hint
	SentAt   *time.Time `json:"sent_at"`
	KeptAt   time.Time  `json:"kept_at"`
}

func (a *API) listDead(ctx context.Context, c *call) (any, error) {
	limit, err := c.number("limit", 50, 200)
	if err != nil {
		return nil, err
	}
	before, err := c.number("before", 1<<62, 1<<62)
	if err != nil {
		return nil, err
	}
	list, err := a.d.Store.DeadLetters(ctx, before, int(limit))
	if err != nil {
		return nil, err
	}
	out := struct {
		Letters []shownLetter `json:"dead_letters"`
		Next    int64         `json:"next,omitempty"` // "before" of the next page
	}{Letters: []shownLetter{}}
	for _, l := range list {
		shown := shownLetter{
			ID: l.ID, Queue: l.Queue, Message: l.Message, Receives: l.Receives, State: l.State, Stage: l.Stage, Attempts: l.Attempts, Request: l.CorrelationID, Body: l.Body,
			SentAt: timeOrNull(l.SentAt), KeptAt: l.KeptAt,
		}
		if l.Job != 0 {
			shown.Job = &l.Job
		}
		out.Letters = append(out.Letters, shown)
	}
	if len(list) == int(limit) {
		out.Next = list[len(list)-1].ID
	}
	return out, nil
}
