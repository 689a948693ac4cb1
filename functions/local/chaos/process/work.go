// Package process runs all functions in a process of their own, wired from the
// environment as in the cloud, so that it can be killed, frozen and told a wrong time.
//
// A program that wants such processes starts itself again with the arguments chaos and
// worker, and calls Work then.
package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"supportbot/functions/local/platform"
	"supportbot/shared/obs"
)

// Command is the second argument of a program that is to call Work; the first one is
// chaos.
const Command = "worker"

// QueueVariable names the queue to a process: the address of a platform.ServeQueue.
const QueueVariable = "CHAOS_QUEUE"

// AheadVariable says how far a process's clock is ahead from the beginning.
const AheadVariable = "CHAOS_AHEAD"

// LeaseVariable says how long the leases of lanes last, if not job.Lease.
const LeaseVariable = "CHAOS_LEASE"

// skewed says in front of a duration how far the process's clock is wrong.
const skewed = "clock "

// Work serves the queues, the timer and the webhooks until ctx ends, or nobody is left
// to tell it.
func Work(ctx context.Context) error {
	lookup := func(name string) (string, bool) { v, ok := os.LookupEnv(name); return v, ok && v != "" }
	address, ok := lookup(QueueVariable)
	if !ok {
		return errors.New(QueueVariable + " is not set: a worker is started by a play")
	}
	var clock clock
	if ahead, ok := lookup(AheadVariable); ok {
		clock.put(ahead)
	}
	var lease time.Duration
	if text, ok := lookup(LeaseVariable); ok {
		var err error
		if lease, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("read %s: %w", LeaseVariable, err)
		}
	}
	p, err := platform.New(platform.Config{
		Lookup: lookup,
		Log:    func(f string) *slog.Logger { return obs.NewLogger(os.Stderr, f, slog.LevelInfo) },
		Queue:  platform.RemoteQueue(address),
		Tick:   time.Second,
		Now:    clock.now,
		Lease:  lease,
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	front := &http.Server{Handler: p.Handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = front.Serve(l) }()
	go func() {
		clock.obey(os.Stdin) // until the parent ends, whatever it dies of
		os.Exit(0)
	}()
	fmt.Printf("http://%s\n", l.Addr())
	p.Run(ctx)
	return front.Shutdown(context.WithoutCancel(ctx))
}

// clock is the machine's, put wrong by what the parent says.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) obey(orders io.Reader) {
	for lines := bufio.NewScanner(orders); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), skewed); ok {
			c.put(text)
		}
	}
}

func (c *clock) put(ahead string) {
	if d, err := time.ParseDuration(ahead); err == nil {
		c.ahead.Store(int64(d))
	}
}
