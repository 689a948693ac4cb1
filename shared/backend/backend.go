// Package backend starts real backends without containers, for tests and for the
// local run: PostgreSQL, Redis and PgBouncer from the binaries that the machine's
// packages installed, ClickHouse from a library that npm installs. Each listens on
// the loopback only, on a free port, without a password, and dies with the process
// that started it.
package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// ErrNotInstalled is wrapped by errors that mean a missing binary; their text
// says what to install.
var ErrNotInstalled = errors.New("not installed")

const (
	startTimeout = 60 * time.Second // a crashed database recovers first
	stopTimeout  = 20 * time.Second
)

// Options say how a server is to live. The zero value is a server for tests.
type Options struct {
	// Dir keeps the server's files. Empty: a new folder, in memory where the
	// machine has room for it, that Close removes.
	Dir string
	// Durable: the server's own default durability, as in production. Otherwise
	// speed is everything and a crash of the machine loses the data.
	Durable bool
	// Port to listen on; 0: a free one.
	Port int
	// Settings are further settings of the server, by its own names.
	Settings map[string]string
}

// Server is one backend. Its address and data stay the same over Stop, Kill and
// Start. Its methods may be called from several goroutines.
type Server struct {
	name  string // of the product, for errors
	dir   string
	owned bool // the folder is ours to remove
	port  int
	url   string
	start func() (*process, error)
	ready func(ctx context.Context) error
	quit  syscall.Signal // ends it politely
	abort syscall.Signal // ends it at once, when nobody needs the data any more

	nativeURL string // of ClickHouse alone

	mu   sync.Mutex
	proc *process // nil: not running
}

// Addr is host:port.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// URL is what clients connect to: postgres://... (database postgres, or the same
// database as behind a PgBouncer), redis://... or of ClickHouse http://...
func (s *Server) URL() string { return s.url }

// NativeURL is where a ClickHouse speaks its own protocol, clickhouse://...; "" of
// others.
func (s *Server) NativeURL() string { return s.nativeURL }

// Dir is where the files are; the file server.log has what the server says.
func (s *Server) Dir() string { return s.dir }

// Start starts a stopped or killed server and returns when it answers. Starting
// a running one does nothing.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil && s.proc.alive() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	proc, err := s.launch(ctx)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	if err := s.awaitReady(ctx, proc); err != nil {
		proc.signal(syscall.SIGKILL)
		<-proc.done
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	s.proc = proc
	return nil
}

// launch waits a while for the folder: a server that was killed, or that of a run
// that just ended, may still be on its way out.
func (s *Server) launch(ctx context.Context) (*process, error) {
	for deadline := time.Now().Add(stopTimeout); ; {
		proc, err := s.start()
		if !errors.Is(err, errHeld) {
			return proc, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%w: %s", err, s.dir)
		}
		if ended := pause(ctx, 50*time.Millisecond); ended != nil {
			return nil, fmt.Errorf("%w: %s: %w", err, s.dir, ended)
		}
	}
}

func (s *Server) awaitReady(ctx context.Context, proc *process) error {
	for {
		if !proc.alive() {
			return proc.explain()
		}
		err := s.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-proc.done:
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", ctx.Err(), err)
		}
	}
}

// Stop ends the server politely and waits until it is gone; one that does not go
// is killed. The data stays.
func (s *Server) Stop() error { return s.end(s.quit) }

// Kill ends the server at once with SIGKILL, as a crash would, and waits until it
// is gone. The data stays as the crash left it: of a server that is not durable it may
// lack what was committed in its last second.
func (s *Server) Kill() error { return s.end(syscall.SIGKILL) }

func (s *Server) end(sig syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return nil
	}
	proc := s.proc
	s.proc = nil
	proc.signal(sig)
	select {
	case <-proc.done:
		return nil
	case <-time.After(stopTimeout):
	}
	proc.signal(syscall.SIGKILL)
	<-proc.done
	return fmt.Errorf("stop %s: it had to be killed after %s", s.name, stopTimeout)
}

// Signal sends a signal to the server, e.g. SIGSTOP and SIGCONT to make Redis or
// PgBouncer hang for a while.
func (s *Server) Signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.signal(sig)
	}
}

// Done is closed when the process that runs now ends, for whatever reason.
func (s *Server) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		return s.proc.done
	}
	gone := make(chan struct{})
	close(gone)
	return gone
}

// Close stops the server for good and removes the folder if it was a temporary
// one.
func (s *Server) Close() error {
	if !s.owned {
		return s.Stop()
	}
	// Nobody will read the data again, so there is no need for a last checkpoint;
	// what the kernel holds for the server goes with it, unlike after a Kill.
	return errors.Join(s.end(s.abort), removeAll(s.dir))
}

// launchNew starts a new server. If its port was free a moment ago and is taken
// now, it tries others.
func launchNew(ctx context.Context, s *Server, chosen int) (*Server, error) {
	var err error
	for range 5 {
		if s.port, err = pickPort(chosen); err != nil {
			break
		}
		if err = s.Start(ctx); err == nil {
			return s, nil
		}
		if !errors.Is(err, errPortTaken) || chosen != 0 {
			break
		}
	}
	if s.owned {
		err = errors.Join(err, removeAll(s.dir))
	}
	return nil, err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// removeAll removes a folder whose writers may still be on their way out.
func removeAll(dir string) error {
	var err error
	for range 50 {
		if err = os.RemoveAll(filepath.Clean(dir)); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("remove folder: %w", err)
}
