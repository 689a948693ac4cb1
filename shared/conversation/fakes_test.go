package conversation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/pace"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

// records is Postgres as far as a conversation sees it.
type records struct {
	mu      sync.Mutex
	jobs    map[string][]job.New // by key; parts of an album under one
	order   []string
	person  person.Person
	reach   *bool
	visits  int
	named   string // who came last
	inserts int    // of keys that were there already
	down    error
	unknown bool // nobody has written yet
}

func newRecords() *records {
	return &records{jobs: map[string][]job.New{}, person: person.Person{ID: 1 << 50, Locale: "ru", Settings: person.DefaultSettings}}
}

func (r *records) Record(ctx context.Context, v person.Visit, jobs []job.New) (person.Person, []job.Inserted, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(r.down, ctx.Err()); err != nil {
		return person.Person{}, nil, err
	}
	if v.Identity.Address.Chat == "" || v.Identity.SeenAt.IsZero() {
		return person.Person{}, nil, fmt.Errorf("visit of nobody: %+v", v)
	}
	r.visits++
	r.named = v.Identity.User.Name
	if v.Update.Locale != nil {
		r.person.Locale = *v.Update.Locale
	}
	if v.Update.Settings != nil {
		r.person.Settings = r.person.Settings.With(*v.Update.Settings)
	}
	if v.Update.Reachable != nil {
		if r.unknown && !*v.Update.Reachable {
			return person.Person{}, nil, nil
		}
		r.reach, r.unknown = v.Update.Reachable, false
	}
	var out []job.Inserted
	for _, j := range jobs {
		old, there := r.jobs[j.Key]
		switch {
		case !there:
			r.jobs[j.Key] = []job.New{j}
			r.order = append(r.order, j.Key)
		case j.Gather != nil && !slices.ContainsFunc(old, func(o job.New) bool { return o.Gather.Member == j.Gather.Member }):
			r.jobs[j.Key] = append(old, j)
		default:
			r.inserts++
		}
		out = append(out, job.Inserted{ID: int64(len(r.order)), Key: j.Key, Queue: j.Queue, Lane: j.Lane.Name, State: job.Accepted, New: !there})
	}
	return r.person, out, nil
}

// kinds gives the jobs in the order of their insertion.
func (r *records) kinds() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, key := range r.order {
		out = append(out, r.jobs[key][0].Kind)
	}
	return out
}

func (r *records) set(down error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

// sender is a messenger.
type sender struct {
	mu       sync.Mutex
	bot      string
	settle   time.Duration
	sent     []messenger.Outgoing
	edits    []string
	answered []string
	board    messenger.Keyboard
	calls    int     // of Send and Edit
	fail     []error // one for each coming call; nil = it works
	failEdit error
	before   func(messenger.Outgoing)
	asked    int            // for names
	known    messenger.User // what is told then; without a name it is none
}

func (s *sender) Profile(context.Context, string) (messenger.User, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.known.Name == "" {
		return messenger.User{}, failure(messenger.RateLimited, time.Second)
	}
	return s.known, nil
}

func (s *sender) Name() messenger.Name { return messenger.Telegram }
func (s *sender) Bot() string          { return s.bot }
func (s *sender) Limits() messenger.Limits {
	return messenger.Limits{Text: 4096, Download: 20 << 20, Settle: s.settle}
}
func (s *sender) Plain(text string) []messenger.Part {
	var parts []messenger.Part
	for _, p := range strings.Split(text, "\f") { // where a test wants several
		parts = append(parts, messenger.Part{Text: p})
	}
	return parts
}

func (s *sender) Send(_ context.Context, o messenger.Outgoing) (messenger.Receipt, error) {
	if s.before != nil {
		s.before(o)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if len(s.fail) > 0 {
		err := s.fail[0]
		s.fail = s.fail[1:]
		if err != nil {
			return messenger.Receipt{}, err
		}
	}
	s.sent = append(s.sent, o)
	if o.Keyboard != nil {
		s.board = o.Keyboard
	}
	return messenger.Receipt{MessageID: strconv.Itoa(len(s.sent))}, nil
}

func (s *sender) Edit(_ context.Context, id string, o messenger.Outgoing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.failEdit != nil {
		return s.failEdit
	}
	s.edits = append(s.edits, id)
	s.board = o.Keyboard
	return nil
}

func (s *sender) Answer(_ context.Context, p messenger.Press, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered = append(s.answered, p.ID)
	return nil
}

func (s *sender) find(label string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.board {
		for _, b := range row {
			if strings.HasPrefix(b.Label, label) {
				return b.Data
			}
		}
	}
	return "no button " + label
}

func (s *sender) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, o := range s.sent {
		out = append(out, o.Part.Text)
	}
	return out
}

// keys gives how often each reply was sent.
func (s *sender) keys() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for _, o := range s.sent {
		out[o.Key]++
	}
	return out
}

func (s *sender) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent, s.edits, s.answered = nil, nil, nil
}

// lister is Tracker.
type lister struct {
	mu       sync.Mutex
	list     []ticket.Summary
	history  []ticket.Entry
	down     error
	hang     bool
	tickets  int // calls
	histored []ticket.Ref
}

func (l *lister) Tickets(ctx context.Context, _ messenger.Address) ([]ticket.Summary, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tickets++
	if l.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return l.list, l.down
}

func (l *lister) History(_ context.Context, _ messenger.Address, ref ticket.Ref) ([]ticket.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.histored = append(l.histored, ref)
	return l.history, l.down
}

func (l *lister) set(down error, list ...ticket.Summary) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.list = down, list
}

type hints struct {
	mu   sync.Mutex
	keys []string
}

func (h *hints) Publish(_ context.Context, jobs []job.Inserted) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, j := range jobs {
		h.keys = append(h.keys, j.Key)
	}
}

// pacer gives places; one that was told of a refusal gives none before it is over.
type pacer struct {
	mu      sync.Mutex
	refuse  bool
	refused []time.Duration
	places  int // given
	pause   time.Time
}

func (p *pacer) Reserve(_ context.Context, _ messenger.Address, most time.Duration) (pace.Grant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := max(time.Until(p.pause), time.Millisecond)
	if p.refuse || wait > most {
		return pace.Grant{Wait: wait}, nil
	}
	p.places++
	return pace.Grant{OK: true, Wait: wait}, nil
}

func (p *pacer) Refused(_ context.Context, _ messenger.Address, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = append(p.refused, wait)
	p.pause = time.Now().Add(wait)
}

// trips counts round trips to Redis.
type trips struct{ n atomic.Int64 }

func (h *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.n.Add(1)
		return next(ctx, cmd)
	}
}

func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.n.Add(1)
		return next(ctx, cmds)
	}
}

type locked struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
