package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"supportbot/shared/job"
)

// crew is what two workers know.
type crew struct {
	ids    [2]int64 // of the jobs, 0: not inserted yet
	tokens [2]string
	doing  [2]int8
	at     [2]int8 // the stage that the worker wrote last, or found
}

func newCrew() crew { return crew{doing: [2]int8{none, none}} }

func (c *crew) owner(token *string) owner {
	if token == nil {
		return nobody
	}
	for w := range owner(2) {
		if c.doing[w] != none && c.tokens[w] == *token {
			return w
		}
	}
	return ghost
}

func (c *crew) name(id int64) string { return name(int8(slices.Index(c.ids[:], id))) }

// starts notes what the database gave a worker to do.
func (c *crew) starts(by owner, j *job.Job, left bool) string {
	c.doing[by] = none
	if j == nil {
		return fmt.Sprintf("released, left %t", left)
	}
	c.doing[by], c.at[by] = int8(slices.Index(c.ids[:], j.ID)), int8(slices.Index(stages, j.Stage))
	return "runs " + c.name(j.ID)
}

// serial makes the workers' tokens, each of which is used for one claim.
var serial atomic.Int64

// act does an action for real and says what whoever did it was told.
func (d *desk) act(ctx context.Context, c *crew, o order, a action) (told string, err error) {
	switch a.verb {
	case claim:
		return d.claim(ctx, c, a)
	case renew, stage, finish:
		told, err = d.work(ctx, c, o, a)
		if errors.Is(err, job.ErrLost) {
			c.doing[a.worker] = none
			return lost, nil
		}
		return told, err
	case crash:
		c.doing[a.worker] = none
		return "", nil
	case insert, publish, cancel, pause, resume, replay, settle:
		return d.change(ctx, c, o, a)
	}
	return d.reconcile(ctx, c, a)
}

func (d *desk) claim(ctx context.Context, c *crew, a action) (string, error) {
	token := fmt.Sprintf("00000000-0000-0000-0000-%012d", serial.Add(1))
	got, err := d.store.Claim(ctx, "tickets", c.ids[a.job], token)
	if err != nil || got.Lane == "" {
		return nothing, err
	}
	c.tokens[a.worker] = token
	told := make([]string, 0, len(got.Review)+1)
	for _, id := range got.Review {
		told = append(told, c.name(id))
	}
	return strings.Join(append(told, c.starts(a.worker, got.Job, got.Left)), " "), nil
}

func (d *desk) work(ctx context.Context, c *crew, o order, a action) (string, error) {
	j, token := c.doing[a.worker], c.tokens[a.worker]
	id, lane := c.ids[j], laneName(o, j)
	switch a.verb {
	case renew:
		return "", d.store.Renew(ctx, lane, token)
	case stage:
		at := min(c.at[a.worker]+1, int8(len(stages)-1))
		asked, err := d.store.Stage(ctx, id, token, stages[at], nil)
		if err == nil {
			c.at[a.worker] = at
		}
		return fmt.Sprintf("cancel %t", asked), err
	}
	f := job.Finish{Job: &job.Job{ID: id, Lane: job.Lane{Name: lane}}, Token: token, Verdict: a.verdict, Next: a.next}
	switch a.verdict {
	case job.VerdictFailed, job.VerdictParked:
		f.Delay = time.Hour
	case job.VerdictHeld:
		f.HeldFor = name(1 - j)
	case job.VerdictCompleted:
		f.Result = []byte(`"done"`)
	}
	done, err := d.store.Finish(ctx, f)
	if err != nil {
		return "", err
	}
	return string(done.State) + ", " + c.starts(a.worker, done.Next, done.Left), nil
}

func laneName(o order, j int8) string {
	if o == apart {
		return fmt.Sprintf("l%d", j+1)
	}
	return "l1"
}

func (d *desk) change(ctx context.Context, c *crew, o order, a action) (told string, err error) {
	id := c.ids[a.job]
	switch a.verb {
	case insert:
		return d.insert(ctx, c, o, a.job)
	case publish:
		err = d.store.Published(ctx, []int64{id})
	case cancel:
		var state job.State
		state, err = d.store.Cancel(ctx, id, "person:1")
		told = string(state)
	case pause:
		err = d.store.Pause(ctx, id)
	case resume:
		_, err = d.store.Resume(ctx, id)
	case replay:
		_, err = d.store.Replay(ctx, id, "person:1")
	case settle:
		err = d.store.SettleReview(ctx, id, "person:1", "done by hand")
	}
	if errors.Is(err, job.ErrNotFound) {
		return notFound, nil
	}
	return told, err
}

func (d *desk) insert(ctx context.Context, c *crew, o order, j int8) (string, error) {
	in := job.New{
		Queue: "tickets", Kind: "test", Key: name(j), Lane: job.Lane{Name: laneName(o, j), Loose: o == loose}, Sequence: int64(j), Payload: "test",
	}
	switch o {
	case urgent:
		in.Priority = int(j)
	case gathered:
		in.Key, in.Gather = name(0), &job.Gather{Member: []string{"the first", name(1)}[j], Wait: time.Hour, Cap: 2 * time.Hour}
	}
	made, err := d.store.Insert(ctx, []job.New{in})
	if err != nil || !made[0].New {
		return "there", err
	}
	c.ids[j] = made[0].ID
	return "new", nil
}

func (d *desk) reconcile(ctx context.Context, c *crew, a action) (string, error) {
	switch a.verb {
	case later:
		_, err := d.conn.Exec(ctx, `UPDATE jobs SET run_at = least(run_at, clock_timestamp()), published_at = published_at - interval '1 hour'
			WHERE state NOT IN ('completed', 'cancelled')`)
		return "", err
	case expire:
		_, err := d.conn.Exec(ctx, `UPDATE lanes SET lease_until = clock_timestamp() - interval '1 s' WHERE name = $1 AND lease_token IS NOT NULL`,
			fmt.Sprintf("l%d", a.job+1))
		return "", err
	case look:
		head, ok, err := d.store.Head(ctx, fmt.Sprintf("l%d", a.job+1))
		if err != nil || !ok {
			return nothing, err
		}
		return c.name(head.ID), nil
	case sweep:
		_, err := d.store.SweepHeld(ctx)
		return "", err
	case rescue:
		list, err := d.store.Rescue(ctx, 10)
		return c.list(list, true), err
	case inform:
		return d.inform(ctx, c)
	}
	list, err := d.store.Forgotten(ctx, "", 10)
	if err != nil {
		return "", err
	}
	ids := make([]int64, len(list))
	for i, in := range list {
		ids[i] = in.ID
	}
	return c.list(list, false), d.store.Published(ctx, ids)
}

func (d *desk) inform(ctx context.Context, c *crew) (string, error) {
	untold, err := d.store.Untold(ctx, 10)
	var told []job.Inserted
	for _, j := range untold {
		if err == nil {
			_, err = d.store.Told(ctx, j.ID, nil)
		}
		told = append(told, job.Inserted{ID: j.ID})
	}
	return c.list(told, false), err
}

// list names jobs in their order, perhaps with their state.
func (c *crew) list(jobs []job.Inserted, states bool) string {
	names := make([]string, len(jobs))
	for i, in := range jobs {
		names[i] = c.name(in.ID)
		if states {
			names[i] += " " + string(in.State)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
