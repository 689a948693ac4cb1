// Package sandbox is a page for people over the stand-ins for Telegram, VK and
// Tracker: on the left a customer's phone, on the right the tracker, below them
// what went over the wire and what shall go wrong with it.
//
// The page holds nothing itself: what it shows are panes, views of the servers'
// own state. A pane is a head and a list of entries with ids; it is had whole by
// one GET under /sandbox/api/, and by /sandbox/events as the whole once and then
// only what changed.
//
// It is for the local run alone: whoever reaches it may do everything. So that
// no page of the web can, it serves only hosts that are this machine's or an
// address, and changes nothing without a header that other origins cannot send.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
)

// Config is what a Sandbox shows. A server that is nil is not shown.
type Config struct {
	Telegram *telegram.Server
	VK       *vk.Server
	Tracker  *tracker.Server

	Register    Register // nil: the platform does not learn of those who are made up
	History     *Past    // nil: no history is offered
	ReplyPrefix string   // with which a comment goes to the customer; default "/reply"
	Log         *slog.Logger
}

// Sandbox is the page and its API. It is an http.Handler for /sandbox/.
type Sandbox struct {
	cfg     Config
	phones  map[string]phone
	order   []string // of the phones
	tracker *tracker.Server
	wires   map[string]wire
	log     *slog.Logger
	mux     *http.ServeMux

	ctx   context.Context // ends with Close
	close context.CancelFunc

	mu       sync.Mutex
	watchers map[chan struct{}]bool

	past    past
	playing sync.WaitGroup
}

// wire is the way to a server that can be disturbed and listened to.
type wire struct {
	faults *fault.Set
	calls  *fault.Log
	kick   func() // lets go what a fault holds back; may be nil
}

var (
	errNotFound = errors.New("not found")
	errInvalid  = errors.New("invalid")
)

// New gives the page of the servers in c.
func New(c Config) *Sandbox {
	c.ReplyPrefix = cmp.Or(c.ReplyPrefix, "/reply")
	s := &Sandbox{
		cfg: c, tracker: c.Tracker, phones: map[string]phone{}, wires: map[string]wire{},
		log: c.Log, watchers: map[chan struct{}]bool{},
	}
	if s.log == nil {
		s.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	s.ctx, s.close = context.WithCancel(context.Background())
	if t := c.Telegram; t != nil {
		s.add("telegram", telegramPhone{t}, wire{t.Faults(), t.Calls(), t.Kick})
	}
	if v := c.VK; v != nil {
		s.add("vk", vkPhone{v}, wire{v.Faults(), v.Calls(), v.Kick})
	}
	if t := c.Tracker; t != nil {
		s.wires["tracker"] = wire{faults: t.Faults(), calls: t.Calls()}
	}
	s.mux = s.routes()
	return s
}

func (s *Sandbox) add(name string, p phone, w wire) {
	s.phones[name], s.wires[name] = p, w
	s.order = append(s.order, name)
}

// Close ends the streams of events, so that an http.Server can shut down, and the
// making of a history.
func (s *Sandbox) Close() {
	s.close()
	s.playing.Wait()
}

// ServeHTTP answers everything below /sandbox/.
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.admit(w, r) {
		s.mux.ServeHTTP(w, r)
	}
}

// changed tells the streams of what a server does not tell itself.
func (s *Sandbox) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch := range s.watchers {
		poke(ch)
	}
}

// poke leaves a value in ch unless one is there.
func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
