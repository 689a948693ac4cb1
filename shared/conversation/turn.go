package conversation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/person"
)

// know makes sure that the person is known: from Redis, else from Postgres. A ban
// is not believed for ever.
func (t *turn) know(ctx context.Context) error {
	t.profile = t.snap.Profile
	t.name(ctx)
	if t.in.group() || t.profile != nil && (!t.profile.Person.Banned || !t.outdated()) {
		return nil
	}
	p, _, err := t.s.d.Records.Record(ctx, t.visit(person.Update{}), nil)
	if err != nil {
		return unavailable(err)
	}
	if p.ID == 0 {
		return nil
	}
	t.profile = &dialog.Profile{Person: p, User: t.in.User, At: t.s.d.Now()}
	t.isNew = true
	return nil
}

// profiler is a messenger that does not tell names with its events, but when it is
// asked (VK).
type profiler interface {
	Profile(ctx context.Context, userID string) (messenger.User, error)
}

// name fills in who writes, from the kept copy or, where that has no name yet, by
// asking. A name is not worth failing for.
func (t *turn) name(ctx context.Context) {
	u := &t.in.User
	if u.Name != "" || t.in.group() || t.in.leaves() {
		return
	}
	if t.profile != nil && t.profile.User.Name != "" {
		u.Name, u.Username = t.profile.User.Name, t.profile.User.Username
		return
	}
	ask, ok := t.sender.(profiler)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, profileWait)
	defer cancel()
	known, err := ask.Profile(ctx, u.ID)
	if err != nil {
		t.s.d.Log.WarnContext(ctx, "name of a customer could not be read", slog.Any(obs.Error, err))
		return
	}
	u.Name, u.Username = known.Name, known.Username
}

// visit tells about the person. Whoever writes can be written to.
func (t *turn) visit(u person.Update) person.Visit {
	if u.Reachable == nil {
		writes := !t.in.leaves()
		u.Reachable = &writes
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
	if t.unread == nil { // else it is as good as it gets: Tracker is not waited for again
		t.read(ctx, v.Tickets)
	}
	switch {
	case t.tickets != nil:
		v.Tickets = *t.tickets
		state, result = dialog.Step(t.snap.State, t.in.Event, v)
	case t.in.again && !v.Tickets.Known:
		return state, result, t.unread
	}
	return state, result, nil
}

// read reads the list of tickets from Tracker, or notes why that cannot be had now.
func (t *turn) read(ctx context.Context, kept dialog.Tickets) {
	ctx, cancel := context.WithTimeout(ctx, trackerWait)
	defer cancel()
	list, err := t.s.readTickets(ctx, t.in.Address, kept)
	if err != nil {
		t.unread = err
		return
	}
	t.tickets = &list
}

// readTickets reads the list from Tracker; kept is what was known before.
func (s *Service) readTickets(ctx context.Context, a messenger.Address, kept dialog.Tickets) (dialog.Tickets, error) {
	at := s.d.Now()
	list, err := s.d.Lister.Tickets(ctx, a)
	if err != nil {
		s.d.Log.WarnContext(ctx, "tickets could not be read", slog.Any(obs.Error, err), slog.Bool("kept", kept.Known))
		return dialog.Tickets{}, fmt.Errorf("read tickets: %w", err)
	}
	return dialog.Tickets{List: list, Known: true, At: at, Generation: kept.Generation}, nil
}

// write makes what is to be committed; nil when the event changes nothing.
func (t *turn) write(state dialog.State, r dialog.Result) (*dialog.Write, error) {
	w := dialog.Write{Address: t.in.Address, Key: t.in.key, Version: t.snap.Version, State: state, Token: t.token, Mark: t.in.mark}
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
		p.Person.Settings = p.Person.Settings.With(*u.Settings)
	}
	return &p
}

// ban keeps what was just read of a banned person, so that the next event is
// refused by the first script already. This one counts as seen: it stays refused
// when the ban is over.
func (t *turn) ban(ctx context.Context) (*Accepted, error) {
	for range commitTries {
		w := dialog.Write{
			Address: t.in.Address, Key: t.in.key, Version: t.snap.Version, State: t.snap.State, Profile: t.profile, Token: t.token,
		}
		snap, err := t.s.d.Store.Commit(ctx, w)
		if err != nil {
			return nil, unavailable(err)
		}
		if snap.Verdict != dialog.Conflict {
			return t.done(Banned), nil
		}
		t.snap = snap
	}
	return nil, unavailable(errCrowded)
}

// same compares states by what would be kept of them.
func same(a, b dialog.State) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
