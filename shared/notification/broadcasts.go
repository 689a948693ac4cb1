package notification

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/obs"
)

// created is the answer to a new broadcast.
type created struct {
	broadcast.Broadcast
	Estimate *broadcast.Estimate `json:"estimate,omitempty"`
}

func (a *API) create(ctx context.Context, c *call) (any, error) {
	n, done, err := a.begin(ctx, c)
	if err != nil || done != nil {
		return done, err
	}
	if n.Spec, err = a.spec(c, false); err != nil {
		return nil, err
	}
	return a.make(ctx, c, n)
}

// spec reads a broadcast. Its audience has to be said, be it {}: a forgotten one
// must not be everybody.
func (a *API) spec(c *call, draft bool) (broadcast.Spec, error) {
	var in struct {
		broadcast.Spec
		Audience *broadcast.Audience `json:"audience"`
	}
	if err := c.decode(&in); err != nil {
		return broadcast.Spec{}, err
	}
	var missing []Field
	if in.Audience == nil {
		missing = []Field{{"/audience", "required", "say who gets it; {} is everybody"}}
		in.Audience = &broadcast.Audience{}
	}
	s := in.Spec
	s.Audience, s.Draft = *in.Audience, s.Draft || draft
	return s, invalid(append(missing, a.check(&s)...))
}

// begin reads the Idempotency-Key. If this request was answered before, done is the
// answer again, whatever has changed since: a time to start may be over by now, a
// customer erased.
func (a *API) begin(ctx context.Context, c *call) (n broadcast.New, done any, err error) {
	n.By = c.caller.name
	if n.Key, n.Fingerprint, err = c.idempotency(); err != nil {
		return n, nil, err
	}
	b, made, err := a.d.Store.BroadcastByKey(ctx, n.By, n.Key, n.Fingerprint)
	if err != nil {
		return n, nil, err
	}
	if !made {
		return n, nil, nil
	}
	return n, a.accepted(ctx, c, b), nil
}

// make creates a broadcast. A draft makes no work yet.
func (a *API) make(ctx context.Context, c *call, n broadcast.New) (any, error) {
	if !n.Draft {
		if err := a.admitWork(ctx, c, broadcast.Queue); err != nil {
			return nil, err
		}
	}
	b, isNew, jobs, err := a.d.Store.CreateBroadcast(ctx, n)
	if err != nil {
		return nil, err
	}
	a.d.Publisher.Publish(ctx, jobs)
	if isNew {
		a.d.Log.InfoContext(ctx, "broadcast created", "broadcast", b.ID, "by", n.By, "kind", b.Kind, "state", b.State)
	}
	return a.accepted(ctx, c, b), nil
}

// accepted shows a broadcast and says how many would get it.
func (a *API) accepted(ctx context.Context, c *call, b broadcast.Broadcast) any {
	c.status = http.StatusAccepted
	out := created{Broadcast: b}
	if b.Relation == "" && b.Kind != broadcast.Message {
		e, err := a.count(ctx, b.Audience, b.Kind, b.Rate)
		if err != nil { // it is created: the estimate is not worth an error
			a.d.Log.WarnContext(ctx, "audience was not estimated", obs.Error, err.Error())
		}
		out.Estimate = e
	}
	return out
}

func (a *API) update(ctx context.Context, c *call) (any, error) {
	spec, err := a.spec(c, true)
	if err != nil {
		return nil, err
	}
	b, err := a.d.Store.UpdateDraft(ctx, c.id, spec)
	return b, a.state(ctx, c.id, err, "only a draft can be changed")
}

type listed struct {
	Broadcasts []broadcast.Broadcast `json:"broadcasts"`
	Next       int64                 `json:"next,omitempty"` // "before" of the next page
}

func (a *API) list(ctx context.Context, c *call) (any, error) {
	limit, err := c.number("limit", 50, 200)
	if err != nil {
		return nil, err
	}
	before, err := c.number("before", 1<<62, 1<<62)
	if err != nil {
		return nil, err
	}
	var states []broadcast.State
	for _, s := range strings.FieldsFunc(c.r.URL.Query().Get("state"), func(r rune) bool { return r == ',' }) {
		if !slices.Contains(broadcast.States, broadcast.State(s)) {
			return nil, refuse(http.StatusBadRequest, "state knows no "+s)
		}
		states = append(states, broadcast.State(s))
	}
	all, next, err := a.d.Store.Broadcasts(ctx, states, before, int(limit))
	if err != nil {
		return nil, err
	}
	if all == nil {
		all = []broadcast.Broadcast{}
	}
	return listed{all, next}, nil
}

func (a *API) get(ctx context.Context, c *call) (any, error) {
	b, err := a.d.Store.Broadcast(ctx, c.id)
	return b, err
}

// progress costs the database nothing while the broadcast is shown in Redis.
func (a *API) progress(ctx context.Context, c *call) (any, error) {
	p, ok, err := a.d.Live.Progress(ctx, c.id)
	if ok && err == nil {
		return p, nil
	}
	b, err := a.d.Store.Broadcast(ctx, c.id)
	if err != nil {
		return nil, err
	}
	batches, err := a.d.Store.Batches(ctx, c.id)
	if err != nil {
		return nil, err
	}
	if err := a.d.Live.Put(ctx, b, batches); err != nil {
		a.d.Log.WarnContext(ctx, "progress was not kept", obs.Error, err.Error())
	}
	return broadcast.Progress{State: b.State, Counts: b.Counts}, nil
}

