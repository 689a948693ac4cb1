package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"supportbot/shared/sandbox/history"
	"supportbot/shared/sandbox/tracker"
)

// Past is how a history gets into the tracker, and from there into the analytics.
type Past struct {
	Access     history.Access
	Queues     []string // the first one takes the tickets
	Categories []history.Category
	Zone       *time.Location
	// Load loads what was updated at since or later; told is called now and then with
	// how many tickets are left. nil: nothing is loaded.
	Load func(ctx context.Context, since time.Time, told func(left int)) error
}

const (
	historyMost  = 50_000          // tickets of one history
	historySpare = 10_000          // how many others there may be, each takes some kilobytes
	historyYears = 1               // back from now
	historyGap   = 5 * time.Minute // before now: the platform polls for what is newer
	tellingEvery = 250 * time.Millisecond
)

// The states of a history.
const (
	historyPlaying = "playing"
	historyLoading = "loading"
	historyDone    = "done"
	historyFailed  = "failed"
)

// historyView is how far the history is; without a State there is none yet.
type historyView struct {
	Offered bool   `json:"offered"`
	State   string `json:"state,omitempty"`
	Tickets int    `json:"tickets,omitempty"` // that are being made
	Done    int    `json:"done,omitempty"`    // of them, made or loaded, as the state says
	Problem string `json:"problem,omitempty"`
}

// past is the history that is being made.
type past struct {
	mu   sync.Mutex
	view historyView
	told time.Time
}

func (s *Sandbox) historyPane() pane {
	s.past.mu.Lock()
	defer s.past.mu.Unlock()
	s.past.view.Offered = s.cfg.History != nil && s.tracker != nil
	return pane{head: s.past.view}
}

// progress notes how far it is, and shows that when it is worth it.
func (s *Sandbox) progress(change func(*historyView), now bool) {
	s.past.mu.Lock()
	change(&s.past.view)
	if now = now || time.Since(s.past.told) > tellingEvery; now {
		s.past.told = time.Now()
	}
	s.past.mu.Unlock()
	if now {
		s.changed()
	}
}

// playHistory takes {"tickets", "seed"} and begins a history of a year, which goes on
// in the background; the pane "history" shows how far it is.
func (s *Sandbox) playHistory(r *http.Request) (any, error) {
	var body struct {
		Tickets int    `json:"tickets"`
		Seed    uint64 `json:"seed"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	if s.cfg.History == nil || s.tracker == nil {
		return nil, fmt.Errorf("history: %w", errNotFound)
	}
	_, there := s.tracker.Find(tracker.Wanted{}, 0)
	if room := max(historyMost+historySpare-there, 0); body.Tickets < 1 || body.Tickets > min(historyMost, room) {
		return nil, fmt.Errorf("%w tickets: from 1 to %d, and there is room for %d", errInvalid, historyMost, room)
	}
	if !s.begin(body.Tickets) {
		return nil, fmt.Errorf("%w history: one is being made already", errInvalid)
	}
	go func() {
		defer s.playing.Done()
		s.remember(s.ctx, body.Tickets, body.Seed)
	}()
	return map[string]int{"tickets": body.Tickets}, nil
}

// begin takes the place of the one history that may be under way.
func (s *Sandbox) begin(tickets int) bool {
	s.past.mu.Lock()
	defer s.past.mu.Unlock()
	if state := s.past.view.State; state == historyPlaying || state == historyLoading || s.ctx.Err() != nil {
		return false
	}
	s.past.view = historyView{State: historyPlaying, Tickets: tickets}
	s.playing.Add(1)
	return true
}

// remember plays a history and has it loaded.
func (s *Sandbox) remember(ctx context.Context, tickets int, seed uint64) {
	began := time.Now()
	err := s.play(ctx, began, tickets, seed)
	if err == nil && s.cfg.History.Load != nil {
		s.progress(func(v *historyView) { v.State, v.Done = historyLoading, 0 }, true)
		err = s.cfg.History.Load(ctx, began.AddDate(-historyYears, 0, 0).Truncate(time.Second), func(left int) {
			s.progress(func(v *historyView) { v.Done = max(tickets-left, 0) }, true)
		})
	}
	state, problem := historyDone, ""
	if err != nil {
		state, problem = historyFailed, err.Error()
		if errors.Is(err, context.Canceled) {
			problem = "" // the page goes
		} else {
			s.log.ErrorContext(ctx, "history was not made", slog.Any("error", err))
		}
	}
	s.progress(func(v *historyView) { v.State, v.Problem = state, problem }, true)
}

func (s *Sandbox) play(ctx context.Context, now time.Time, tickets int, seed uint64) error {
	h := s.cfg.History
	access := h.Access
	access.Name = fmt.Sprintf("history-%d-%x", seed, now.UnixNano()) // the same seed may come again
	plan := history.New(history.Config{
		Seed: seed, Tickets: tickets, From: now.AddDate(-historyYears, 0, 0), To: now.Add(-historyGap), Zone: h.Zone,
		Queues: h.Queues, Categories: h.Categories, Agents: s.logins(),
	})
	player, err := history.NewPlayer(ctx, access, h.Queues...)
	if err != nil {
		return err
	}
	defer player.Close()
	return player.Play(ctx, plan, func(done int) {
		s.progress(func(v *historyView) { v.Done = done }, false)
	})
}

func (s *Sandbox) logins() (logins []string) {
	for _, a := range s.tracker.Catalogue().Agents {
		logins = append(logins, a.Login)
	}
	return logins
}
