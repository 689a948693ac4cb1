package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// Player does what records say in a sandbox's tracker, by its API; the tracker has to
// take calls that tell of the past (its Config.Past).
type Player struct {
	api   api
	bots  map[string]string            // by messenger
	name  string                       // of this playing, part of each ticket's unique value
	local map[string]map[string]string // ids of local fields, by queue and key
	// statuses are those that agents reach by a transition of another id.
	statuses map[string]string
}

// Access is how the tracker is reached.
type Access struct {
	URL, Org string
	Robot    string            // its token
	Agents   map[string]string // tokens by login
	// Bots are the ids of the platform's bots by messenger.
	Bots map[string]string
	// Reply is the prefix of a comment to the customer; "/reply".
	Reply string
	// Name tells one history in a tracker from another one.
	Name string
}

// NewPlayer makes a Player for the queues; it asks for their fields. The caller calls
// Close in the end.
func NewPlayer(ctx context.Context, a Access, queues ...string) (*Player, error) {
	p := &Player{
		api: newAPI(a), bots: a.Bots, name: a.Name, local: map[string]map[string]string{},
		statuses: map[string]string{
			"inProgress": "start_progress", "needInfo": "need_info", "waitingSupplier": "wait_supplier",
			"resolved": "resolve", "closed": "close", "reopened": "reopen",
		},
	}
	var me struct{ Login string }
	if err := p.api.do(ctx, "", time.Time{}, http.MethodGet, "myself", nil, &me); err != nil {
		return nil, fmt.Errorf("ask who the robot is: %w", err)
	}
	p.api.robot = me.Login
	for _, q := range queues {
		var fields []struct{ ID, Key string }
		if err := p.api.do(ctx, "", time.Time{}, http.MethodGet, "queues/"+q+"/localFields", nil, &fields); err != nil {
			return nil, fmt.Errorf("read fields of queue %s: %w", q, err)
		}
		p.local[q] = map[string]string{}
		for _, f := range fields {
			p.local[q][f.Key] = f.ID
		}
	}
	return p, nil
}

// Close frees the connections.
func (p *Player) Close() { p.api.client.CloseIdleConnections() }

// Connections is how many tickets are played side by side.
const Connections = 8

// Play does all of a plan. told is called with how many tickets are done, now and
// then and not at the same time.
func (p *Player) Play(ctx context.Context, plan *Plan, told func(done int)) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var next, done atomic.Int64
	var telling sync.Mutex
	var all sync.WaitGroup
	for range Connections {
		all.Add(1)
		go func() {
			defer all.Done()
			for ctx.Err() == nil {
				n := int(next.Add(1) - 1)
				if n >= plan.Tickets() {
					return
				}
				if err := p.Until(ctx, &Ticket{Record: plan.Record(n)}, time.Time{}); err != nil {
					fail(fmt.Errorf("play ticket %d: %w", n, err))
					return
				}
				if done.Add(1); telling.TryLock() {
					told(int(done.Load()))
					telling.Unlock()
				}
			}
		}()
	}
	all.Wait()
	told(int(done.Load()))
	return context.Cause(ctx)
}

// Ticket is a record of which a part may have been played.
type Ticket struct {
	Record
	ID string // in the tracker; "" before it is opened

	queue    string // where it is now
	next     int    // step
	comments []string
}

// Until does what happens to a ticket before a time, zero: everything, and was not
// done yet.
func (p *Player) Until(ctx context.Context, t *Ticket, until time.Time) error {
	comes := func(at time.Time) bool { return until.IsZero() || at.Before(until) }
	if t.ID == "" {
		if !comes(t.Opened) {
			return nil
		}
		if err := p.open(ctx, t); err != nil {
			return fmt.Errorf("open: %w", err)
		}
	}
	for ; t.next < len(t.Steps) && comes(t.Steps[t.next].At); t.next++ {
		if err := p.step(ctx, t, t.Steps[t.next]); err != nil {
			return fmt.Errorf("step %d: %w", t.next, err)
		}
	}
	return nil
}

