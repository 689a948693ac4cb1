package broadcasting

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// call is one call to the messenger: a message to one chat, or the same message to
// several.
type call struct {
	key    string
	many   bool
	locale string // of what is sent
	to     []broadcast.Recipient
}

// PerCall is how many chats of a broadcast share a call; 1 where a call addresses one.
func PerCall(s Sender) int {
	if _, multi := s.(messenger.Multi); !multi {
		return 1
	}
	return max(1, min(s.Limits().Peers, peers))
}

func (g *sending) size() int { return PerCall(g.sender) }

// slot is the call that a recipient shares. It depends on the number alone, so that
// after a crash the same call is made again, and the messenger drops what it had.
func (g *sending) slot(n int) int { return (n - 1) / g.size() }

// whole cuts a page where a call would be cut.
func (g *sending) whole(list []broadcast.Recipient) []broadcast.Recipient {
	last := list[len(list)-1].N
	if len(list) < page || g.size() == 1 {
		return list
	}
	return list[:slices.IndexFunc(list, func(r broadcast.Recipient) bool { return g.slot(r.N) == g.slot(last) })]
}

// calls puts recipients into calls: those of one slot and one text together. Who
// had to wait goes alone: a number that has been used may not address other chats.
func (g *sending) calls(list []broadcast.Recipient) (all []call) {
	open := map[string]int{}
	for _, r := range list {
		if g.size() == 1 || r.Deferred {
			all = append(all, call{key: fmt.Sprintf("broadcast:%d:%d:%d", g.b.ID, g.batch.ID, r.N), to: []broadcast.Recipient{r}})
			continue
		}
		_, in := g.b.Text(r.Locale)
		key := fmt.Sprintf("broadcast:%d:%d:slot:%d:%s", g.b.ID, g.batch.ID, g.slot(r.N), in)
		i, ok := open[key]
		if !ok {
			i = len(all)
			open[key] = i
			all = append(all, call{key: key, many: true, locale: r.Locale})
		}
		all[i].to = append(all[i].to, r)
	}
	return all
}

// perform claims the recipients of a call, makes it, and writes how it ended.
func (g *sending) perform(ctx context.Context, c call) {
	if err := g.r.Guard(ctx); err != nil {
		g.stop(err, 0)
		return
	}
	ns := make([]int, len(c.to))
	for i, r := range c.to {
		ns[i] = r.N
	}
	got, err := g.claims.ask(ctx, claiming{ns})
	switch {
	case err != nil:
		g.stop(err, 0)
		_ = g.write(ctx, back(c.to)) // perhaps only the answer got lost: nobody was called
		return
	case got.state != broadcast.Running:
		g.stop(errState, 0)
		return
	case len(got.to) == 0:
		return
	}
	g.r.At(stageSend, job.HookBegun)
	if c.to = got.to; !c.many {
		c.locale = got.to[0].Locale
	}
	_ = g.even.Wait(ctx) // ctx does not end
	results := g.send(ctx, c)
	g.r.At(stageSend, job.HookCalled)
	if err := g.write(ctx, results); err != nil {
		return
	}
	g.r.At(stageSend, job.HookDone)
	if n := ended(results); n > 0 && g.sent.Add(n) == n { // the first
		if err := g.progressed(ctx); err != nil {
			g.stop(err, 0)
		}
	}
}

// ended is how many results are outcomes.
func ended(results []broadcast.Result) (n int64) {
	for _, r := range results {
		if r.Outcome != "" {
			n++
		}
	}
	return n
}

// send makes the call and turns what came of it into results.
func (g *sending) send(ctx context.Context, c call) []broadcast.Result {
	m := g.texts.in(c.locale)
	if err := g.r.Guard(ctx); err != nil { // frozen since the claim
		g.stop(err, 0)
		return back(c.to)
	}
	o := messenger.Outgoing{Part: m.part, Keyboard: m.keyboard, Key: c.key, Paid: g.s.d.Paid(g.batch.Messenger)}
	results := make([]broadcast.Result, len(c.to))
	switch {
	case m.err != nil:
		for i, r := range c.to {
			results[i] = g.result(ctx, r, &messenger.Error{Kind: messenger.Invalid, Err: m.err})
		}
		return results
	case c.many:
		return g.sendMany(ctx, c, o)
	}
	o.Chat = c.to[0].Address.Chat
	receipt, err := g.sender.Send(ctx, o)
	if moved := movedTo(err); moved != "" {
		if err := g.s.d.Moved(ctx, c.to[0].Address, moved); err != nil {
			g.s.d.Log.WarnContext(ctx, "a chat's new id was not noted", obs.Error, err)
		}
		o.Chat = moved
		receipt, err = g.sender.Send(ctx, o)
	}
	results[0] = g.delivered(ctx, c.to[0], receipt, err)
	return results
}

func (g *sending) sendMany(ctx context.Context, c call, o messenger.Outgoing) []broadcast.Result {
	chats := make([]string, len(c.to))
	for i, r := range c.to {
		chats[i] = r.Address.Chat
	}
	all, err := g.sender.(messenger.Multi).SendMany(ctx, chats, o)
	if err == nil && len(all) != len(c.to) {
		err = fmt.Errorf("a call to %d chats was answered for %d", len(c.to), len(all))
	}
	if err != nil {
		return g.spoilt(ctx, c, err)
	}
	results := make([]broadcast.Result, len(c.to))
	for i, d := range all {
		results[i] = g.delivered(ctx, c.to[i], d.Receipt, d.Err)
	}
	return results
}

func movedTo(err error) string {
	var e *messenger.Error
	if errors.As(err, &e) && e.Kind == messenger.Moved {
		return e.NewChat
	}
	return ""
}

// claiming is what one call asks for, claimed what it got.
type (
	claiming struct{ ns []int }
	claimed  struct {
		to    []broadcast.Recipient
		state broadcast.State
	}
)

func (g *sending) claimAll(ctx context.Context, all []claiming) ([]claimed, error) {
	var ns []int
	for _, c := range all {
		ns = append(ns, c.ns...)
	}
	got, state, err := g.s.d.Store.ClaimRecipients(ctx, g.batch.ID, g.claim, ns)
	if err != nil {
		return nil, err
	}
	out := make([]claimed, len(all))
	for i, c := range all {
		out[i].state = state
		for _, r := range got {
			if slices.Contains(c.ns, r.N) {
				out[i].to = append(out[i].to, r)
			}
		}
	}
	return out, nil
}

func (g *sending) writeAll(ctx context.Context, all [][]broadcast.Result) ([]struct{}, error) {
	return make([]struct{}, len(all)), g.s.d.Store.Write(ctx, g.batch.ID, g.claim, slices.Concat(all...))
}
