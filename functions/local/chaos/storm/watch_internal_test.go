package storm

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestWatch: what several processes log comes through whole, and lines with a canary are
// kept, also those that come in pieces.
func TestWatch(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := newWatch(&out, "redis://127.0.0.1:6379/0", "postgres://app@127.0.0.1:5432/postgres?sslmode=disable")
	one, other := w.of(), w.of()
	spilt := []string{
		`{"error":"` + canary + `-vk-token"}`, `{"text":"M12N3E"}`, `{"key":"B0N1E"}`, "function panicked", "WARNING: DATA RACE",
	}
	for _, line := range spilt {
		write(t, one, line[:9])
		write(t, other, "{\"msg\":\"job run\",\"job\":12}\n")
		write(t, one, line[9:]+"\n{\"half")
		write(t, one, "\":1}\n")
	}
	lines := w.spilled()
	for i, line := range spilt {
		if len(lines) <= i || lines[i] != "the log: "+line {
			t.Errorf("kept %q, want %q at %d", lines, line, i)
		}
	}
	if n, _ := w.written(); n != 15 || strings.Count(out.String(), "\n") != 15 || !strings.Contains(out.String(), spilt[0]+"\n") {
		t.Errorf("counted %d lines, wrote %q", n, out.String())
	}
	if got := w.alone(); len(got) > 0 {
		t.Errorf("nobody said that the pace was away: %v", got)
	}
}

func TestWatch_Finds(t *testing.T) {
	t.Parallel()
	const database = "postgres://app:secret@127.0.0.1:5432/postgres?sslmode=disable"
	for line, want := range map[string]bool{
		"dial " + database: true, "F3N4E.txt": true, "R1N2E": true, "SUP-12 M12": false, "127.0.0.1:5432": false, "a message N1E": false,
	} {
		w := newWatch(&bytes.Buffer{}, database)
		write(t, w.of(), line+"\n")
		if got := len(w.spilled()) == 1; got != want {
			t.Errorf("%q is kept: %v, want %v", line, got, want)
		}
	}
}

// TestWatch_Alone: a process is without the limiter until it is back, or is no more.
func TestWatch_Alone(t *testing.T) {
	t.Parallel()
	const away, back = `{"level":"WARN","msg":"` + alone + ", this process keeps to its share\"}\n", `{"msg":"` + along + "\"}\n"
	w := newWatch(&bytes.Buffer{})
	one, other := w.of(), w.of()
	write(t, other, back)
	write(t, one, away+"{}\n"+away)
	write(t, other, away)
	if got := w.alone(); len(got) != 2 || got[0].To.Before(got[0].From) {
		t.Errorf("alone are %v, want two that have no end yet", got)
	}
	write(t, one, back)
	other.end()
	other.end()
	ended := w.alone()
	if got := w.alone(); len(got) != 2 || got[0] != ended[0] || got[1] != ended[1] {
		t.Errorf("alone are %v, then %v, want two that are over", ended, got)
	}
}

// TestWatch_Keeps: a log full of canaries is not kept a second time.
func TestWatch_Keeps(t *testing.T) {
	t.Parallel()
	w := newWatch(&bytes.Buffer{})
	for i := range 100 {
		write(t, w.of(), fmt.Sprintf("%s %d\n", canary, i))
	}
	if got := len(w.spilled()); got != shown {
		t.Errorf("kept %d lines, want %d", got, shown)
	}
}

func write(t *testing.T, to interface{ Write([]byte) (int, error) }, text string) {
	t.Helper()
	if _, err := to.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}
