package privacy

import (
	"context"
	"errors"
	"slices"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// erasing is what the erasure records with its stages. The chats are in it only from
// right before the database forgets them until Redis has.
type erasing struct {
	Steps     string              `json:"steps,omitempty"`  // what of theirs was done before the tickets were looked for
	Issues    []string            `json:"issues,omitempty"` // immutable ids of their tickets
	Detached  int                 `json:"detached,omitempty"`
	Kept      []string            `json:"kept,omitempty"` // those of them that Tracker refuses to free
	Unseen    []person.Unseen     `json:"unseen,omitempty"`
	Said      sending             `json:"said"`
	Chats     []messenger.Address `json:"chats,omitempty"`
	Forgotten bool                `json:"forgotten,omitempty"`
}

// erased is the result of an erasure. It leads to nobody.
type erased struct {
	Tickets int `json:"tickets"`
	Kept    int `json:"kept,omitempty"`   // of them have the customer's fields yet: each is a job of its own
	Unseen  int `json:"unseen,omitempty"` // that may be there beside them: each is one, too
}

// busyWait is how long somebody's own work is waited for before it is looked at again.
const busyWait = 3 * time.Second

// erase forgets a person.
func (s *Service) erase(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in person.Erase
	var p erasing
	if err := errors.Join(r.Decode(&in), r.DecodeStage(&p)); err != nil {
		return job.Outcome{}, err
	}
	if !p.Forgotten {
		who, err := s.d.People.PersonByID(ctx, in.Person)
		if err != nil {
			return job.Outcome{}, err
		}
		if who != nil { // else a run before this one has come so far
			if err := s.outside(ctx, r, *who, &p); err != nil {
				return job.Outcome{}, err
			}
		}
	}
	if err := s.inside(ctx, r, in.Person, &p); err != nil {
		return job.Outcome{}, err
	}
	o := job.Outcome{Result: erased{len(p.Issues), len(p.Kept), len(p.Unseen)}}
	for _, i := range p.Issues {
		if slices.Contains(p.Kept, i) {
			o.Then = append(o.Then, person.DetachJob(in.Person, i))
		} else {
			o.Then = append(o.Then, note(i))
		}
	}
	for _, u := range p.Unseen {
		o.Then = append(o.Then, person.DetachUnseen(in.Person, u))
	}
	return o, nil
}

// outside frees the tickets of the customer and tells them. Whatever of theirs has
// begun ends first: else a ticket could come behind our back. If more is done for them
// meanwhile all tickets are freed again, since a remark may be in one.
func (s *Service) outside(ctx context.Context, r *job.Run, who person.Person, p *erasing) error {
	chats, err := s.d.People.Addresses(ctx, who.ID)
	if err != nil {
		return err
	}
	steps, err := s.rest(ctx, r, who.ID, chats)
	if err != nil {
		return err
	}
	if steps != p.Steps {
		p.Steps, p.Detached, p.Kept = steps, 0, nil
	}
	if err := s.find(ctx, r, who.ID, chats, p); err != nil {
		return err
	}
	if err := s.detach(ctx, r, p); err != nil || len(chats) == 0 {
		return err
	}
	if steps, err = s.rest(ctx, r, who.ID, chats); err != nil {
		return err
	}
	if steps != p.Steps { // the last word would not be the last
		return job.Later(busyWait, person.ErrBusy)
	}
	text := book.Text(who.Locale, "erased")
	return s.say(ctx, r, letter{stageFarewell, chats[0], &p.Said, p, func(sender Sender) messenger.Outgoing {
		return messenger.Outgoing{Part: sender.Plain(text)[0]}
	}})
}

// rest gives the steps of somebody of whom nothing is under way, neither as jobs nor as
// what a conversation still has to make jobs of: once the database has forgotten them
// that would make them anew.
func (s *Service) rest(ctx context.Context, r *job.Run, id int64, chats []messenger.Address) (string, error) {
	if err := s.idle(ctx, r, chats); err != nil {
		return "", err
	}
	steps, err := s.d.People.Steps(ctx, id)
	if errors.Is(err, person.ErrBusy) {
		return "", job.Later(busyWait, err)
	}
	return steps, err
}

// idle waits for conversations that owe something, or on which somebody works.
func (s *Service) idle(ctx context.Context, r *job.Run, chats []messenger.Address) error {
	for _, a := range chats {
		ok, err := s.d.Conversations.Idle(ctx, a)
		if err != nil {
			return job.Unavailable(r, err)
		}
		if !ok {
			return job.Later(busyWait, person.ErrBusy)
		}
	}
	return nil
}

// inside lets the database forget, then Redis: who writes in between is somebody new,
// whom at the most half a form is lost.
func (s *Service) inside(ctx context.Context, r *job.Run, id int64, p *erasing) error {
	if p.Forgotten {
		return nil
	}
	chats, err := s.d.People.Addresses(ctx, id)
	if err != nil {
		return err
	}
	if err := s.idle(ctx, r, chats); err != nil {
		return err
	}
	p.Chats = union(p.Chats, chats)
	if err := r.Begin(ctx, stageForget, p); err != nil {
		return err
	}
	gone, err := s.d.People.Forget(ctx, id, p.Steps, p.Issues...)
	switch {
	case errors.Is(err, person.ErrBusy):
		p.Chats = nil
		if err := r.Refused(ctx); err != nil {
			return err
		}
		return job.Later(busyWait, err)
	case err != nil && !errors.Is(err, job.ErrNotFound):
		return err
	}
	for _, a := range union(p.Chats, gone) {
		ok, err := s.d.Conversations.Erase(ctx, a)
		if err != nil {
			return job.Unavailable(r, err)
		}
		if !ok {
			return job.Later(busyWait, person.ErrBusy)
		}
	}
	p.Chats, p.Forgotten = nil, true
	return r.Done(ctx, stageForget, p)
}

func union[T comparable](a, b []T) []T {
	seen := map[T]bool{}
	var all []T
	for _, list := range [][]T{a, b} {
		for _, v := range list {
			if !seen[v] {
				seen[v], all = true, append(all, v)
			}
		}
	}
	return all
}
