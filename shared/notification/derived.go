package notification

import (
	"context"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
)

// correct sends something else to those whom a broadcast reached or may have
// reached.
func (a *API) correct(ctx context.Context, c *call) (any, error) {
	n, done, err := a.begin(ctx, c)
	if err != nil || done != nil {
		return done, err
	}
	var in struct {
		broadcast.Content
		Title string `json:"title"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	parent, err := a.d.Store.Broadcast(ctx, c.id)
	if err != nil {
		return nil, err
	}
	spec := broadcast.Spec{Kind: parent.Kind, Title: in.Title, Content: in.Content, Audience: parent.Audience, Urgency: 9}
	if err := invalid(a.checkContent(&spec)); err != nil {
		return nil, err
	}
	n.Spec, n.Parent, n.Relation = spec, c.id, broadcast.Correction
	out, err := a.make(ctx, c, n)
	return out, a.state(ctx, c.id, err, "a broadcast is corrected when it has ended, as long as it is known who got it (90 days)")
}

// test sends a broadcast to its author alone, in whatever state it is.
func (a *API) test(ctx context.Context, c *call) (any, error) {
	n, done, err := a.begin(ctx, c)
	if err != nil || done != nil {
		return done, err
	}
	var in struct {
		Customer int64 `json:"customer"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.Customer == 0 {
		in.Customer = c.caller.person
	}
	if in.Customer == 0 {
		return nil, invalid([]Field{{"/customer", "required", "this API key belongs to no person: say who gets the test"}})
	}
	b, err := a.d.Store.Broadcast(ctx, c.id)
	if err != nil {
		return nil, err
	}
	n.Spec = broadcast.Spec{Kind: broadcast.Message, Title: b.Title, Content: b.Content}
	n.Parent, n.Relation = c.id, broadcast.Test
	return a.toOne(ctx, c, in.Customer, n)
}

// message writes to one customer, before everything else.
func (a *API) message(ctx context.Context, c *call) (any, error) {
	n, done, err := a.begin(ctx, c)
	if err != nil || done != nil {
		return done, err
	}
	var in struct {
		Customer int64 `json:"customer"`
		broadcast.Content
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	spec := broadcast.Spec{Kind: broadcast.Message, Content: in.Content}
	fields := a.checkContent(&spec)
	if in.Customer <= 0 {
		fields = append(fields, Field{"/customer", "required", "the id of the customer"})
	}
	if err := invalid(fields); err != nil {
		return nil, err
	}
	n.Spec = spec
	return a.toOne(ctx, c, in.Customer, n)
}

func (a *API) toOne(ctx context.Context, c *call, customer int64, n broadcast.New) (any, error) {
	p, err := a.d.Store.PersonByID(ctx, customer)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, invalid([]Field{{"/customer", "unknown", "there is no such customer"}})
	}
	n.Audience = broadcast.Audience{Customers: []int64{customer}}
	return a.make(ctx, c, n)
}

// preview renders a content as each messenger will show it.
func (a *API) preview(_ context.Context, c *call) (any, error) {
	var in struct {
		Kind broadcast.Kind `json:"kind"`
		broadcast.Content
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	spec := broadcast.Spec{Kind: in.Kind, Content: in.Content}
	fields := a.checkForm(&spec)
	if err := invalid(fields); err != nil {
		return nil, err
	}
	views := []view{}
	a.render(&spec, func(v view) { views = append(views, v) })
	return map[string]any{"previews": views}, nil
}

func (a *API) estimate(ctx context.Context, c *call) (any, error) {
	var in struct {
		Kind     broadcast.Kind     `json:"kind"`
		Audience broadcast.Audience `json:"audience"`
		Rate     float64            `json:"rate"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	spec := broadcast.Spec{Kind: in.Kind, Audience: in.Audience}
	fields := append(checkKind(in.Kind), a.checkAudience(&spec)...)
	if err := invalid(append(fields, a.checkRate(in.Rate, in.Audience)...)); err != nil {
		return nil, err
	}
	return a.count(ctx, in.Audience, in.Kind, in.Rate)
}

// count asks how many would get it now, and how long that takes.
func (a *API) count(ctx context.Context, au broadcast.Audience, k broadcast.Kind, perSecond float64) (*broadcast.Estimate, error) {
	var tickets []messenger.Address
	var err error
	if au.OpenTicket != nil {
		if tickets, err = a.d.Tickets(ctx); err != nil {
			return nil, err
		}
	}
	by, err := a.d.Store.Estimate(ctx, au, k, a.d.Bots, tickets)
	if err != nil {
		return nil, err
	}
	e := &broadcast.Estimate{Messengers: by}
	for m, n := range by {
		e.People += n
		rate := a.fastest(m)
		if perSecond > 0 {
			rate = min(rate, perSecond)
		}
		e.Seconds = max(e.Seconds, int(float64(n)/rate+0.999))
	}
	return e, nil
}
