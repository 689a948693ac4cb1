package conversation

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/person"
)

// input is an event on its way, or on its second way (again).
type input struct {
	messenger.Event
	key   string // what makes it one; the event's own key unless it comes again
	again bool
}

func (in input) group() bool { return in.Kind == messenger.EventGroup }

// Accept handles an event until it is safe: when it returns without an error,
// what follows from the event will happen. The caller then answers the messenger
// and calls Finish. An error wraps ErrUnavailable: the event has to be delivered
// again.
func (s *Service) Accept(ctx context.Context, ev messenger.Event) (*Accepted, error) {
	ctx = obs.WithCorrelation(ctx, ev.Key)
	return s.handle(ctx, input{Event: clean(ev), key: ev.Key})
}

// Again handles an event that was put aside because Tracker could not be read
// (ticket.KindAgain), replies included. While Tracker is still away it returns an
// error and changes nothing. Repeating it is safe.
func (s *Service) Again(ctx context.Context, ev messenger.Event) error {
	a, err := s.handle(ctx, input{Event: ev, key: "again:" + ev.Key, again: true})
	if err != nil {
		return fmt.Errorf("handle event again: %w", err)
	}
	a.Finish(ctx)
	return nil
}

func (s *Service) handle(ctx context.Context, in input) (*Accepted, error) {
	sender, ok := s.sender(in.Address)
	if !ok {
		return nil, fmt.Errorf("handle event: no sender for %s", bot(in.Address.Messenger, in.Address.Bot))
	}
	look := dialog.Lookup{Address: in.Address, Key: in.key, Burst: s.d.Flood.Burst, Every: s.d.Flood.Every}
	if in.again {
		look.Burst = 0
	}
	snap, err := s.d.Store.Load(ctx, look)
	if err != nil {
		return nil, unavailable(err)
	}
	s.d.Hook(StageLoaded)
	t := &turn{s: s, in: in, sender: sender, token: newToken(), snap: snap}
	switch snap.Verdict {
	case dialog.Seen:
		return t.done(Repeated), nil
	case dialog.Banned:
		return t.done(Banned), nil
	case dialog.Flooding:
		return t.done(Flooding), nil
	case dialog.Warned:
		return t.warn(), nil
	case dialog.Repeated:
		return t.complete(ctx, Repeated)
	}
	return t.run(ctx)
}

// turn is one event being handled.
type turn struct {
	s       *Service
	in      input
	sender  Sender
	token   string
	snap    dialog.Snapshot
	profile *dialog.Profile
	isNew   bool            // profile was read just now and is not kept yet
	tickets *dialog.Tickets // read just now
	asked   time.Time       // when the reply lease was asked for
}

func (t *turn) done(o Outcome) *Accepted { return &Accepted{turn: t, Outcome: o} }

// run handles the event on the state that is there, until it wins.
func (t *turn) run(ctx context.Context) (*Accepted, error) {
	if err := t.know(ctx); err != nil {
		return nil, err
	}
	if t.profile != nil && t.profile.Person.Banned {
		return t.ban(ctx)
	}
	for range commitTries {
		state, result, err := t.step(ctx)
		if err != nil {
			return nil, err
		}
		w, err := t.write(state, result)
		if err != nil {
			return nil, err
		}
		if w == nil {
			return t.complete(ctx, Ignored)
		}
		t.asked = t.s.d.Now()
		snap, err := t.s.d.Store.Commit(ctx, *w)
		if err != nil {
			return nil, unavailable(err)
		}
		switch snap.Verdict {
		case dialog.Committed:
			t.s.d.Hook(StageCommitted)
			snap.Tickets = t.snap.Tickets
			t.snap = snap
			if w.Entry == nil {
				return t.done(Handled), nil
			}
			return t.complete(ctx, Handled)
		case dialog.Seen:
			return t.done(Repeated), nil
		case dialog.Repeated:
			t.snap = snap
			return t.complete(ctx, Repeated)
		}
		t.snap = snap
		if p := snap.Profile; p != nil && !t.isNew {
			t.profile = p
		}
	}
	return nil, unavailable(errors.New("too many events of one conversation at once"))
}

