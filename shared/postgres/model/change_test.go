package model_test

import (
	"slices"
	"strings"

	"supportbot/shared/job"
)

// change is what publishers and people do to one job.
func (w *world) change(v verb, j int) string {
	r := &w.jobs[j]
	switch {
	case v == insert && r.state == "":
		*r = row{state: job.Accepted, due: true, token: nobody}
		return "new"
	case v == insert:
		return "there"
	case v == publish:
		r.publish()
		return ""
	case v == cancel && !r.over():
		w.cancel(int8(j))
		return string(r.state)
	case v == pause && r.open():
		r.paused, r.held = true, r.state != job.Running
	case v == resume && r.open() && r.paused:
		r.paused, r.held, r.due, r.hinted = false, r.waits, true, false
	case v == replay && r.state == job.NeedsReview:
		w.budget--
		*r = row{state: job.Accepted, stage: r.stage, due: true, replayed: true, paused: r.paused, held: r.paused, token: nobody}
	case v == settle && r.state == job.NeedsReview:
		r.state = job.Cancelled
		w.tell(int8(j))
	default:
		return notFound
	}
	return ""
}

func (r *row) publish() {
	if r.state == job.Accepted {
		r.state = job.Queued
	}
	r.hinted = r.hinted || r.open()
}

// cancel ends a job that does not run, and asks one that runs.
func (w *world) cancel(j int8) {
	r := &w.jobs[j]
	r.asked = true
	if r.state != job.Running {
		r.state = job.Cancelled
		w.tell(j)
	}
}

// tell lets the job go that waits for one that is complete, and gives the one to a
// person that waits for one that was cancelled.
func (w *world) tell(j int8) {
	other := &w.jobs[1-j]
	if !w.jobs[j].over() || !other.open() || !other.waits {
		return
	}
	other.waits, other.held, other.due = false, false, true
	if w.jobs[j].state == job.Completed {
		other.held = other.paused
	} else {
		other.state = job.NeedsReview
	}
}

func (w *world) sweep() { w.tell(0); w.tell(1) }

// rescue frees the lanes whose lease is over and takes back what runs there.
func (w *world) rescue(skipped ...int) string {
	var taken []string
	for lane := range w.lanes {
		if w.lanes[lane].owner == nobody || w.lanes[lane].live || slices.Contains(skipped, lane) {
			continue
		}
		w.lanes[lane] = lease{owner: nobody}
		for _, j := range w.laneJobs(lane) {
			if r := &w.jobs[j]; r.state == job.Running {
				r.lose()
				r.hinted = false
				taken = append(taken, name(int8(j))+" "+string(r.state))
			}
		}
	}
	return strings.Join(taken, ", ")
}

// republish sends hints for due heads of idle lanes that had none lately.
func (w *world) republish() string {
	var sent []string
	for lane := range w.lanes {
		h := w.head(lane)
		if h == none || !w.lanes[lane].free() {
			continue
		}
		if r := &w.jobs[h]; r.due && r.state != job.Running && !r.hinted {
			r.publish()
			sent = append(sent, name(h))
		}
	}
	return strings.Join(sent, ", ")
}

func (w *world) later() {
	for j := range w.jobs {
		w.jobs[j].due, w.jobs[j].hinted = true, false
	}
}

// look gives the first job of an idle lane; where none counts yet, one of those that wait.
func (w *world) look(lane int) string {
	if !w.lanes[lane].free() {
		return nothing
	}
	if h := w.head(lane); h != none {
		return name(h)
	}
	var waiting []string
	for _, j := range w.laneJobs(lane) {
		if w.jobs[j].open() && !w.jobs[j].held {
			waiting = append(waiting, name(int8(j)))
		}
	}
	if len(waiting) == 0 {
		return nothing
	}
	return strings.Join(waiting, " or ")
}
