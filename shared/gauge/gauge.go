// Package gauge is what the platform says of itself in numbers: how much waits, how
// long, for what. The reconciler measures once a minute; its log, the API and whatever
// scrapes it show the same.
package gauge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sample is one number. Ages and waits are in seconds.
type Sample struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	Value  float64           `json:"value"`
}

// Reading is what was measured at one time.
type Reading struct {
	At      time.Time // zero: never
	Samples []Sample
}

// The names. What a source could not tell is left out of a reading.
const (
	Due        = "jobs_due"
	Running    = "jobs_running"
	Held       = "jobs_held"
	Oldest     = "jobs_oldest_due_seconds"
	Reviews    = "jobs_in_review"
	Losses     = "jobs_lease_losses"
	Ended      = "jobs_ended"
	Messages   = "queue_messages"
	Dead       = "dead_letters"
	Pace       = "limiter_wait_seconds"
	Loaded     = "analytics_lag_seconds"
	DutyAge    = "duty_age_seconds"
	DutyTook   = "duty_seconds"
	DutyOfPass = "pass" // DutyAge and DutyTook of all duties together
)

// about says what each is, by name.
var about = map[string]string{
	Due:      "Jobs that may run and that nobody works on, by queue; counted up to a hundred thousand.",
	Running:  "Jobs that somebody works on, by queue.",
	Held:     "Jobs that are paused or wait for another one.",
	Oldest:   "How long nobody has worked in the lane whose due job has waited longest for it.",
	Reviews:  "Jobs that wait for a person.",
	Losses:   "Leases that open jobs have lost since their last stage.",
	Ended:    "Jobs that ended within the last minute, by queue and state.",
	Messages: "Messages in a queue, about.",
	Dead:     "Dead letters of the last 24 hours; hint=\"false\": those that are none of ours.",
	Pace:     "How far away the next place for a call is, by service and class.",
	Loaded:   "How far the analytics are behind.",
	DutyAge:  "Since a duty of the reconciler was last done; \"pass\" is all of them.",
	DutyTook: "How long a duty took the last time.",
}

// Key names a sample in one word: its name and its labels' values.
func (s Sample) Key() string {
	parts := []string{s.Name}
	for _, label := range slices.Sorted(maps.Keys(s.Labels)) {
		parts = append(parts, s.Labels[label])
	}
	return strings.Join(parts, ".")
}

// prefix is what names begin with where others' are beside them.
const prefix = "supportbot_"

// Text writes a reading in the text format of Prometheus (version 0.0.4), with its own
// age at the end: a reconciler that stands still shows by that.
func (r Reading) Text(now time.Time) string {
	samples := slices.Clone(r.Samples)
	slices.SortStableFunc(samples, func(a, b Sample) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Key(), b.Key()))
	})
	var b strings.Builder
	last := ""
	write := func(s Sample, help string) {
		if s.Name != last {
			fmt.Fprintf(&b, "# HELP %s%s %s\n# TYPE %s%s gauge\n", prefix, s.Name, escaped.Replace(help), prefix, s.Name)
			last = s.Name
		}
		fmt.Fprintf(&b, "%s%s%s %s\n", prefix, s.Name, labels(s.Labels), strconv.FormatFloat(s.Value, 'g', -1, 64))
	}
	for _, s := range samples {
		write(s, about[s.Name])
	}
	if !r.At.IsZero() {
		write(Sample{Name: "reading_age_seconds", Value: r.Age(now).Seconds()}, "Since all of this was measured.")
	}
	return b.String()
}

// Age is how old a reading is.
func (r Reading) Age(now time.Time) time.Duration { return max(now.Sub(r.At), 0) }

var (
	escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	quoted  = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func labels(of map[string]string) string {
	if len(of) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, name+`="`+quoted.Replace(of[name])+`"`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}
