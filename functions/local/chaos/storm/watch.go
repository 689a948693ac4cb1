package storm

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"sync"
	"time"
)

// canary is in every secret, in the names of customers and in what they write.
const canary = "CANARY"

// spilling is what must not be in a log or in an error: canaries, and what is said by
// anybody.
const spilling = canary + `|[SDMRAIFB][0-9]+N[0-9]+E|panicked|DATA RACE`

// What a process says that goes on without the shared limiter, and with it again.
const (
	alone = "the shared pace is away"
	along = "the shared pace is back"
)

// ousted is what a process says whose work somebody else has.
const ousted = "lease lost, stopped"

// shown is how many lines with a canary are kept.
const shown = 5

// watch passes on what several processes log, and keeps the lines that must not be.
type watch struct {
	next  io.Writer
	spill *regexp.Regexp

	mu    sync.Mutex
	lines []string
	n     int64
	lost  int64   // leases, by processes that went on
	away  []Alone // that are over
	all   []*watched
}

// newWatch also looks for some addresses, of databases.
func newWatch(next io.Writer, addresses ...string) *watch {
	pattern := spilling
	for _, address := range addresses {
		pattern += "|" + regexp.QuoteMeta(address)
	}
	return &watch{next: next, spill: regexp.MustCompile(pattern)}
}

// of is for one process: what it writes may break off within a line.
func (w *watch) of() *watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := &watched{w: w}
	w.all = append(w.all, o)
	return o
}

type watched struct {
	w     *watch
	rest  []byte
	since time.Time // when it went on without the limiter; zero: it has not
}

// Write implements io.Writer.
func (o *watched) Write(b []byte) (int, error) {
	o.rest = append(o.rest, b...)
	end := bytes.LastIndexByte(o.rest, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	if err := o.w.take(o, o.rest[:end]); err != nil {
		return 0, err
	}
	o.rest = append(o.rest[:0], o.rest[end:]...)
	return len(b), nil
}

func (w *watch) take(o *watched, lines []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n += int64(bytes.Count(lines, []byte("\n")))
	for _, line := range bytes.SplitAfter(lines, []byte("\n")) {
		switch {
		case o.since.IsZero() && bytes.Contains(line, []byte(alone)):
			o.since = time.Now()
		case bytes.Contains(line, []byte(along)):
			o.back()
		}
		if bytes.Contains(line, []byte(ousted)) {
			w.lost++
		}
		if len(w.lines) < shown && w.spill.Match(line) {
			w.lines = append(w.lines, "the log: "+string(bytes.TrimSpace(line)))
		}
	}
	_, err := w.next.Write(lines)
	return err
}

// written counts the lines, and those that tell of a lease that was lost.
func (w *watch) written() (lines, lost int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n, w.lost
}

func (w *watch) spilled() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lines...)
}

// back: the process asks the limiter again, or is no more.
func (o *watched) back() {
	if !o.since.IsZero() {
		o.w.away = append(o.w.away, Alone{o.since, time.Now()})
		o.since = time.Time{}
	}
}

// end notes that the process is no more.
func (o *watched) end() {
	o.w.mu.Lock()
	defer o.w.mu.Unlock()
	o.back()
}

// alone lists when processes went on without the shared limiter.
func (w *watch) alone() []Alone {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := slices.Clone(w.away)
	for _, o := range w.all {
		if !o.since.IsZero() {
			all = append(all, Alone{o.since, time.Now()})
		}
	}
	return all
}
