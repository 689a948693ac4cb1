package truth_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/metric"
)

// question is a metric's question to the facts. All of it is by local days: a time
// belongs to a period or a bucket if its date by the zone's clock does.
type question struct {
	metric.Query
	desk *desk
}

// A row is its values, written and joined by |. Of a metric over time the rows begin
// with the first day of their bucket.
type counter func(q question, all []fact) (rows []string)

// counters are all metrics of tickets.
var counters = map[string]counter{
	"tickets_by_messenger": byMessenger,
	"tickets_by_category":  byCategory,
	"tickets_by_type":      byType,
	"load_by_hour":         byHour,
	"first_response":       firstResponse,
	"resolution_time":      resolutionTime,
	"ratings":              ratings,
	"overdue":              overdue,
	"reopened":             reopened,
	"time_in_status":       timeInStatus,
	"backlog":              backlog,
}

// date is a day by the zone's clock.
func (q question) date(at time.Time) string { return at.In(q.Zone).Format(time.DateOnly) }

// in reports whether a time is in the period.
func (q question) in(at time.Time) bool {
	d := q.date(at)
	return d >= q.From.Format(time.DateOnly) && d < q.To.Format(time.DateOnly)
}

// bucket gives the first day of the bucket that a day is in.
func (q question) bucket(day string) string {
	d, _ := time.Parse(time.DateOnly, day)
	days := q.To.Sub(q.From).Hours() / 24
	switch {
	case days > 371:
		return d.Format("2006-01") + "-01"
	case days > 62:
		for d.Weekday() != time.Monday {
			d = d.AddDate(0, 0, -1)
		}
	}
	return d.Format(time.DateOnly)
}

