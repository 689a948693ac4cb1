package storm

import (
	"bytes"
	"io"
	"regexp"
	"sync"
)

// canary is in every secret, in the names of customers and in what they write.
const canary = "CANARY"

// spilling is what must not be in a log or in an error: canaries, and what is said by
// anybody.
const spilling = canary + `|[SDMRAIFB][0-9]+N[0-9]+E|panicked|DATA RACE`

// alone is what a process says that goes on without the shared limiter.
const alone = "the shared pace is away"

// shown is how many lines with a canary are kept.
const shown = 5

// watch passes on what several processes log, and keeps the lines that must not be.
type watch struct {
	next  io.Writer
	spill *regexp.Regexp

	mu    sync.Mutex
	lines []string
	n     int64
	away  bool
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
func (w *watch) of() io.Writer { return &watched{w: w} }

type watched struct {
	w    *watch
	rest []byte
}

// Write implements io.Writer.
func (o *watched) Write(b []byte) (int, error) {
	o.rest = append(o.rest, b...)
	end := bytes.LastIndexByte(o.rest, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	if err := o.w.take(o.rest[:end]); err != nil {
		return 0, err
	}
	o.rest = append(o.rest[:0], o.rest[end:]...)
	return len(b), nil
}

func (w *watch) take(lines []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n += int64(bytes.Count(lines, []byte("\n")))
	w.away = w.away || bytes.Contains(lines, []byte(alone))
	for _, line := range bytes.SplitAfter(lines, []byte("\n")) {
		if len(w.lines) < shown && w.spill.Match(line) {
			w.lines = append(w.lines, "the log: "+string(bytes.TrimSpace(line)))
		}
	}
	_, err := w.next.Write(lines)
	return err
}

// written counts the lines.
func (w *watch) written() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

func (w *watch) spilled() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lines...)
}

// alone reports whether a process went on without the shared limiter.
func (w *watch) alone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away
}
