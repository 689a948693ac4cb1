package metric

import (
	"time"
)

// Query is what is asked of a metric.
type Query struct {
	// From and To are days, each by its date alone: the period goes from the begin of
	// the first to the begin of the second, in the zone.
	From, To time.Time
	Zone     *time.Location
	// Messenger and Category are keys; "" is all.
	Messenger, Category string
	// Now is the present: what is not over is counted until then.
	Now time.Time
}

// Step is how long the buckets of a metric over time are.
type Step string

// The steps. A week begins on Monday. A bucket at an end of the period has only what
// lies in the period.
const (
	Day   Step = "day"
	Week  Step = "week"
	Month Step = "month"
)

// A chart of more buckets cannot be read.
const (
	mostDays  = 62
	mostWeeks = 53
)

// Step gives the step that suits the length of the period.
func (q Query) Step() Step {
	switch days := int(date(q.To).Sub(date(q.From)).Hours() / 24); {
	case days <= mostDays:
		return Day
	case days <= mostWeeks*7:
		return Week
	}
	return Month
}

// date takes a day out of its zone.
func date(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// Begin gives the first instant of a day in a zone. A day whose midnight the clocks
// leap over begins later, one that has two midnights with the first.
func Begin(day time.Time, zone *time.Location) time.Time {
	midnight := date(day)
	first := time.Time{}
	// The zone's offset at midnight is one of those half a day before and after.
	for _, around := range []time.Time{midnight.Add(-26 * time.Hour), midnight.Add(26 * time.Hour)} {
		_, offset := around.In(zone).Zone()
		at := midnight.Add(-time.Duration(offset) * time.Second).In(zone)
		if date(at).Equal(midnight) && at.Hour() == 0 && at.Minute() == 0 && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		first, _ = time.Date(midnight.Year(), midnight.Month(), midnight.Day(), 12, 0, 0, 0, zone).ZoneBounds()
	}
	return first.UTC()
}

// buckets gives the first day of each bucket of the period that has begun.
func (q Query) buckets() (days []time.Time) {
	step := q.Step()
	for day := floor(date(q.From), step); day.Before(date(q.To)) && !Begin(day, q.Zone).After(q.Now); day = after(day, step) {
		days = append(days, day)
	}
	return days
}

func floor(day time.Time, s Step) time.Time {
	switch s {
	case Week:
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case Month:
		return day.AddDate(0, 0, 1-day.Day())
	}
	return day
}

func after(day time.Time, s Step) time.Time {
	switch s {
	case Week:
		return day.AddDate(0, 0, 7)
	case Month:
		return day.AddDate(0, 1, 0)
	}
	return day.AddDate(0, 0, 1)
}

const instant = "2006-01-02 15:04:05.000"

// parameters are those of the SQL.
func (q Query) parameters() map[string]string {
	return map[string]string{
		"from": Begin(q.From, q.Zone).Format(instant), "to": Begin(q.To, q.Zone).Format(instant),
		"first_day": q.From.Format(time.DateOnly), "end_day": q.To.Format(time.DateOnly),
		"now": q.Now.UTC().Format(instant), "tz": q.Zone.String(), "bucket": string(q.Step()),
		Messenger: q.Messenger, Category: q.Category,
	}
}
