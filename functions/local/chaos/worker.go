package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"supportbot/functions/local/platform"
	"supportbot/shared/obs"
)

// queueVariable names the queue to a worker.
const queueVariable = "CHAOS_QUEUE"

// work is a worker: all functions, wired from the environment as in the cloud, until
// it is told to end or nobody is left to tell it.
func work(ctx context.Context) error {
	lookup := func(name string) (string, bool) { v, ok := os.LookupEnv(name); return v, ok && v != "" }
	address, ok := lookup(queueVariable)
	if !ok {
		return errors.New(queueVariable + " is not set: a worker is started by a play")
	}
	p, err := platform.New(platform.Config{
		Lookup: lookup,
		Log:    func(f string) *slog.Logger { return obs.NewLogger(os.Stderr, f, slog.LevelInfo) },
		Queue:  platform.RemoteQueue(address),
		Tick:   time.Second,
	})
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent ends, whatever it dies of
		os.Exit(0)
	}()
	fmt.Println("ready")
	p.Run(ctx)
	return nil
}

// worker is a place in which a process works, one after the other.
type worker struct {
	w    *world
	vars map[string]string
	over chan struct{} // closed when the last process is gone, and err is there
	err  error         // of a process that could not start, or ended by itself

	mu      sync.Mutex
	process *process
	closing bool
}

// process is one life of a worker.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	told  atomic.Bool   // to end
	ended chan struct{} // closed when it is gone
}

// present is the process that works now.
func (k *worker) present() *process {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.process
}

// start starts the first process, and keeps the worker working, as the cloud does.
func (k *worker) start() (err error) {
	if k.process, err = k.launch(); err == nil {
		go k.supervise()
	}
	return err
}

func (k *worker) supervise() {
	defer close(k.over)
	for p := k.process; ; {
		<-p.ended
		var err error
		if !p.told.Load() {
			k.err = fmt.Errorf("a worker ended by itself: %v", p.cmd.ProcessState)
			return
		}
		if p, err = k.again(); p == nil {
			k.err = err
			return
		}
	}
}

// again starts the next process; none if the play is over.
func (k *worker) again() (*process, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing {
		return nil, nil
	}
	if k.w.hurry && len(k.w.workers) == 1 {
		if err := k.w.pass(dead); err != nil {
			return nil, err
		}
	}
	p, err := k.launch()
	if err == nil {
		k.process = p
	}
	return p, err
}

// launch starts a process and waits until it works.
func (k *worker) launch() (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, "chaos", workerCommand)
	for name, value := range k.vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = k.w.Log
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
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("start worker: %w", errors.Join(err, cmd.Wait()))
	}
	p := &process{cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	go func() { defer close(p.ended); _ = cmd.Wait() }()
	return p, nil
}

// kill ends a process at once; it is gone then.
func (p *process) kill() {
	p.told.Store(true)
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// stop asks a process to end.
func (p *process) stop() {
	p.told.Store(true)
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
}

// freeze stops a process between two instructions, until thaw.
func (p *process) freeze() { _ = p.cmd.Process.Signal(syscall.SIGSTOP) }

func (p *process) thaw() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// close ends the worker and gives what went wrong in its lives.
func (k *worker) close() error {
	k.mu.Lock()
	k.closing = true
	p := k.process
	k.mu.Unlock()
	p.kill()
	_ = p.stdin.Close()
	<-k.over
	return k.err
}
