package chaos

import (
	"context"
	"errors"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
)

// Scenario is broadcasts and what happens to them.
type Scenario struct {
	Name      string
	Messenger messenger.Name    // "": Telegram
	Workers   int               // processes; 0: one
	Sink      int               // messages a second that the messenger takes; 0: any number
	Vars      map[string]string // of the workers, besides the usual ones
	// OwnPostgres: it is restarted.
	OwnPostgres bool
	// Hurry lets two minutes pass in the databases instead of waiting for them, where
	// nobody works any more: a worker may be killed more often.
	Hurry bool
	// Slow: it waits for real leases, or may have to.
	Slow bool

	broadcasts func(recipients int) int // recipients of all broadcasts; nil: of one
	play       func(ctx context.Context, w *world) error
}

// Scenarios are all of them, those that take long first.
func Scenarios() []Scenario {
	sink := map[string]string{"TELEGRAM_RATE_PER_SECOND": "90"} // broadcasts get two thirds
	twice := func(n int) int { return 2 * n }
	nobody := func(int) int { return 0 }
	return []Scenario{
		{Name: "B SIGKILL, real leases", Workers: 2, Slow: true, play: killed(3)},
		{Name: "D sink of 30/s with 429", Sink: 30, Vars: sink, play: everybody},
		{Name: "Postgres restarted", OwnPostgres: true, play: restarted},
		{Name: "queue: twice, late, lost", Workers: 2, broadcasts: twice, play: misled},
		{Name: "B SIGKILL", Hurry: true, play: killed(20)},
		{Name: "B SIGKILL, VK", Messenger: messenger.VK, Hurry: true, play: killed(20)},
		{Name: "C SIGTERM", Hurry: true, play: stopped(20)},
		{Name: "C SIGTERM, VK", Messenger: messenger.VK, Hurry: true, play: stopped(20)},
		{Name: "F two workers", Workers: 2, broadcasts: twice, play: overtaken},
		{Name: "F four workers", Workers: 4, broadcasts: twice, play: overtaken},
		{Name: "F a frozen worker comes back", Workers: 2, Slow: true, play: frozen},
		{Name: "pause, change of rate, resume", play: paused},
		{Name: "only blocked people", play: blocked},
		{Name: "nobody", broadcasts: nobody, play: empty},
		{Name: "429 of three hours, one chat", broadcasts: twice, play: oneWaits},
		{Name: "429 of three hours, all", play: allWait},
		{Name: "Redis wiped", play: wiped},
	}
}

func (w *world) expected() int {
	if w.broadcasts == nil {
		return w.Recipients
	}
	return w.broadcasts(w.Recipients)
}

// latency is the messenger's.
const latency = 20 * time.Millisecond

// Play plays the scenario. The error says what did not end as it has to.
func (s Scenario) Play(ctx context.Context, o Options) (r Result, err error) {
	if s.Messenger == "" {
		s.Messenger = messenger.Telegram
	}
	r.Name = s.Name
	w, err := newWorld(ctx, s, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.people(ctx); err != nil {
		return r, err
	}
	w.slowly()
	if err := w.work(); err != nil {
		return r, err
	}
	played := s.play(ctx, w)
	r, err = w.tally(ctx)
	return r, errors.Join(played, err)
}

// slowly gives the messenger its usual latency, and no other fault.
func (w *world) slowly() {
	w.faults.Clear()
	for _, method := range []string{"sendMessage", "messages.send"} {
		w.faults.Add(fault.Fault{Method: method, Kind: fault.Delay, Wait: latency})
	}
}
