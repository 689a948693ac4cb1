// Package wiring puts the parts together from environment variables: what every
// function needs (Core) and what those need that talk to people and Tracker
// (Bot, in its child package). Each function's own wire package adds the rest, so
// that it links no more than it uses.
package wiring

import (
	"log/slog"
	"os"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/obs"
	"supportbot/shared/postgres"
	"supportbot/shared/queue"
	"supportbot/shared/queue/ymq"
	"supportbot/shared/ticket"
)

// Runtime is what a function finds where it runs.
type Runtime struct {
	Env *env.Reader
	Log *slog.Logger
	// Queue replaces Message Queue in the local run; nil: QUEUE_* variables.
	Queue queue.Publisher
	// Hook is called at the points of jobs and conversations; nil outside crash
	// tests.
	Hook func(point string)
	// Now is the clock of the machine if nil; chaos runs put it wrong.
	Now func() time.Time
	// Lease is how long leases of lanes last, if not job.Lease; chaos runs shorten it.
	Lease time.Duration
}

// Clock is the wall clock that a function reads.
func (rt Runtime) Clock() func() time.Time {
	if rt.Now == nil {
		return time.Now
	}
	return rt.Now
}

// Cloud is the runtime of a deployed function.
func Cloud(function string) Runtime {
	level := slog.LevelInfo
	if os.Getenv("LOG_LEVEL") == "debug" {
		level = slog.LevelDebug
	}
	return Runtime{Env: env.NewReader(), Log: obs.NewLogger(os.Stdout, function, level)}
}

// Core is the database of jobs and the way to send hints for them.
type Core struct {
	DB        *postgres.DB
	Publisher *job.Publisher
	// Queue is what hints are sent to. Whoever wants more of it than that asks whether it
	// is a queue.Source or a queue.Counter, too.
	Queue queue.Publisher

	limit time.Duration // of a call of the function; 0: none
}

// NewCore opens the core. It reads every variable that it needs and gives all
// problems at once; callers read theirs before, into the same reader.
func NewCore(rt Runtime) (Core, error) {
	cfg := postgres.ConfigFrom(rt.Env)
	limit := rt.Env.Duration("FUNCTION_TIMEOUT", 0)
	var sqs ymq.Config
	if rt.Queue == nil {
		sqs = ymq.ConfigFrom(rt.Env, ticket.QueueTickets, ticket.QueueDeliveries, broadcast.Queue)
	}
	if err := rt.Env.Err(); err != nil {
		return Core{}, err
	}
	cfg.Lease = rt.Lease
	db, err := postgres.Open(cfg)
	if err != nil {
		return Core{}, err
	}
	q := rt.Queue
	if q == nil {
		if q, err = ymq.New(sqs); err != nil {
			db.Close()
			return Core{}, err
		}
	}
	return Core{DB: db, Publisher: &job.Publisher{Queue: q, Store: db, Log: rt.Log}, Queue: q, limit: limit}, nil
}

// Worker is a worker on one queue.
func (c Core) Worker(rt Runtime, queue string, kinds ...map[string]job.Kind) *job.Worker {
	all := map[string]job.Kind{}
	for _, m := range kinds {
		for name, k := range m {
			all[name] = k
		}
	}
	clock := job.SystemClock()
	if rt.Now != nil {
		clock.Wall = func() time.Time { return rt.Now().Round(0) }
	}
	return &job.Worker{
		Queue: queue, Kinds: all, Store: c.DB, Publisher: c.Publisher,
		Log: rt.Log, Clock: clock, Lease: rt.Lease, Hook: rt.Hook, Limit: c.limit,
	}
}
