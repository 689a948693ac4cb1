package model_test

import (
	"fmt"
	"strings"

	"supportbot/shared/job"
)

const (
	lost     = "lost"
	notFound = "not found"
	nothing  = "nothing"
)

// The stages that a worker writes one after the other.
var stages = []string{"", "begin effect", "done effect"}

// next is the model: what an action makes of a world, and what whoever does it is told.
func next(w world, a action) (world, string) {
	told := ""
	switch a.verb {
	case claim:
		told = w.claim(a.worker, int(a.job))
	case renew:
		told = w.renew(a.worker)
	case stage:
		told = w.stage(a.worker)
	case finish:
		told = w.finish(a)
	case crash:
		w.disown(a.worker)
	case rescue:
		told = w.rescue()
	case sweep:
		w.sweep()
	case republish:
		told = w.republish()
	case find:
		told = list(w.forgotten())
	case inform:
		told = w.inform()
	case later:
		w.later()
	case expire:
		w.lanes[a.job].live = false
	case look:
		told = w.look(int(a.job))
	default:
		told = w.change(a.verb, int(a.job))
	}
	return w.settled(), told
}

// claim takes the lane of a job if its lease is free or over, takes back what runs
// there, and starts its head.
func (w *world) claim(by owner, j int) string {
	lane := w.laneOf(j)
	if !w.jobs[j].open() || !w.lanes[lane].free() {
		return nothing
	}
	return w.take(lane, by)
}

func (w *world) take(lane int, by owner) string {
	w.lanes[lane] = lease{by, true}
	var review []string
	for _, j := range w.laneJobs(lane) {
		if w.jobs[j].state == job.Running {
			w.jobs[j].lose()
			if w.jobs[j].state == job.NeedsReview {
				review = append(review, name(int8(j)))
			}
		}
	}
	return strings.Join(append(review, w.start(lane, by)), " ")
}

// disown: a worker is gone, or has stopped; its next claim has a token of its own.
func (w *world) disown(by owner) {
	for i := range 2 {
		if w.lanes[i].owner == by {
			w.lanes[i].owner = ghost
		}
		if w.jobs[i].token == by {
			w.jobs[i].token = ghost
		}
	}
	w.doing[by] = none
}

// start runs the head of a lane if it can, or gives the lane back.
func (w *world) start(lane int, by owner) string {
	if h := w.head(lane); h != none && w.jobs[h].due && w.jobs[h].state != job.Running {
		w.jobs[h].state, w.jobs[h].token, w.doing[by] = job.Running, by, h
		return "runs " + name(h)
	}
	w.lanes[lane] = lease{owner: nobody}
	w.doing[by] = none
	return fmt.Sprintf("released, left %t", w.left(lane))
}

// lose takes a running job back from a worker that is gone.
func (r *row) lose() {
	r.losses++
	r.token = nobody
	switch {
	case r.asked:
		r.state = job.Cancelled
	case r.losses >= job.MaxLosses:
		r.state = job.NeedsReview
	default:
		r.state, r.held = job.Queued, r.paused
	}
}

func (w *world) renew(by owner) string {
	lane := w.laneOf(int(w.doing[by]))
	if w.lanes[lane].owner != by {
		w.disown(by)
		return lost
	}
	w.lanes[lane].live = true
	return ""
}

func (w *world) stage(by owner) string {
	r := &w.jobs[w.doing[by]]
	if r.token != by {
		w.disown(by)
		return lost
	}
	if last := int8(len(stages) - 1); r.stage < last {
		r.stage, r.losses = r.stage+1, 0
	}
	return fmt.Sprintf("cancel %t", r.asked)
}

// finish ends a run: the verdict, what it means to a job that waits for this one, then
// the lane's next job.
func (w *world) finish(a action) string {
	j := w.doing[a.worker]
	lane := w.laneOf(int(j))
	if w.jobs[j].token != a.worker {
		w.disown(a.worker)
		return lost
	}
	w.jobs[j].end(w.judge(a.verdict, j))
	w.tell(j)
	w.lanes[lane].live = true
	w.doing[a.worker] = none
	was := string(w.jobs[j].state)
	if !a.next {
		w.lanes[lane] = lease{owner: nobody}
		return was + fmt.Sprintf(", released, left %t", w.left(lane))
	}
	return was + ", " + w.start(lane, a.worker)
}

// again is the verdict of a job that waits for what is over already.
const again job.Verdict = "again"

// judge: waiting for a job that nobody knows or that was cancelled is for a person, for
// one that is complete it is over at once.
func (w *world) judge(v job.Verdict, j int8) job.Verdict {
	other := w.jobs[1-j].state
	switch {
	case v != job.VerdictHeld:
		return v
	case other == "" || other == job.Cancelled:
		return job.VerdictReview
	case other == job.Completed:
		return again
	}
	return v
}

// end is what a verdict does to the row.
func (r *row) end(v job.Verdict) {
	r.token = nobody
	if v == job.VerdictFailed {
		r.attempts++
	}
	if v == job.VerdictStopped {
		r.losses++
	}
	switch {
	case v == job.VerdictCompleted:
		r.state = job.Completed
	case v == job.VerdictCancel || r.asked:
		r.state = job.Cancelled
	case v == job.VerdictReview, v == job.VerdictFailed && r.attempts >= job.Attempts, v == job.VerdictStopped && r.losses >= job.MaxLosses:
		r.state = job.NeedsReview
	default:
		r.state = job.Queued
		r.due = v != job.VerdictFailed && v != job.VerdictParked
		r.waits = v == job.VerdictHeld
		r.held = r.waits || r.paused
	}
}
