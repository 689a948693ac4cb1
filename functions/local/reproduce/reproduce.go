// Package reproduce hands an event that was recorded in production to the function
// that it was for, on a local platform, and shows what came of it.
package reproduce

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"supportbot/functions/local/platform"
	"supportbot/shared/broadcast"
	"supportbot/shared/queue"
	"supportbot/shared/sandbox"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/ticket"
)

// Config is where an event is reproduced.
type Config struct {
	Platform *platform.Platform
	Queue    platform.Queue   // that the platform publishes to
	Services *sandbox.Running // the stand-ins
	Secrets  Secrets
	Out      io.Writer
}

// Run reproduces an event and prints the function's answer, what the stand-ins were
// asked and what was published. What the function logs goes where the platform's log
// does. The error is that of the function.
func Run(ctx context.Context, c Config, e Event) error {
	if err := e.Localize(c.Secrets); err != nil {
		return err
	}
	acquaint(c.Services, e)
	c.say("%s -> %s", e.What, e.Function)
	before := c.counts()
	answer, err := c.Platform.Invoke(ctx, e.Function, e.Raw)
	switch {
	case err != nil:
		c.say("answer: failed: %v", err)
	case answer != nil:
		c.say("answer: %s", show(answer))
	default:
		c.say("answer: none, as it should be")
	}
	c.calls(before)
	c.published(ctx)
	return err
}

func (c Config) say(format string, args ...any) { _, _ = fmt.Fprintf(c.Out, format+"\n", args...) }

// log is the calls of a stand-in.
type log struct {
	name string
	*fault.Log
}

func (c Config) logs() (all []log) {
	if s := c.Services.Telegram; s != nil {
		all = append(all, log{"Telegram", s.Calls()})
	}
	if s := c.Services.VK; s != nil {
		all = append(all, log{"VK", s.Calls()})
	}
	if s := c.Services.Tracker; s != nil {
		all = append(all, log{"Tracker", s.Calls()})
	}
	return all
}

func (c Config) counts() (counts []int) {
	for _, l := range c.logs() {
		counts = append(counts, l.Count())
	}
	return counts
}

// calls prints what was asked of the stand-ins since then.
func (c Config) calls(before []int) {
	n := 0
	for i, l := range c.logs() {
		for _, call := range l.Since(before[i]) {
			n++
			c.say("call: %s %s %s -> %d %s", l.name, call.Method, call.Params, call.Status, call.Result)
		}
	}
	if n == 0 {
		c.say("call: none of the stand-ins was asked anything")
	}
}

// published prints what the function left to others.
func (c Config) published(ctx context.Context) {
	for _, name := range []string{ticket.QueueTickets, ticket.QueueDeliveries, broadcast.Queue} {
		messages, err := c.Queue.Receive(ctx, name, 10, 0)
		if err != nil {
			c.say("queue %s: %v", name, err)
		}
		for _, m := range messages {
			hint, err := queue.ParseHint(m.Body)
			if err != nil {
				c.say("published to %s: %s", name, m.Body)
				continue
			}
			c.say("published to %s: job %d", name, hint.Job)
		}
	}
}

// show is the response event of an HTTP function as a person reads it; of another
// function its answer.
func show(answer []byte) string {
	var r struct {
		Status int    `json:"statusCode"`
		Body   string `json:"body"`
		Packed bool   `json:"isBase64Encoded"`
	}
	if err := json.Unmarshal(answer, &r); err != nil || r.Status == 0 {
		return string(answer)
	}
	if r.Packed {
		if plain, err := base64.StdEncoding.DecodeString(r.Body); err == nil {
			r.Body = string(plain)
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, r.Body))
}
