// Package tracker is a Yandex Tracker for machines that cannot reach the real
// one: a server of the v3 API (and of the old v2 prefix) that is as strict as the
// original, and the agent's side of it as Go methods.
//
// It follows Tracker's public API reference (yandex.ru/support/tracker) and
// Yandex's own Python client where the reference is silent. It keeps everything
// in memory (large files in unlinked temporary files), misbehaves on demand
// (Config.Faults, Lag, Rate) and logs each call (Config.Calls).
//
// Calls of triggers are made in the background, once, without a promised order:
// Close stops them.
package tracker

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"supportbot/shared/sandbox/fault"
)

// Server is the fake. It is an http.Handler; its paths begin with /v3 or /v2.
type Server struct {
	cfg    Config
	log    *slog.Logger
	client *http.Client
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // deliveries of triggers

	mu      sync.Mutex
	closed  bool
	lag     time.Duration
	bucket  bucket
	serial  uint64 // of object ids
	number  int64  // of comments, files and triggers
	users   []*user
	global  []*field
	routes  []route
	queues  []*queue
	issues  []*issue
	byKey   map[string]*issue // by key, old key and id
	unique  map[string]*issue
	uploads map[string]*file // temporary, not attached yet
	files   map[string]*file
	scrolls map[string]*scroll
	changed chan struct{} // closed at the next change

	standings map[string]*standing // by queue
}

// New makes a server. What cfg leaves empty gets the defaults that Config names.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		cfg: cfg, log: cfg.Log, client: cfg.Client, ctx: ctx, cancel: cancel,
		lag: cfg.Lag, number: 100, global: globalFields(), routes: routes(),
		byKey: map[string]*issue{}, unique: map[string]*issue{},
		uploads: map[string]*file{}, files: map[string]*file{},
		scrolls: map[string]*scroll{}, changed: make(chan struct{}), standings: map[string]*standing{},
	}
	s.bucket = bucket{rate: cfg.Rate, burst: float64(cfg.Burst), tokens: float64(cfg.Burst)}
	robot := cfg.Robot
	robot.Token = cfg.Token
	s.users = append(s.users, &user{User: robot, robot: true})
	for _, u := range cfg.Agents {
		s.users = append(s.users, &user{User: u})
	}
	for _, q := range cfg.Queues {
		s.addQueue(q)
	}
	return s
}

// Close stops deliveries and calls that hang, and frees the files.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		f.data.free()
	}
}

// SetLag changes how long listings and search are behind.
func (s *Server) SetLag(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lag = d
	s.touch()
}

// Faults is where the server takes its faults from.
func (s *Server) Faults() *fault.Set { return s.cfg.Faults }

// Calls is the log of calls in both directions.
func (s *Server) Calls() *fault.Log { return s.cfg.Calls }

// Subscribe gives a channel that gets a value soon after each change (several
// changes may give one), until ctx ends.
func (s *Server) Subscribe(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	go func() {
		for {
			s.mu.Lock()
			changed := s.changed
			s.mu.Unlock()
			select {
			case <-ctx.Done():
				return
			case <-s.ctx.Done():
				return
			case <-changed:
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out
}

// Wait blocks until ok holds for the tickets, or ctx ends. It is how tests wait
// without sleeping.
func (s *Server) Wait(ctx context.Context, ok func([]Ticket) bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok(s.Tickets()) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// touch tells subscribers that something changed. The lock is held.
func (s *Server) touch() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// now is the injected clock, in Tracker's precision.
func (s *Server) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Millisecond) }

// nextID gives an id of 24 hexadecimal digits, larger than the one before.
func (s *Server) nextID() string {
	s.serial++
	const digits = "0123456789abcdef"
	id := make([]byte, 24)
	seconds, serial := uint64(s.now().Unix()), s.serial
	for i := 7; i >= 0; i-- {
		id[i], seconds = digits[seconds&15], seconds>>4
	}
	for i := 23; i >= 8; i-- {
		id[i], serial = digits[serial&15], serial>>4
	}
	return string(id)
}

// nextNumber gives the short id of a comment, file or trigger.
func (s *Server) nextNumber() string {
	s.number++
	return strconv.FormatInt(s.number, 10)
}
