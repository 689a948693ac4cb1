package broadcast

import (
	"errors"
	"fmt"
	"time"
)

// Wait says how long it is until messages may go out at a time; 0: now. Hours that
// cannot be understood, or never open, are an error.
func (h *Hours) Wait(now time.Time) (time.Duration, error) {
	if h == nil {
		return 0, nil
	}
	zone, err := time.LoadLocation(h.Zone)
	if err != nil {
		return 0, fmt.Errorf("zone of sending hours: %w", err)
	}
	from, err := clock(h.From)
	if err != nil {
		return 0, err
	}
	to, err := clock(h.To)
	if err != nil {
		return 0, err
	}
	if from == to {
		return 0, errors.New("the sending hours end when they begin; leave them out for the whole day")
	}
	open := func(t time.Time) bool {
		t = t.In(zone)
		at := t.Hour()*60 + t.Minute()
		return from <= to && at >= from && at < to || from > to && (at >= from || at < to)
	}
	if open(now) {
		return 0, nil
	}
	// Minute by minute, because a day has minutes that come twice or not at all: the
	// hour in which the hours begin may be one that a clock leaves out.
	for t := now.Truncate(time.Minute); t.Sub(now) < longestWait; {
		if t = t.Add(time.Minute); open(t) {
			return t.Sub(now), nil
		}
	}
	return 0, errors.New("the sending hours never come")
}

// longestWait: minutes that one night leaves out come in the next.
const longestWait = 72 * time.Hour

// clock reads "09:00" as minutes of a day.
func clock(s string) (int, error) {
	t, err := time.Parse("15:04", s)
	if err != nil {
		return 0, errors.New(`sending hours are given as "09:00"`)
	}
	return t.Hour()*60 + t.Minute(), nil
}
