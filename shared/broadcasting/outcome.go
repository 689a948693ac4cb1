package broadcasting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

func (g *sending) delivered(ctx context.Context, r broadcast.Recipient, receipt messenger.Receipt, err error) broadcast.Result {
	if err == nil {
		g.fine()
		return broadcast.Result{N: r.N, Outcome: broadcast.Sent, MessageID: receipt.MessageID}
	}
	return g.result(ctx, r, err)
}

// result says what a failed call means for a recipient. What was certainly not sent
// is given back.
func (g *sending) result(ctx context.Context, r broadcast.Recipient, err error) broadcast.Result {
	e := asError(err)
	out := broadcast.Result{N: r.N, Error: fmt.Sprint(e.Err)}
	switch e.Kind {
	case messenger.Blocked:
		g.fine()
		out.Outcome = broadcast.Blocked
		if err := g.s.d.Reachable(ctx, r.Address, false); err != nil {
			g.s.d.Log.WarnContext(ctx, "a blocked customer was not noted", obs.Error, err)
		}
	case messenger.Invalid, messenger.Moved:
		g.fine()
		out.Outcome = broadcast.Failed
	case messenger.RateLimited:
		if e.Refused() {
			g.s.d.Pacer.Refused(ctx, r.Address, e.RetryAfter)
		}
		out.NotBefore = max(e.RetryAfter, time.Second)
	case messenger.Temporary:
		g.troubled(e)
		out.NotBefore = time.Second
	default:
		g.troubled(e)
		out.Outcome = broadcast.Uncertain
		if g.sender.Limits().Idempotent {
			out.Outcome = "" // the same call may be made again
		}
	}
	return out
}

// troubled counts calls in a row that the messenger could not take.
func (g *sending) troubled(err error) {
	g.mu.Lock()
	g.trouble++
	out := g.trouble >= troubles
	g.mu.Unlock()
	if out {
		g.stop(fmt.Errorf("%w: %w", errTrouble, err), recovery)
	}
}

func (g *sending) fine() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trouble = 0
}

// spoilt is the end of a call to several chats that failed as a whole: nothing was
// sent, or the same call may be made again (see messenger.Multi). So all are given
// back. What is wrong with one of them is not wrong with the others: it is found
// out by a call to each.
func (g *sending) spoilt(ctx context.Context, c call, err error) []broadcast.Result {
	results := back(c.to)
	switch e := asError(err); e.Kind {
	case messenger.Blocked, messenger.Invalid, messenger.Moved:
		g.fine()
		for i := range results {
			results[i].NotBefore = time.Second // who had to wait goes alone
		}
	case messenger.RateLimited:
		if e.Refused() {
			g.s.d.Pacer.Refused(ctx, c.to[0].Address, e.RetryAfter)
		}
		g.stop(errPaused, max(e.RetryAfter, time.Second))
	default:
		g.troubled(e)
	}
	return results
}

// asError gives an error of the port; any other means that nobody knows.
func asError(err error) *messenger.Error {
	var e *messenger.Error
	if !errors.As(err, &e) {
		e = &messenger.Error{Kind: messenger.Uncertain, Err: err}
	}
	return e
}

// write writes results, again and again while the database is away: nobody else
// knows them. It stops the run when it does not succeed at once.
func (g *sending) write(ctx context.Context, rs []broadcast.Result) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	_, err := g.results.ask(ctx, rs)
	if err == nil {
		return nil
	}
	g.stop(err, 0)
	g.writing.Add(1)
	defer g.writing.Add(-1)
	for err != nil {
		select {
		case <-ctx.Done():
			return err
		case <-time.After(writeAgain):
			_, err = g.results.ask(ctx, rs)
		}
	}
	return nil
}

// back gives recipients back to whom nothing was sent.
func back(to []broadcast.Recipient) []broadcast.Result {
	rs := make([]broadcast.Result, len(to))
	for i, r := range to {
		rs[i].N = r.N
	}
	return rs
}
