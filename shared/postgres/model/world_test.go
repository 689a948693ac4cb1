// Package model_test holds the statements on jobs against a model of them: a pure
// function says what each action of workers, publisher, reconciler, people and time
// does to two jobs, and every step that it can reach is taken on a real database, too.
package model_test

import (
	"slices"

	"supportbot/shared/job"
)

// owner is whose lease, or whose token on a row.
type owner int8

const (
	nobody  owner = -1
	workerA owner = 0
	workerB owner = 1
	ghost   owner = 2 // a worker that is no more
)

// row is what is promised of a job's row.
type row struct {
	state    job.State // "": there is none
	stage    int8      // index of stages
	attempts int8
	losses   int8
	due      bool // it may run by its time
	hinted   bool // a hint was sent lately
	replayed bool
	asked    bool // somebody asked to cancel it
	paused   bool
	held     bool
	waits    bool // for the other job
	told     bool // of its review, to whom it concerns
	members  int8 // of a gathered job
	token    owner
}

func (r row) open() bool {
	return r.state == job.Accepted || r.state == job.Queued || r.state == job.Running
}

// over: nothing may ever change it.
func (r row) over() bool { return r.state == job.Completed || r.state == job.Cancelled }

// settled leaves of a row what is promised of it: closed ones have no time, and of those
// that are over only the end counts.
func (r row) settled() row {
	switch {
	case r.state == "" || r.over():
		return row{state: r.state, members: r.members, token: nobody}
	case !r.open():
		r.due, r.hinted = false, false
	}
	return r
}

// lease is a lane's. One that is over stays with its owner until somebody takes it.
type lease struct {
	owner owner
	live  bool
}

func (l lease) free() bool { return l.owner == nobody || !l.live }

// order is how the two jobs lie in lanes; the first comes before the second unless it says
// otherwise.
type order int8

const (
	alone    order = iota // there is only one job
	strict                // both in one strict lane
	loose                 // both in one loose lane
	apart                 // each in a strict lane of its own; one may wait for the other
	urgent                // both in one strict lane, and the second comes first by its priority
	gathered              // the first gathers parts in a strict lane; what comes too late is the second
)

const none int8 = -1

// world is everything that matters to two workers and two jobs. It is comparable.
type world struct {
	order  order
	jobs   [2]row
	lanes  [2]lease
	doing  [2]int8 // the job that each worker believes to run, or none
	budget int8    // of what could be repeated for ever: replays
}

func newWorld(o order) world {
	w := world{order: o, doing: [2]int8{none, none}, budget: 1}
	for i := range 2 {
		w.jobs[i].token = nobody
		w.lanes[i].owner = nobody
	}
	return w
}

func (w *world) laneOf(j int) int {
	if w.order == apart {
		return j
	}
	return 0
}

// laneJobs are the jobs of a lane in their order.
func (w *world) laneJobs(lane int) (jobs []int) {
	for j := range w.jobs {
		if w.laneOf(j) == lane && w.jobs[j].state != "" {
			jobs = append(jobs, j)
		}
	}
	if w.order == urgent {
		slices.Reverse(jobs)
	}
	return jobs
}

// counts: it is the lane's head unless another comes before it.
func (w *world) counts(j int) bool {
	r := w.jobs[j]
	return r.open() && !r.held && (w.order != loose && !r.replayed || r.due)
}

// head is the lane's head, or none.
func (w *world) head(lane int) int8 {
	for _, j := range w.laneJobs(lane) {
		if w.counts(j) {
			return int8(j)
		}
	}
	return none
}

// left: the lane has jobs that somebody may work on, now or later.
func (w *world) left(lane int) bool {
	for _, j := range w.laneJobs(lane) {
		if w.jobs[j].open() && !w.jobs[j].held {
			return true
		}
	}
	return false
}

// swapped is the same world with the workers' names exchanged, which changes nothing.
func (w world) swapped() world {
	other := func(o owner) owner {
		if o == workerA || o == workerB {
			return workerA + workerB - o
		}
		return o
	}
	for i := range 2 {
		w.jobs[i].token, w.lanes[i].owner = other(w.jobs[i].token), other(w.lanes[i].owner)
	}
	w.doing[0], w.doing[1] = w.doing[1], w.doing[0]
	return w
}

// settled is the world as it is compared and remembered.
func (w world) settled() world {
	for j := range w.jobs {
		w.jobs[j] = w.jobs[j].settled()
	}
	return w
}
