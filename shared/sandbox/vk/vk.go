// Package vk is a stand-in for VK: the API that a community's bot calls, the
// Callback API and the Bots Long Poll API that call the bot, and the customers
// with their phones. It is as strict as the original (VK API 5.199) where the
// original's behaviour is published; where it is not, it takes the stricter
// reading and the comment says so.
//
// Server is an http.Handler. The API lives under /method/, uploads and downloads
// under /upload/ and /file/, long polling under /longpoll/.
package vk

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"supportbot/shared/sandbox/crowd"
	"supportbot/shared/sandbox/fault"
)

// Version is the only API version that the server speaks.
const Version = "5.199"

// Config is what a server is made of.
type Config struct {
	Token        string // the community's access token
	GroupID      int64
	Name         string // of the community; "": Support
	Secret       string // the secret key of servers that Connect makes
	Confirmation string // what a new callback server has to answer
	URL          string // where the server is reached; else taken from the last request

	Log    *slog.Logger     // nil: silent
	Now    func() time.Time // nil: time.Now
	Faults *fault.Set       // nil: none
	Calls  *fault.Log       // nil: not kept
	Client *http.Client     // for the calls that the server makes; nil: one with 10 s

	Connections int           // calls of one callback server at the same time; 0: 1, so that events come in order
	Retry       time.Duration // before the first repetition of a failed call, doubled each time; 0: 2 s
	Patience    int           // failures in a row before the server is left alone; 0: 5
	Pause       time.Duration // for how long; 0: 1 min
	PerSecond   int           // calls with the community's token; 0: 20; below 0: no limit
	Flood       int           // equal texts to one peer within a minute before error 9; 0: 30
}

// Server is the fake. Its methods may be called from several goroutines.
type Server struct {
	cfg Config

	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu       sync.Mutex
	base     string
	settings settings
	lacking  []string // rights that the token has not
	users    map[int64]*user
	crowd    crowd.Crowd // of whom users has those to whom something happened
	newest   *message    // to one of them
	peers    map[int64]*peer
	byID     map[int64]*message
	randoms  map[randomKey]*message
	uploads  map[string]*file // by the token that an upload gives
	files    map[string]*file // by the path that serves them
	media    map[string]*file // "photo-1_2", "doc-1_3"
	presses  map[string]*press
	hooks    []*hook
	poll     longPoll
	recent   []time.Time // of calls, for the limit per second
	lastID   int64       // of messages, media, servers
	watchers map[chan struct{}]bool
}

// randomKey is what random_id has to be unique for.
type randomKey struct{ peer, random int64 }

// Name is the community's name.
func (s *Server) Name() string { return s.cfg.Name }

// New gives a server with no customers and no callback server.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Faults == nil {
		c.Faults = &fault.Set{}
	}
	if c.Calls == nil {
		c.Calls = &fault.Log{}
	}
	if c.Client == nil {
		c.Client = &http.Client{Timeout: 10 * time.Second}
	}
	setDefault(&c.Name, "Support")
	setDefault(&c.Connections, 1)
	setDefault(&c.Retry, 2*time.Second)
	setDefault(&c.Patience, 5)
	setDefault(&c.Pause, time.Minute)
	setDefault(&c.PerSecond, 20)
	setDefault(&c.Flood, 30)
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		cfg: c, ctx: ctx, cancel: cancel, base: strings.TrimSuffix(c.URL, "/"),
		settings: settings{messages: true, bots: true, startButton: true},
		users:    map[int64]*user{}, peers: map[int64]*peer{}, byID: map[int64]*message{},
		randoms: map[randomKey]*message{}, uploads: map[string]*file{}, files: map[string]*file{},
		media: map[string]*file{}, presses: map[string]*press{}, watchers: map[chan struct{}]bool{},
	}
	s.poll = newLongPoll()
	return s
}

func setDefault[T comparable](v *T, fallback T) {
	var zero T
	if *v == zero {
		*v = fallback
	}
}

// SetURL says where the server is reached: addresses of files begin with it.
func (s *Server) SetURL(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = strings.TrimSuffix(url, "/")
}

// Close stops the deliveries and waits for those under way.
func (s *Server) Close() {
	s.mu.Lock()
	s.cancel()
	for _, h := range s.hooks {
		h.stop()
	}
	s.mu.Unlock()
	s.tasks.Wait()
}

// ServeHTTP answers everything that a bot may ask of VK.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.cfg.URL == "" && r.Host != "" && s.base == "" {
		s.base = "http://" + r.Host
	}
	s.mu.Unlock()
	switch {
	case strings.HasPrefix(r.URL.Path, "/method/"):
		s.serveMethod(w, r, strings.TrimPrefix(r.URL.Path, "/method/"))
	case strings.HasPrefix(r.URL.Path, "/upload/"):
		if err := slurp(r); err != nil {
			http.Error(w, "Bad Request", http.StatusBadRequest)
			return
		}
		s.serve(w, r, "upload", s.serveUpload)
	case strings.HasPrefix(r.URL.Path, "/file/"):
		s.serve(w, r, "file", s.serveFile)
	case strings.HasPrefix(r.URL.Path, "/longpoll/"):
		s.serve(w, r, "longpoll", s.serveLongPoll)
	default:
		http.NotFound(w, r)
	}
}

// serve runs a call that is not a method under the faults for name. An injected
// status is the HTTP status here.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, name string, next http.HandlerFunc) {
	s.cfg.Faults.Serve(w, r, name, next, func(w http.ResponseWriter, f fault.Fault) {
		if f.Status < http.StatusBadRequest { // a code of VK's methods
			f.Status = http.StatusInternalServerError
		}
		http.Error(w, http.StatusText(f.Status), f.Status)
	})
}

func (s *Server) now() time.Time { return s.cfg.Now() }

// nextID gives a new id; callers hold s.mu.
func (s *Server) nextID() int64 {
	s.lastID++
	return s.lastID
}

// spawn runs f in the background until Close; callers hold s.mu.
func (s *Server) spawn(f func()) {
	if s.ctx.Err() != nil {
		return
	}
	s.tasks.Add(1)
	go func() {
		defer s.tasks.Done()
		f()
	}()
}
