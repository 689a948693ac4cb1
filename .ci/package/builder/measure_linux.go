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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // all it starts end with it
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

func (p *Place) watch(u *Usage, pid int, done <-chan error) error {
	tick := time.NewTicker(sample)
	defer tick.Stop()
	for {
		processes, files := memory(pid), p.size()
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

// memory adds up the memory of a process and all below it that is no file's: the
// linker maps the caches' files and its result, which are counted as files.
func memory(pid int) int64 {
	dir := "/proc/" + strconv.Itoa(pid)
	var sum int64
	if text, err := os.ReadFile(dir + "/statm"); err == nil { // else it has ended
		var size, resident, mapped int64 // pages
		if n, _ := fmt.Sscan(string(text), &size, &resident, &mapped); n == 3 {
			sum = (resident - mapped) * int64(os.Getpagesize())
		}
	}
	lists, _ := filepath.Glob(dir + "/task/*/children")
	for _, name := range lists {
		text, _ := os.ReadFile(name)
		for _, child := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(child); err == nil {
				sum += memory(pid)
			}
		}
	}
	return sum
}