// know makes sure that the person is known: from Redis, else from Postgres. A ban
// is not believed for ever.
func (t *turn) know(ctx context.Context) error {
	t.profile = t.snap.Profile
	if t.in.group() || t.profile != nil && (!t.profile.Person.Banned || !t.outdated()) {
		return nil
	}
	p, _, err := t.s.d.Records.Record(ctx, t.visit(person.Update{}), nil)
	if err != nil {
		return unavailable(err)
	}
	t.profile = &dialog.Profile{Person: p, User: t.in.User, At: t.s.d.Now()}
	t.isNew = true
	return nil
}

// visit tells about the person. Whoever writes can be written to.
func (t *turn) visit(u person.Update) person.Visit {
	if u.Reachable == nil && t.in.Kind != messenger.EventBlocked {
		yes := true
		u.Reachable = &yes
	}
	return person.Visit{
		Identity: person.Identity{Address: t.in.Address, User: t.in.User, SeenAt: t.s.d.Now()},
		Update:   u,
	}
}

// step asks the dialog, with a fresh list of tickets if it matters.
func (t *turn) step(ctx context.Context) (dialog.State, dialog.Result, error) {
	limits := t.sender.Limits()
	v := dialog.View{
		Catalogue: t.s.d.Catalogue, Now: t.s.d.Now(), Tickets: t.snap.Tickets,
		Settle: limits.Settle, Download: limits.Download, Again: t.in.again,
	}
	if t.profile != nil {
		v.Person = t.profile.Person
	}
	if t.tickets != nil {
		v.Tickets = *t.tickets
	}
	state, result := dialog.Step(t.snap.State, t.in.Event, v)
	if !result.Consulted || t.tickets != nil || v.Now.Sub(v.Tickets.At) < ticketsFresh {
		return state, result, nil
	}
	ctx, cancel := context.WithTimeout(ctx, trackerWait)
	defer cancel()
	read, err := t.s.readTickets(ctx, t.in.Address, v.Tickets)
	if err != nil {
		if t.in.again && !v.Tickets.Known {
			return state, result, err
		}
		t.tickets = &v.Tickets // as good as it gets; do not wait again
		return state, result, nil
	}
	t.tickets, v.Tickets = &read, read
	state, result = dialog.Step(t.snap.State, t.in.Event, v)
	return state, result, nil
}

// readTickets reads the list from Tracker; kept is what was known before.
func (s *Service) readTickets(ctx context.Context, a messenger.Address, kept dialog.Tickets) (dialog.Tickets, error) {
	at := s.d.Now()
	list, err := s.d.Lister.Tickets(ctx, a)
	if err != nil {
		s.d.Log.WarnContext(ctx, "tickets could not be read", obs.Error, err.Error(), slog.Bool("kept", kept.Known))
		return dialog.Tickets{}, fmt.Errorf("read tickets: %w", err)
	}
	return dialog.Tickets{List: list, Known: true, At: at, Generation: kept.Generation}, nil
}

// write makes what is to be committed; nil when the event changes nothing.
func (t *turn) write(state dialog.State, r dialog.Result) (*dialog.Write, error) {
	w := dialog.Write{Address: t.in.Address, Key: t.in.key, Version: t.snap.Version, State: state, Token: t.token}
	if t.tickets != nil && !t.tickets.At.Equal(t.snap.Tickets.At) {
		w.Tickets = t.tickets
	}
	if t.profile != nil {
		w.Profile = t.changed(r.Update)
	}
	if r.Empty() && !t.outdated() {
		if same(t.snap.State, state) && w.Profile == nil {
			return nil, nil
		}
		return &w, nil
	}
	jobs, err := dialog.Jobs(r.Jobs)
	if err != nil {
		return nil, err
	}
	w.Entry = &dialog.Entry{
		Key: t.in.key, N: t.snap.Version + 1, Writer: t.token, At: t.s.d.Now(),
		Address: t.in.Address, User: t.in.User, NoCallback: t.in.NoCallback, Group: t.in.group(),
		Visit: r.Visit || t.outdated(), Update: t.visit(r.Update).Update, Jobs: jobs, Replies: r.Replies,
	}
	return &w, nil
}

