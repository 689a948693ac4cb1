package bench

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// report is the table: one figure a line, the ratios with their targets at the end.
type report struct {
	out    io.Writer
	ratios []ratio
}

// ratio is a figure that something is asked of.
type ratio struct {
	name  string
	value float64
	unit  string
	bound string // "" when nothing is asked
	ok    bool
}

func (r *report) machine(o options) {
	r.note("%d cores, %s; medians of %d rounds of %s; databases at default durability below %s",
		runtime.NumCPU(), runtime.Version(), o.rounds, o.round, o.dir)
}

func (r *report) note(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, "# "+format+"\n", args...)
}

func (r *report) figure(name string, value float64, unit string) {
	_, _ = fmt.Fprintf(r.out, "%-58s %10.*f %s\n", name, decimals(value), value, unit)
}

func decimals(v float64) int {
	switch {
	case v >= 100:
		return 0
	case v >= 10:
		return 1
	}
	return 2
}

func (r *report) plain(name string, value float64) {
	r.ratios = append(r.ratios, ratio{name: name, value: value, ok: true})
}

func (r *report) atLeast(name string, value, bound float64) {
	r.ratios = append(r.ratios, ratio{name: name, value: value, bound: fmt.Sprintf(">= %g", bound), ok: value >= bound})
}

func (r *report) atMost(name string, value, bound float64, unit string) {
	r.ratios = append(r.ratios, ratio{name: name, value: value, unit: unit, bound: fmt.Sprintf("<= %g", bound), ok: value <= bound})
}

// close writes the ratios and says how many targets were missed.
func (r *report) close() (missed int) {
	r.note("ratios and targets")
	for _, x := range r.ratios {
		verdict := x.unit
		if x.bound != "" {
			verdict = fmt.Sprintf("%s %s", x.unit, x.bound)
		}
		if !x.ok {
			missed++
			verdict += "  MISSED"
		}
		_, _ = fmt.Fprintf(r.out, "%-58s %10.2f %s\n", x.name, x.value, verdict)
	}
	return missed
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// percentile gives the p-th of durations in milliseconds.
func percentile(all []time.Duration, p float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	i := min(int(p*float64(len(sorted))), len(sorted)-1)
	return float64(sorted[i].Microseconds()) / 1000
}