func (p *Player) open(ctx context.Context, t *Ticket) error {
	body := map[string]any{
		"queue": t.Queue, "summary": t.Subject, "description": t.Text, "type": t.Type, "priority": t.Priority,
	}
	if c := t.Customer; c.Messenger != "" {
		chat := strconv.FormatInt(c.ID, 10)
		a := messenger.Address{Messenger: messenger.Name(c.Messenger), Bot: p.bots[c.Messenger], Chat: chat}
		body["unique"] = ticket.Unique(a, fmt.Sprintf("%s-%d", p.name, t.Number))
		for field, v := range map[tracker.Field]string{
			tracker.FieldMessenger: c.Messenger, tracker.FieldBot: a.Bot, tracker.FieldChat: chat, tracker.FieldUser: chat,
			tracker.FieldNickname: c.Nick, tracker.FieldName: c.Name, tracker.FieldLocale: c.Locale, tracker.FieldCategory: t.Category,
		} {
			if v != "" {
				body[p.local[t.Queue][string(field)]] = v
			}
		}
	}
	var made struct{ ID string }
	err := p.api.do(ctx, t.By, t.Opened, http.MethodPost, "issues", body, &made)
	t.ID, t.queue = made.ID, t.Queue
	if err == nil && made.ID == "" {
		return errors.New("the answer names no ticket")
	}
	return err
}

// step does one step by the one call that does all of it.
func (p *Player) step(ctx context.Context, t *Ticket, s Step) error {
	do := func(method, path string, body map[string]any) error {
		return p.api.do(ctx, s.By, s.At, method, "issues/"+t.ID+path, body, nil)
	}
	switch {
	case s.Queue != "":
		t.queue = s.Queue
		return do(http.MethodPost, "/_move?queue="+s.Queue, map[string]any{})
	case s.Deletes > 0:
		return do(http.MethodDelete, "/comments/"+t.comments[s.Deletes-1], nil)
	case s.Rewrites > 0:
		return do(http.MethodPatch, "/comments/"+t.comments[s.Rewrites-1], map[string]any{"text": p.api.text(s.Say, t, s.At)})
	}
	body := p.fields(t, s)
	if s.Say.To != "" && len(body) == 0 && s.Status == "" {
		return p.comment(ctx, t, s)
	}
	if s.Say.To != "" {
		body["comment"] = p.api.comment(s.Say, t, s.At)
		t.comments = append(t.comments, "") // nobody tells its id
	}
	if s.Status == "" {
		return do(http.MethodPatch, quietly, body)
	}
	if s.Resolution != "" {
		body["resolution"] = s.Resolution
	}
	return do(http.MethodPost, "/transitions/"+cmp.Or(p.statuses[s.Status], s.Status)+"/_execute"+quietly, body)
}

// quietly keeps who comments from becoming a follower.
const quietly = "?isAddToFollowers=false"

func (p *Player) comment(ctx context.Context, t *Ticket, s Step) error {
	var made struct{ ID string }
	err := p.api.do(ctx, s.By, s.At, http.MethodPost, "issues/"+t.ID+"/comments"+quietly, p.api.comment(s.Say, t, s.At), &made)
	t.comments = append(t.comments, made.ID)
	return err
}

// fields are a step's new values.
func (p *Player) fields(t *Ticket, s Step) map[string]any {
	body := map[string]any{}
	for field, v := range map[string]string{"assignee": s.Assignee, "priority": s.Priority, "type": s.Type, "deadline": s.Deadline} {
		switch v {
		case "":
		case Nobody:
			body[field] = nil
		default:
			body[field] = v
		}
	}
	if s.Rating > 0 {
		body[p.local[t.queue][string(tracker.FieldRating)]] = strconv.Itoa(s.Rating)
	}
	if s.Category != "" {
		body[p.local[t.queue][string(tracker.FieldCategory)]] = s.Category
	}
	return body
}