// outdated: the kept copy is old, or the customer has another name by now.
func (t *turn) outdated() bool {
	if t.profile == nil || t.isNew {
		return false
	}
	u, p := t.in.User, t.profile.User
	other := func(a, b string) bool { return a != "" && a != b }
	return t.s.d.Now().Sub(t.profile.At) > profileFresh ||
		other(u.ID, p.ID) || other(u.Name, p.Name) || other(u.Username, p.Username)
}

// changed gives the profile to keep with the state; nil when it is kept already.
func (t *turn) changed(u person.Update) *dialog.Profile {
	if !t.isNew && u.Locale == nil && u.Settings == nil {
		return nil
	}
	p := *t.profile
	if u.Locale != nil {
		p.Person.Locale = *u.Locale
	}
	if u.Settings != nil {
		p.Person.Settings = *u.Settings
	}
	return &p
}

// ban keeps what was just read of a banned person, so that the next event is
// refused by the first script already.
func (t *turn) ban(ctx context.Context) (*Accepted, error) {
	w := dialog.Write{Address: t.in.Address, Key: t.in.key, Version: t.snap.Version, State: t.snap.State, Profile: t.profile, Token: t.token}
	if _, err := t.s.d.Store.Commit(ctx, w); err != nil {
		return nil, unavailable(err)
	}
	return t.done(Banned), nil
}

// complete inserts the jobs of every pending entry, the oldest first.
func (t *turn) complete(ctx context.Context, o Outcome) (*Accepted, error) {
	a := t.done(o)
	a.pending, a.holds = t.snap.Pending, t.snap.Holds
	for i := range a.pending {
		e := &a.pending[i]
		if e.Recorded {
			continue
		}
		if err := a.insert(ctx, e); err != nil {
			a.letGo(ctx, a.pending)
			return nil, unavailable(err)
		}
	}
	t.s.d.Hook(StageRecorded)
	return a, nil
}

// insert makes an entry's jobs durable. It may be repeated.
func (a *Accepted) insert(ctx context.Context, e *dialog.Pending) error {
	if !e.Group && (e.Visit || len(e.Jobs) > 0) {
		p, inserted, err := a.s.d.Records.Record(ctx, visitOf(e.Entry, e.Update), newJobs(e.Jobs))
		if err != nil {
			return err
		}
		a.inserted = append(a.inserted, inserted...)
		a.known = &dialog.Profile{Person: p, User: e.User, At: a.s.d.Now()}
		if r := e.Update.Reachable; r != nil && !*r {
			a.known, a.forget = nil, true // so that the next event says the contrary
		}
	}
	e.Recorded = true
	a.recorded = append(a.recorded, e.Key)
	return nil
}

// letGo gives the reply lease back because the entries cannot be completed now.
func (a *Accepted) letGo(ctx context.Context, pending []dialog.Pending) {
	if !a.holds {
		return
	}
	var keys []string
	for _, e := range pending {
		keys = append(keys, e.Key)
	}
	if err := a.s.d.Store.Release(ctx, a.in.Address, a.token, keys); err != nil {
		a.s.d.Log.WarnContext(ctx, "reply lease was not given back", obs.Error, err.Error())
	}
}

func visitOf(e dialog.Entry, u person.Update) person.Visit {
	return person.Visit{Identity: person.Identity{Address: e.Address, User: e.User, SeenAt: e.At}, Update: u}
}

func newJobs(frozen []dialog.Job) []job.New {
	jobs := make([]job.New, len(frozen))
	for i, j := range frozen {
		jobs[i] = job.New(j)
	}
	return jobs
}

func (a *Accepted) wasRecorded(key string) bool { return slices.Contains(a.recorded, key) }

func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }

func newToken() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails on the systems that Go supports
	return hex.EncodeToString(b[:])
}

// same compares states by what would be kept of them.
func same(a, b dialog.State) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
