// Package telegram is a stand-in for Telegram: the Bot API that a bot calls, the
// webhook calls and getUpdates by which the bot learns what happened, and the
// customers with their phones. It is as strict as the original (Bot API 10.1,
// core.telegram.org/bots/api; behaviour that is not documented there follows the
// published server, tdlib/telegram-bot-api); where neither says, it takes the
// stricter reading and the comment says so.
//
// Server is an http.Handler with the original's paths: /bot<token>/<method> and
// /file/bot<token>/<path>.
package telegram

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"supportbot/shared/sandbox/crowd"
	"supportbot/shared/sandbox/fault"
)

// Config is what a server is made of.
type Config struct {
	Token string // "<bot id>:<secret>"
	Bot   User   // its ID is the token's; FirstName and Username have defaults

	Log    *slog.Logger     // nil: silent
	Now    func() time.Time // nil: time.Now
	Faults *fault.Set       // nil: none
	Calls  *fault.Log       // nil: not kept
	Client *http.Client     // for webhook calls; nil: one with 60 s, as the original

	// ReadsGroups turns the bot's privacy mode off: it gets all messages of its
	// groups. Else only commands, replies to it and messages that mention it.
	ReadsGroups bool

	PerSecond int // messages to all chats together; 0: 30; below 0: no limit
	Burst     int // messages to one chat at once, then 1/s; 0: 3; below 0: no limit
	PerMinute int // messages to one group; 0: 20; below 0: no limit

	MaxUpload   int64 // bytes of all files of one call; 0: 50 MB (a server of one's own takes 2000)
	FirstUpdate int64 // id of the first update; 0: 700000001
}

// Server is the fake. Its methods may be called from several goroutines.
type Server struct {
	cfg     Config
	methods map[string]handler
	detect  detector

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu       sync.Mutex
	users    map[int64]*user
	chats    map[int64]*chat
	crowd    crowd.Crowd      // of whom users has those to whom something happened
	newest   *message         // to one of them
	files    map[string]*file // by file_id
	paths    map[string]*file // by file_path
	presses  map[string]*press
	profile  profile
	total    bucket // of messages to all chats
	lastID   int64  // of users, chats, files, albums, presses
	lastSent int64  // of messages
	watchers map[chan struct{}]bool

	pending    []*update // in order, not confirmed
	lastUpdate int64
	allowed    map[string]bool // kinds of updates; nil: the default ones
	hook       *webhook        // nil: getUpdates
	nextHook   time.Time       // before which setWebhook is refused
	arrived    chan struct{}   // closed when an update arrives
	polling    chan struct{}   // closed when another getUpdates takes over
}

// New gives a server with no customers and no webhook.
func New(c Config) *Server {
	c = c.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		cfg: c, methods: methods(), detect: newDetector(), ctx: ctx, cancel: cancel,
		users: map[int64]*user{}, chats: map[int64]*chat{},
		files: map[string]*file{}, paths: map[string]*file{}, presses: map[string]*press{},
		profile: newProfile(), watchers: map[chan struct{}]bool{},
		lastUpdate: c.FirstUpdate - 1, arrived: make(chan struct{}),
	}
	s.total = bucket{rate: float64(c.PerSecond), burst: float64(c.PerSecond)}
	return s
}

func (c Config) withDefaults() Config {
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
	if c.Client == nil { // the original follows no redirects
		c.Client = &http.Client{
			Timeout:       time.Minute,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	setDefault(&c.PerSecond, 30)
	setDefault(&c.Burst, 3)
	setDefault(&c.PerMinute, 20)
	setDefault(&c.MaxUpload, 50<<20)
	setDefault(&c.FirstUpdate, 700_000_001)
	id, _, _ := strings.Cut(c.Token, ":")
	c.Bot.ID, _ = strconv.ParseInt(id, 10, 64)
	setDefault(&c.Bot.FirstName, "Support")
	setDefault(&c.Bot.Username, "support_sandbox_bot")
	return c
}

func setDefault[T comparable](v *T, fallback T) {
	var zero T
	if *v == zero {
		*v = fallback
	}
}

// Close stops the deliveries, the long polls and calls that hang, and waits for
// the deliveries under way.
func (s *Server) Close() {
	s.mu.Lock()
	s.cancel()
	if s.hook != nil {
		s.hook.stop()
	}
	s.mu.Unlock()
	s.tasks.Wait()
}

// ServeHTTP answers everything that a bot may ask of Telegram.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	s.serve(w, r.WithContext(ctx))
	if s.ctx.Err() != nil {
		panic(http.ErrAbortHandler) // a call that hung gets no answer
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if rest, ok := strings.CutPrefix(r.URL.Path, "/file/bot"); ok {
		s.serveFile(w, r, rest)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/bot")
	token, method, slash := strings.Cut(rest, "/")
	switch {
	case !ok || !slash:
		write(w, refuse(http.StatusNotFound, "Not Found").answer())
	case token != s.cfg.Token:
		write(w, refuse(http.StatusUnauthorized, "Unauthorized").answer())
	default:
		s.serveMethod(w, r, method)
	}
}

// Faults is where the server takes its faults from.
func (s *Server) Faults() *fault.Set { return s.cfg.Faults }

// Calls is the log of calls in both directions.
func (s *Server) Calls() *fault.Log { return s.cfg.Calls }

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