type recipients struct {
	Recipients []broadcast.Listed `json:"recipients"`
	Next       string             `json:"next,omitempty"` // "after" of the next page
}

func (a *API) recipients(ctx context.Context, c *call) (any, error) {
	limit, err := c.number("limit", 100, 1000)
	if err != nil {
		return nil, err
	}
	outcome := broadcast.Outcome(c.r.URL.Query().Get("outcome"))
	if outcome != "" && !slices.Contains(broadcast.Outcomes, outcome) {
		return nil, refuse(http.StatusBadRequest, "outcome is one of sent, blocked, failed, uncertain, skipped")
	}
	list, next, err := a.d.Store.Recipients(ctx, c.id, outcome, c.r.URL.Query().Get("after"), int(limit))
	if len(list) > 0 || err != nil && !errors.Is(err, job.ErrNotFound) {
		return recipients{list, next}, err
	}
	if _, err := a.d.Store.Broadcast(ctx, c.id); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, `after has to be the "next" of an earlier page`)
	}
	return recipients{[]broadcast.Listed{}, ""}, nil
}

func (a *API) start(ctx context.Context, c *call) (any, error) {
	b, err := a.d.Store.Broadcast(ctx, c.id)
	if err != nil {
		return nil, err
	}
	if b.State == broadcast.Draft { // what was started already is only told again
		if b.StartAt != nil && a.over(*b.StartAt) {
			return nil, refuse(http.StatusConflict, "its time to start is over: change the draft, leave the time out to start at once")
		}
		if err := a.admitWork(ctx, c, broadcast.Queue); err != nil {
			return nil, err
		}
	}
	b, jobs, err := a.d.Store.StartBroadcast(ctx, c.id)
	return a.changed(ctx, c, b, jobs, err, "only a draft can be started")
}

func (a *API) pause(ctx context.Context, c *call) (any, error) {
	b, err := a.d.Store.PauseBroadcast(ctx, c.id)
	return a.changed(ctx, c, b, nil, err, "only a running broadcast can be paused")
}

func (a *API) resume(ctx context.Context, c *call) (any, error) {
	b, jobs, err := a.d.Store.ResumeBroadcast(ctx, c.id)
	return a.changed(ctx, c, b, jobs, err, "only a paused broadcast can be resumed")
}

func (a *API) cancel(ctx context.Context, c *call) (any, error) {
	b, err := a.d.Store.CancelBroadcast(ctx, c.id)
	return a.changed(ctx, c, b, nil, err, "the broadcast has ended already")
}

// changed shows the new state and publishes what may run now.
func (a *API) changed(ctx context.Context, c *call, b broadcast.Broadcast, jobs []job.Inserted, err error, why string) (any, error) {
	if err := a.state(ctx, c.id, err, why); err != nil {
		return nil, err
	}
	a.d.Publisher.Publish(ctx, jobs)
	if err := a.d.Live.SetState(ctx, b.ID, b.State); err != nil {
		a.d.Log.WarnContext(ctx, "state was not shown", obs.Error, err.Error())
	}
	a.d.Log.InfoContext(ctx, "broadcast changed", "broadcast", b.ID, "by", c.caller.name, "state", b.State)
	return b, nil
}

// state tells a broadcast that is not there from one whose state does not allow this.
func (a *API) state(ctx context.Context, id int64, err error, why string) error {
	if !errors.Is(err, job.ErrNotFound) {
		return err
	}
	b, ferr := a.d.Store.Broadcast(ctx, id)
	if ferr != nil {
		return ferr
	}
	return refuse(http.StatusConflict, why+"; this one is "+string(b.State))
}

func (a *API) setRate(ctx context.Context, c *call) (any, error) {
	var in struct {
		Rate *float64 `json:"rate"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.Rate == nil {
		return nil, invalid([]Field{{"/rate", "required", "messages a second; 0 is the messengers' limit"}})
	}
	b, err := a.d.Store.Broadcast(ctx, c.id)
	if err != nil {
		return nil, err
	}
	if err := invalid(a.checkRate(*in.Rate, b.Audience)); err != nil {
		return nil, err
	}
	b, err = a.d.Store.SetBroadcastRate(ctx, c.id, *in.Rate)
	return a.changed(ctx, c, b, nil, err, "the broadcast has ended")
}

func (a *API) resend(ctx context.Context, c *call) (any, error) {
	if err := a.admitWork(ctx, c, broadcast.Queue); err != nil {
		return nil, err
	}
	n, jobs, err := a.d.Store.ResendUncertain(ctx, c.id)
	if err := a.state(ctx, c.id, err, "a broadcast is resent to its uncertain recipients when it has finished"); err != nil {
		return nil, err
	}
	a.d.Publisher.Publish(ctx, jobs)
	a.d.Log.InfoContext(ctx, "uncertain recipients are sent to again", "broadcast", c.id, "by", c.caller.name, "count", n)
	return map[string]int{"resent": n}, nil
}
