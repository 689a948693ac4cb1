package builder

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sample is how often memory is looked at: often enough for a linker, whose peak
// lasts about a second.
const sample = 50 * time.Millisecond

// Measure compiles pkg in the place, whose caches are empty. If limited it runs
// with the builder's share of the processor, where control groups allow that.
func (p *Place) Measure(ctx context.Context, tool, pkg string, vendor, limited bool) (Usage, error) {
	b := Build{
		Go: tool, Dir: p.Source(), Package: pkg, Output: p.plugin(), Vendor: vendor,
		Cache: filepath.Join(p.dir, "cache"), ModCache: filepath.Join(p.dir, "mod"), Temp: filepath.Join(p.dir, "tmp"),
	}
	cmd := b.Command(ctx)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // all it starts can be told by the session
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var u Usage
	if limited {
		group, err := newShare(Cores)
		if u.Limited = err == nil; u.Limited {
			defer group.remove()
			group.wrap(cmd)
		}
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return u, fmt.Errorf("start compiler: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	err := p.watch(&u, cmd.Process.Pid, done)
	u.Wall, u.CPU = time.Since(began), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	if err != nil {
		return u, fmt.Errorf("compile %s: %w\n%s", pkg, err, output.Bytes())
	}
	info, err := os.Stat(p.plugin())
	if err != nil {
		return u, fmt.Errorf("compile %s: %w", pkg, err)
	}
	u.Plugin = info.Size()
	return u, nil
}

func (p *Place) watch(u *Usage, session int, done <-chan error) error {
	tick := time.NewTicker(sample)
	defer tick.Stop()
	for {
		processes, files := resident(session), p.size()
		u.Processes = max(u.Processes, processes)
		u.Files = max(u.Files, files)
		u.Together = max(u.Together, processes+files)
		select {
		case err := <-done:
			return err
		case <-tick.C:
		}
	}
}

// resident adds up the resident memory of a session's processes. What they share
// (the compiler's text) is counted for each: rather too much than too little.
func resident(session int) (sum int64) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid pgrp session ...; rss is the 24th, in pages
		_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
		fields := strings.Fields(rest)
		if len(fields) < 22 || fields[3] != strconv.Itoa(session) {
			continue
		}
		if pages, err := strconv.ParseInt(fields[21], 10, 64); err == nil {
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum
}
