package loader

import (
	"context"
	"log/slog"
	"time"
)

// Report is what a call has done. A load in which nothing is wrong has no Gone,
// Incomplete and Owed.
type Report struct {
	Load string `json:"load,omitempty"`
	Busy bool   `json:"busy,omitempty"` // somebody else does it; nothing was done
	Done bool   `json:"done"`           // there was nothing left
	counted
	// Remaining is how many tickets a history has before it; -1: nobody counted.
	Remaining int64     `json:"remaining"`
	PerSecond float64   `json:"per_second"` // tickets
	EndsAt    time.Time `json:"ends_at"`    // estimated; zero: unknown
	// Reached: everything updated before is in or owed.
	Reached time.Time `json:"reached"`
	// Lag is how old the newest update is that may not be in yet, in seconds.
	Lag float64 `json:"lag_seconds"`
}

// counted is what came of the tickets that were found.
type counted struct {
	Tickets    int `json:"tickets"` // that were read and are in
	Rows       int `json:"rows"`
	Known      int `json:"known"`      // were in already
	Gone       int `json:"gone"`       // deleted meanwhile, or moved out of reach
	Incomplete int `json:"incomplete"` // Tracker does not tell which they are, or when they were made or changed
	Owed       int `json:"owed"`       // could not be read, the next load tries again
}

// progress is how fast a call is.
type progress struct {
	begun     time.Time
	remaining int64 // at the begin; -1: nobody counted
	passed    int64
}

func (p progress) left() int64 {
	if p.remaining < 0 {
		return -1
	}
	return max(p.remaining-p.passed, 0)
}

func (p progress) perSecond() float64 {
	return float64(p.passed) / max(time.Since(p.begun).Seconds(), 0.001)
}

func (r *run) report() Report {
	rep := Report{
		Load: r.load.Name, Done: r.done, counted: r.counted, Remaining: r.progress.left(), PerSecond: r.progress.perSecond(),
		Reached: r.load.Reached, Lag: max(r.d.Now().Sub(r.load.Reached).Seconds(), 0),
	}
	if rep.Remaining > 0 && rep.PerSecond > 0 {
		left := time.Duration(float64(rep.Remaining) / rep.PerSecond * float64(time.Second))
		rep.EndsAt = r.d.Now().Add(left).UTC().Truncate(time.Second)
	}
	return rep
}

// tell says how far the load has come.
func (r *run) tell(ctx context.Context, tickets int) {
	r.d.Log.LogAttrs(ctx, slog.LevelInfo, "tickets are loaded", append(r.report().attributes(), slog.Int("inserted", tickets))...)
}

// attributes are what logs say of it: the gauges of a load.
func (rep Report) attributes() []slog.Attr {
	attrs := []slog.Attr{
		slog.String("load", rep.Load), slog.Int("tickets", rep.Tickets), slog.Int("rows", rep.Rows), slog.Int("known", rep.Known),
		slog.Int("gone", rep.Gone), slog.Int("incomplete", rep.Incomplete), slog.Int("owed", rep.Owed), slog.Time("reached", rep.Reached),
		slog.Float64("lag_seconds", rep.Lag), slog.Bool("done", rep.Done), slog.Int64("remaining", rep.Remaining),
		slog.Float64("per_second", rep.PerSecond),
	}
	if !rep.EndsAt.IsZero() {
		attrs = append(attrs, slog.Time("ends_at", rep.EndsAt))
	}
	return attrs
}
