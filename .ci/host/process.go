package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Settings is the GODEBUG that every function's environment has in the cloud: the
// behaviour of the Go version that the functions are written for, whatever the
// runtime was built for.
const Settings = "httpmuxgo121=0,asynctimerchan=0"

// Config says what a Process runs.
type Config struct {
	Host     string // the path of Workshop.Host
	Plugin   string
	Handler  string // "" means Handler
	Function string
	Timeout  time.Duration     // 0: a minute
	Env      map[string]string // all that the function sees, but GODEBUG
	// Freeze stops the process between calls, as the cloud does.
	Freeze bool
}

// Process is an instance of a function. Calls are made one at a time, as in the
// cloud.
type Process struct {
	// LoadMS is how long the plugin took to load, in milliseconds.
	LoadMS float64
	// Log is what the function has logged so far, as far as it has arrived; after
	// Close it is whole.
	Log *Log

	ended   chan struct{}
	mu      sync.Mutex
	cmd     *exec.Cmd
	freeze  bool
	events  io.WriteCloser
	answers *json.Decoder
}

// Answer is what came of a call.
type Answer struct {
	Result json.RawMessage `json:"result"`
	Error  *Failure        `json:"error"`
	MS     float64         `json:"ms"` // inside the host
}

// Failure is how the cloud shows a function that failed.
type Failure struct {
	Message string `json:"errorMessage"`
	Type    string `json:"errorType"`
}

// Error makes it an error.
func (f *Failure) Error() string { return f.Type + ": " + f.Message }

// Start starts an instance and waits until its plugin is loaded. Close it.
func Start(c Config) (*Process, error) {
	if c.Handler == "" {
		c.Handler = "Handler"
	}
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	p := &Process{Log: &Log{}, freeze: c.Freeze, ended: make(chan struct{})}
	args := []string{"-handler", c.Handler, "-function", c.Function, "-timeout", c.Timeout.String(), c.Plugin}
	p.cmd = exec.Command(c.Host, args...) //nolint:noctx // it lives until Close
	p.cmd.Dir = os.TempDir()              // not the checkout: a function sees no file of it
	p.cmd.Stderr = p.Log
	if _, ok := c.Env["GODEBUG"]; !ok {
		p.cmd.Env = append(p.cmd.Env, "GODEBUG="+Settings)
	}
	for name, value := range c.Env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.events, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.launch(); err != nil {
		return nil, fmt.Errorf("start host: %w", err)
	}
	p.answers = json.NewDecoder(out)
	var first struct {
		LoadMS float64 `json:"load_ms"`
	}
	if err := p.answers.Decode(&first); err != nil {
		p.Close()
		return nil, fmt.Errorf("load plugin: %w: %s", err, p.Log)
	}
	p.LoadMS = first.LoadMS
	p.signal(syscall.SIGSTOP)
	return p, nil
}

// launch has the kernel end the instance with this process, however it ends: one
// that is frozen would not notice. The kernel goes by the thread that started it,
// which therefore lives until it has ended.
func (p *Process) launch() error {
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends too
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
		close(p.ended)
	}()
	return <-started
}

// Call gives the function an event and waits for the answer. An error means that
// the instance is gone; that of the function is in the answer.
func (p *Process) Call(event []byte) (a Answer, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal(syscall.SIGCONT)
	defer p.signal(syscall.SIGSTOP)
	if _, err := p.events.Write(append(bytes.TrimSpace(event), '\n')); err != nil {
		return a, fmt.Errorf("send event: %w", err)
	}
	if err := p.answers.Decode(&a); err != nil {
		return a, fmt.Errorf("read answer: %w", err)
	}
	return a, nil
}

// Trigger calls a function of a trigger: the error is the function's or the
// instance's, and the trigger would repeat the call.
func (p *Process) Trigger(event []byte) error {
	a, err := p.Call(event)
	if err == nil && a.Error != nil {
		return a.Error
	}
	return err
}

// Close kills the instance and waits until it has ended. It may be called again.
func (p *Process) Close() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *Process) signal(s syscall.Signal) {
	if p.freeze {
		_ = p.cmd.Process.Signal(s)
	}
}

// Log is what a function logs. The zero value is empty.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// String gives all of it.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
