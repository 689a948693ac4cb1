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
	case v == insert && w.order == gathered:
		return w.gather(j)
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
		*r = row{state: job.Accepted, stage: r.stage, due: true, replayed: true, paused: r.paused, held: r.paused, members: r.members, token: nobody}
	case v == settle && r.state == job.NeedsReview:
		r.state = job.Cancelled
		w.tell(int8(j))
	default:
		return notFound
	}
	return ""
}

// gather inserts a part: the first makes the job, the other joins it unless it has started;
// then it is a job of its own.
func (w *world) gather(part int) string {
	first := &w.jobs[0]
	waiting := (first.state == job.Accepted || first.state == job.Queued) && first.attempts == 0 && first.stage == 0 && !first.held
	switch {
	case first.state == "":
		*first = row{state: job.Accepted, members: 1, token: nobody}
		return "new"
	case part == 0 || first.members == 2:
	case waiting:
		first.members, first.due = 2, false
	case w.jobs[1].state == "":
		w.jobs[1] = row{state: job.Accepted, due: true, members: 1, token: nobody}
		return "new"
	}
	return "there"
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

// forgotten are the due heads of idle lanes that had no hint lately.
func (w *world) forgotten() (heads []int8) {
	for lane := range w.lanes {
		h := w.head(lane)
		if h == none || !w.lanes[lane].free() {
			continue
		}
		if r := w.jobs[h]; r.due && r.state != job.Running && !r.hinted {
			heads = append(heads, h)
		}
	}
	return heads
}

// republish sends hints for them.
func (w *world) republish() string {
	heads := w.forgotten()
	for _, h := range heads {
		w.jobs[h].publish()
	}
	return list(heads)
}

// inform tells of each review once.
func (w *world) inform() string {
	var told []int8
	for j := range w.jobs {
		if r := &w.jobs[j]; r.state == job.NeedsReview && !r.told {
			r.told = true
			told = append(told, int8(j))
		}
	}
	return list(told)
}

// list names jobs.
func list(jobs []int8) string {
	names := make([]string, len(jobs))
	for i, j := range jobs {
		names[i] = name(j)
	}
	return strings.Join(names, ", ")
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
