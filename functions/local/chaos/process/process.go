package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Process is a process that works, or has worked.
type Process struct {
	URL string // of its webhooks and its API

	cmd   *exec.Cmd
	stdin io.WriteCloser
	told  atomic.Bool
	ended chan struct{}
}

// Start starts a process with these variables and no others, and returns when it works.
// It logs to log.
func Start(vars map[string]string, log io.Writer) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, "chaos", Command)
	for name, value := range vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", errors.Join(err, cmd.Wait()))
	}
	p := &Process{URL: strings.TrimSpace(url), cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	go func() { defer close(p.ended); _ = cmd.Wait() }()
	return p, nil
}

// Kill ends the process at once; it is gone then.
func (p *Process) Kill() {
	p.told.Store(true)
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Stop asks the process to end.
func (p *Process) Stop() {
	p.told.Store(true)
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
}

// Freeze stops the process between two instructions, until Thaw.
func (p *Process) Freeze() { _ = p.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw lets it go on as if nothing had been.
func (p *Process) Thaw() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// Skew puts its wall clock so far ahead of the machine's.
func (p *Process) Skew(ahead time.Duration) { _, _ = fmt.Fprintln(p.stdin, skewed+ahead.String()) }

// Told reports whether the process was told to end.
func (p *Process) Told() bool { return p.told.Load() }

// Ended is closed when the process is gone.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// State says how a process ended that is gone.
func (p *Process) State() string { return p.cmd.ProcessState.String() }
