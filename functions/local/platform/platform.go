// Package platform runs every function in one process, joined as in the cloud: a
// gateway in front of the HTTP functions, triggers between the queues and their
// workers, a timer. Each function is wired by its own wire package from the same
// variables as in the cloud; only the queue may be one in memory.
package platform

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	notificationapi "supportbot/functions/notification-api/wire"
	notificationworker "supportbot/functions/notification-worker/wire"
	reconciler "supportbot/functions/reconciler/wire"
	telegram "supportbot/functions/telegram-webhook/wire"
	tickets "supportbot/functions/ticket-worker/wire"
	trackerhandler "supportbot/functions/tracker-handler/wire"
	trackerworker "supportbot/functions/tracker-worker/wire"
	vk "supportbot/functions/vk-webhook/wire"
	"supportbot/shared/broadcast"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/queue"
	"supportbot/shared/queue/memqueue"
	"supportbot/shared/queue/trigger"
	"supportbot/shared/queue/ymq"
	"supportbot/shared/reconcile"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring"
	"supportbot/shared/ycf"
)

// Queue is both sides of a message queue.
type Queue interface {
	queue.Publisher
	queue.Source
}

// Config says what a Platform is made of.
type Config struct {
	Lookup func(string) (string, bool) // the environment
	Log    func(function string) *slog.Logger
	Queue  Queue              // nil: Message Queue if QUEUE_ENDPOINT is set, else one in memory
	Tick   time.Duration      // of the reconciler; 0: a minute, as in the cloud
	Hook   func(point string) // for crash tests
	Now    func() time.Time   // nil: the machine's clock
	Lease  time.Duration      // of lanes; 0: job.Lease
}

// Times of the local triggers, in the order that the cloud needs: the queue's
// visibility is longer than the function's time, which is longer than the
// worker's own.
const (
	visibility = 90 * time.Second
	timeout    = 60 * time.Second
	receives   = 5
	// A batch of a broadcast takes the time of a whole call.
	batchVisibility = 360 * time.Second
	batchTimeout    = 300 * time.Second
)

// NewQueue makes a queue in memory with the queues of the platform, each with its
// dead letters.
func NewQueue(clock memqueue.Clock) *memqueue.Broker {
	var all []memqueue.Queue
	for name, visibility := range map[string]time.Duration{
		ticket.QueueTickets: visibility, ticket.QueueDeliveries: visibility, broadcast.Queue: batchVisibility,
	} {
		all = append(all,
			memqueue.Queue{Name: name, Visibility: visibility, Dead: queue.Dead(name), MaxReceives: receives},
			memqueue.Queue{Name: queue.Dead(name), Visibility: visibility})
	}
	return memqueue.New(clock, all...)
}

// Platform is all functions, built and not yet running.
type Platform struct {
	// Handler serves the paths of the gateway.
	Handler http.Handler
	// Telegram and VK are the webhooks alone, for long polling; nil without the
	// messenger's token.
	Telegram, VK http.Handler

	cfg        Config
	queue      Queue
	http       map[string]http.Handler // functions that are called over HTTP
	tickets    *job.Worker
	deliveries *job.Worker
	broadcasts *job.Worker
	reconciler *reconcile.Service
}

// New builds the functions. A messenger without a token is left out.
func New(cfg Config) (*Platform, error) {
	if cfg.Tick == 0 {
		cfg.Tick = time.Minute
	}
	p := &Platform{cfg: cfg, queue: cfg.Queue}
	var err error
	if p.queue == nil {
		if p.queue, err = openQueue(cfg.Lookup); err != nil {
			return nil, err
		}
	}
	if err := p.webhooks(); err != nil {
		return nil, err
	}
	if p.tickets, err = tickets.New(p.runtime("ticket-worker")); err != nil {
		return nil, fmt.Errorf("ticket-worker: %w", err)
	}
	if p.deliveries, err = trackerworker.New(p.runtime("tracker-worker")); err != nil {
		return nil, fmt.Errorf("tracker-worker: %w", err)
	}
	if p.broadcasts, err = notificationworker.New(p.runtime("notification-worker")); err != nil {
		return nil, fmt.Errorf("notification-worker: %w", err)
	}
	if p.reconciler, err = reconciler.New(p.runtime("reconciler")); err != nil {
		return nil, fmt.Errorf("reconciler: %w", err)
	}
	return p, nil
}

