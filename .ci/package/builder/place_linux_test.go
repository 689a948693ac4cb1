package builder_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"supportbot/.ci/package/builder"
)

// script is a compiler that needs what its test says.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "go")
	// A process that another test starts meanwhile must not inherit the open file: a file
	// that somebody may write to cannot be run (ETXTBSY).
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\nout=$2\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func place(t *testing.T) *builder.Place {
	t.Helper()
	p, err := builder.NewPlace()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(p.Source()); err == nil {
			t.Error("the place is still there")
		}
	})
	return p
}

// What is measured: the memory of all processes below, and all files.
func TestMeasure(t *testing.T) {
	t.Parallel()
	const size = 40 << 20
	// A child holds 40 MB of memory while 40 MB of files are in the cache.
	u, err := place(t).Measure(context.Background(), script(t, `
		head -c 41943040 /dev/zero > "$GOCACHE/object"
		(head -c 41943040 /dev/zero; sleep 0.5) | tail -c 41943040 | wc -c > "$out"
	`), "./x", true, false)
	if err != nil {
		t.Fatal(err)
	}
	if u.Files < size || u.Files > 2*size {
		t.Errorf("files: got %d bytes, want about %d", u.Files, size)
	}
	if u.Processes < size || u.Together < u.Files+size/2 {
		t.Errorf("got %+v, want at least %d bytes of memory beside the files", u, size)
	}
	if u.Plugin == 0 || u.CPU == 0 || u.Wall < 500*time.Millisecond || u.Limited {
		t.Errorf("got %+v", u)
	}
}

func TestMeasure_Fails(t *testing.T) {
	t.Parallel()
	_, err := place(t).Measure(context.Background(), script(t, "echo no such package >&2; exit 1"), "./x", true, false)
	if err == nil || !strings.Contains(err.Error(), "no such package") {
		t.Errorf("got %v, want what the compiler said", err)
	}
}

// A compiler that never ends is ended, with what it has started.
func TestMeasure_Ends(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	started := filepath.Join(t.TempDir(), "started")
	done := make(chan error, 1)
	p := place(t)
	go func() {
		_, err := p.Measure(ctx, script(t, "echo > "+started+"; sleep 600 & wait"), "./x", true, false)
		done <- err
	}()
	for {
		if _, err := os.Stat(started); err == nil {
			break
		}
		select {
		case err := <-done:
			t.Fatalf("ended by itself: %v", err)
		case <-time.After(10 * time.Millisecond): // a file gives no signal
		}
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("got no error")
	}
}

// Half a core is half a core, where control groups can be made.
func TestMeasure_Limited(t *testing.T) {
	t.Parallel()
	u, err := place(t).Measure(context.Background(), script(t, `
		i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo > "$out"
	`), "./x", true, true)
	if err != nil {
		t.Fatal(err)
	}
	if !u.Limited {
		t.Skip("does not apply: this process may not make control groups")
	}
	// The quota is dealt out in tenths of a second.
	if u.CPU > u.Wall/2+200*time.Millisecond {
		t.Errorf("%s of the processor within %s, want at most half", u.CPU, u.Wall)
	}
}