// buckets are those of the period that have begun.
func (q question) buckets() (all []string) {
	for d := q.From; d.Before(q.To); d = d.AddDate(0, 0, 1) {
		b := q.bucket(d.Format(time.DateOnly))
		if b <= q.date(q.Now) && !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	return all
}

// wanted are the facts that the filters leave.
func (q question) wanted(all []fact) []fact {
	return slices.DeleteFunc(slices.Clone(all), func(f fact) bool {
		return q.Messenger != "" && f.messenger != q.Messenger || q.Category != "" && f.category != q.Category
	})
}

func row(values ...any) string {
	words := make([]string, len(values))
	for n, v := range values {
		switch v := v.(type) {
		case string:
			words[n] = v
		case int:
			words[n] = strconv.Itoa(v)
		case float64:
			if words[n] = strconv.FormatFloat(v, 'g', -1, 64); math.IsNaN(v) {
				words[n] = "null"
			}
		}
	}
	return strings.Join(words, "|")
}

// groups puts facts together by a key; those with an empty time are left out.
func groups(q question, all []fact, at func(fact) time.Time, key func(fact) string) map[string][]fact {
	by := map[string][]fact{}
	for _, f := range all {
		if t := at(f); !t.IsZero() && q.in(t) {
			by[key(f)] = append(by[key(f)], f)
		}
	}
	return by
}

func opened(f fact) time.Time { return f.opened }

// openedIn puts facts together by the bucket in which they were opened.
func (q question) openedIn(all []fact) map[string][]fact {
	return groups(q, all, opened, func(f fact) string { return q.bucket(q.date(f.opened)) })
}

// milliseconds of each.
func mean(list []int64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sum := int64(0)
	for _, v := range list {
		sum += v
	}
	return float64(sum) / float64(len(list)) / 1000
}

func median(list []int64) float64 {
	n := len(list)
	if n == 0 {
		return math.NaN()
	}
	slices.Sort(list)
	return (float64(list[(n-1)/2]) + float64(list[n/2])) / 2 / 1000
}

func share(part, whole int) float64 { return float64(part) / float64(whole) }

func count(all []fact, is func(fact) bool) (n int) {
	for _, f := range all {
		if is(f) {
			n++
		}
	}
	return n
}

func byMessenger(q question, all []fact) (rows []string) {
	in := q.openedIn(all)
	lines := map[string]bool{}
	for _, list := range in {
		for _, f := range list {
			lines[f.messenger] = true
		}
	}
	for _, b := range q.buckets() {
		for m := range lines {
			rows = append(rows, row(b, m, count(in[b], func(f fact) bool { return f.messenger == m })))
		}
	}
	return rows
}

func byCategory(q question, all []fact) (rows []string) {
	for key, list := range groups(q, all, opened, func(f fact) string { return f.category + "|" + f.messenger }) {
		rows = append(rows, row(key, len(list)))
	}
	return rows
}

func byType(q question, all []fact) (rows []string) {
	for key, list := range groups(q, all, opened, func(f fact) string { return f.kind }) {
		rows = append(rows, row(key, len(list)))
	}
	return rows
}

func byHour(q question, all []fact) (rows []string) {
	in := [7][24]int{}
	for _, f := range all {
		if q.in(f.opened) {
			local := f.opened.In(q.Zone)
			in[(local.Weekday()+6)%7][local.Hour()]++
		}
	}
	for day := range in {
		for hour, n := range in[day] {
			rows = append(rows, row(day+1, hour, n))
		}
	}
	return rows
}

func firstResponse(q question, all []fact) (rows []string) {
	in := q.openedIn(slices.DeleteFunc(all, func(f fact) bool { return f.messenger == "" }))
	for _, b := range q.buckets() {
		var took []int64
		for _, f := range in[b] {
			if !f.answered.IsZero() {
				took = append(took, f.answered.Sub(f.opened).Milliseconds())
			}
		}
		rows = append(rows, row(b, mean(took), median(took), len(took), len(in[b])-len(took)))
	}
	return rows
}

func resolutionTime(q question, all []fact) (rows []string) {
	by := groups(q, all, func(f fact) time.Time { return f.resolved }, func(f fact) string { return q.desk.name(f.agent) })
	for agent, list := range by {
		var took []int64
		for _, f := range list {
			took = append(took, f.resolved.Sub(f.opened).Milliseconds())
		}
		rows = append(rows, row(agent, mean(took), median(took), len(took)))
	}
	return rows
}

func ratings(q question, all []fact) (rows []string) {
	by := groups(q, all, func(f fact) time.Time { return f.rated }, func(f fact) string { return q.desk.name(f.agent) })
	for agent, list := range by {
		sum := 0
		for _, f := range list {
			sum += f.stars
		}
		rows = append(rows, row(agent, share(sum, len(list)), len(list)))
	}
	return rows
}

func overdue(q question, all []fact) (rows []string) {
	in := q.openedIn(all)
	end := func(f fact) time.Time {
		if f.resolved.IsZero() {
			return q.Now
		}
		return f.resolved
	}
	late := func(f fact) bool { return f.deadline != "" && q.date(end(f)) > f.deadline }
	failed := func(f fact) bool { return end(f).Sub(f.opened) > q.desk.sla(f.queue) }
	dated := func(f fact) bool { return f.deadline != "" }
	for _, b := range q.buckets() {
		list := in[b]
		with := count(list, dated)
		rows = append(rows, row(b, share(count(list, func(f fact) bool { return late(f) || failed(f) }), len(list)),
			share(count(list, late), with), share(count(list, failed), len(list)), len(list), with))
	}
	return rows
}

func reopened(q question, all []fact) (rows []string) {
	in := groups(q, all, fact.ended, func(f fact) string { return q.bucket(q.date(f.ended())) })
	for _, b := range q.buckets() {
		again := count(in[b], func(f fact) bool { return f.reopened > 0 })
		rows = append(rows, row(b, share(again, len(in[b])), len(in[b]), again))
	}
	return rows
}

func timeInStatus(q question, all []fact) (rows []string) {
	took := map[string][]int64{}
	for _, f := range all {
		for _, s := range f.stays {
			if !s.until.IsZero() && q.in(s.until) {
				took[s.status] = append(took[s.status], s.until.Sub(s.from).Milliseconds())
			}
		}
	}
	for status, list := range took {
		rows = append(rows, row(q.desk.status(status), mean(list), median(list), len(list)))
	}
	return rows
}

func backlog(q question, all []fact) (rows []string) {
	buckets := q.buckets()
	for n, b := range buckets {
		end := q.To.Format(time.DateOnly) // the bucket has the days before
		if n+1 < len(buckets) {
			end = buckets[n+1]
		}
		open := 0
		for _, f := range all {
			status := ""
			for _, s := range f.stays {
				if q.date(s.from) < end {
					status = s.status
				}
			}
			if status != "" && !final(status) {
				open++
			}
		}
		rows = append(rows, row(b, open))
	}
	return rows
}