func openQueue(lookup func(string) (string, bool)) (Queue, error) {
	if v, _ := lookup("QUEUE_ENDPOINT"); v == "" {
		return NewQueue(nil), nil
	}
	e := env.NewReaderFrom(lookup)
	cfg := ymq.ConfigFrom(e, ticket.QueueTickets, ticket.QueueDeliveries, broadcast.Queue)
	if err := e.Err(); err != nil {
		return nil, err
	}
	return ymq.New(cfg)
}

func (p *Platform) runtime(function string) wiring.Runtime {
	return wiring.Runtime{
		Env: env.NewReaderFrom(p.cfg.Lookup), Log: p.cfg.Log(function), Queue: p.queue, Hook: p.cfg.Hook, Now: p.cfg.Now,
		Lease: p.cfg.Lease,
	}
}

// webhooks builds the HTTP functions and the gateway before them.
func (p *Platform) webhooks() (err error) {
	var routes []ycf.Route
	p.http = map[string]http.Handler{}
	if p.has("TELEGRAM_TOKEN") {
		if p.Telegram, err = telegram.New(p.runtime("telegram-webhook")); err != nil {
			return fmt.Errorf("telegram-webhook: %w", err)
		}
		p.http["telegram-webhook"] = p.Telegram
		routes = append(routes, ycf.Route{Path: "/telegram", Handler: p.Telegram, Format: ycf.Format10})
	}
	if p.has("VK_TOKEN") {
		if p.VK, err = vk.New(p.runtime("vk-webhook")); err != nil {
			return fmt.Errorf("vk-webhook: %w", err)
		}
		p.http["vk-webhook"] = p.VK
		routes = append(routes, ycf.Route{Path: "/vk", Handler: p.VK, Format: ycf.Format10})
	}
	tracker, err := trackerhandler.New(p.runtime("tracker-handler"))
	if err != nil {
		return fmt.Errorf("tracker-handler: %w", err)
	}
	routes = append(routes, ycf.Route{Path: "/tracker", Handler: tracker, Format: ycf.Format10})
	api, err := notificationapi.New(p.runtime("notification-api"))
	if err != nil {
		return fmt.Errorf("notification-api: %w", err)
	}
	p.http["tracker-handler"], p.http["notification-api"] = tracker, api
	for _, path := range []string{"/v1/{path+}", "/console", "/console/", "/console/{path+}"} {
		routes = append(routes, ycf.Route{Path: path, Handler: api, Format: ycf.Format10})
	}
	p.Handler = ycf.Gateway(routes...)
	return nil
}

func (p *Platform) has(name string) bool {
	v, _ := p.cfg.Lookup(name)
	return v != ""
}

// Run serves the queues and the timer until ctx ends, and returns when the calls
// under way are over.
func (p *Platform) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, run := range []func(){
		func() {
			trigger.Run(ctx, p.cfg.Log("trigger"), p.queue,
				trigger.Queue{Name: ticket.QueueTickets, Handle: p.tickets.Handle, Batch: 10, Timeout: timeout},
				trigger.Queue{Name: ticket.QueueDeliveries, Handle: p.deliveries.Handle, Batch: 10, Timeout: timeout},
				trigger.Queue{Name: broadcast.Queue, Handle: p.broadcasts.Handle, Batch: 1, Timeout: batchTimeout})
		},
		func() {
			t := trigger.Timer{Name: "reconciler", Every: p.cfg.Tick, Timeout: timeout, Handle: p.reconciler.Handle, Log: p.cfg.Log("timer")}
			t.Run(ctx)
		},
	} {
		all.Add(1)
		go func() {
			defer all.Done()
			run()
		}()
	}
	all.Wait()
}

// Reconcile runs the duties once, for tests that do not wait for the timer.
func (p *Platform) Reconcile(ctx context.Context) error { return p.reconciler.Handle(ctx, nil) }
