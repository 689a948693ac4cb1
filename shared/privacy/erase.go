package privacy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// erasing is what the erasure records with its stages. The chats are in it only from
// right before the database forgets them until Redis has.
type erasing struct {
	Steps     string              `json:"steps,omitempty"`  // what of theirs was done before the tickets were looked for
	Issues    []string            `json:"issues,omitempty"` // immutable ids of their tickets
	Detached  int                 `json:"detached,omitempty"`
	Said      sending             `json:"said"`
	Chats     []messenger.Address `json:"chats,omitempty"`
	Forgotten bool                `json:"forgotten,omitempty"`
}

// erased is the result of an erasure. It leads to nobody.
type erased struct {
	Tickets int `json:"tickets"`
}

// busyWait is how long somebody's own work is waited for before it is looked at again.
const busyWait = 3 * time.Second

// personal are the fields of a ticket that tell who the customer is, or what they said.
// What remains (messenger, bot, language, category, rating) is said of many.
var personal = []tracker.Field{tracker.FieldChat, tracker.FieldUser, tracker.FieldNickname, tracker.FieldName, tracker.FieldRemark}

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
	o := job.Outcome{Result: erased{len(p.Issues)}}
	for _, i := range p.Issues {
		o.Then = append(o.Then, note(i))
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
		p.Steps, p.Detached = steps, 0
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

// detach ends the tie of each ticket. It may be repeated.
func (s *Service) detach(ctx context.Context, r *job.Run, p *erasing) error {
	for ; p.Detached < len(p.Issues); p.Detached++ {
		stage := stageDetach + ":" + strconv.Itoa(p.Detached)
		if err := r.Begin(ctx, stage, p); err != nil {
			return err
		}
		err := s.d.Tracker.Detach(ctx, p.Issues[p.Detached], personal...)
		if err != nil && tracker.KindOf(err) != tracker.NotFound { // deleted: there is nothing to be cleared
			return news.Decide(r, fmt.Errorf("free ticket of its customer: %w", err))
		}
		next := *p
		next.Detached++
		if err := r.Done(ctx, stage, next); err != nil {
			return err
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

// note tells the agent of a ticket. Its lane names no customer.
func note(issue string) job.New {
	return job.New{
		Queue: ticket.QueueTickets, Kind: ticket.KindNote, Key: "note:" + string(ticket.NoteErased) + ":" + issue,
		Lane:    job.Lane{Name: "note:" + issue},
		Payload: ticket.Note{Ref: ticket.Ref{Issue: issue}, Note: ticket.NoteErased},
	}
}
