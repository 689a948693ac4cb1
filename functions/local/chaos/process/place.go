package process

import (
	"fmt"
	"io"
	"sync"
)

// Place is where a process works, one after the other: who is told to end is replaced,
// as the cloud does.
type Place struct {
	vars    map[string]string
	log     io.Writer
	between func() error
	over    chan struct{} // closed when the last process is gone, and err is there
	err     error

	mu      sync.Mutex
	process *Process
	closing bool
}

// NewPlace is a place for processes with these variables. between is called before each
// process but the first one.
func NewPlace(vars map[string]string, log io.Writer, between func() error) *Place {
	return &Place{vars: vars, log: log, between: between, over: make(chan struct{})}
}

// Start starts the first process, and keeps a process working until Close.
func (p *Place) Start() (err error) {
	p.mu.Lock() // whom it calls asks for it
	defer p.mu.Unlock()
	if p.process, err = Start(p.vars, p.log); err == nil {
		go p.supervise(p.process)
	}
	return err
}

// Present is the process that works now, or worked last.
func (p *Place) Present() *Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}

func (p *Place) supervise(now *Process) {
	defer close(p.over)
	for now != nil {
		<-now.Ended()
		if !now.Told() {
			p.err = fmt.Errorf("a worker ended by itself: %s", now.State())
			return
		}
		now, p.err = p.again()
	}
}

// again starts the next process; none if the place is closed.
func (p *Place) again() (*Process, error) {
	if p.closed() {
		return nil, nil
	}
	if err := p.between(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return nil, nil
	}
	next, err := Start(p.vars, p.log)
	if err != nil {
		return nil, err
	}
	p.process = next
	return next, nil
}

func (p *Place) closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closing
}

// Over is closed when nobody works here any more: the place was closed, or Err says why.
func (p *Place) Over() <-chan struct{} { return p.over }

// Err is why a process could not start, or that one ended by itself; for when Over is
// closed.
func (p *Place) Err() error { return p.err }

// Close ends the process and gives what went wrong in its lives.
func (p *Place) Close() error {
	p.mu.Lock()
	p.closing = true
	now := p.process
	p.mu.Unlock()
	now.Kill()
	<-p.over
	return p.err
}
