package model_test

import (
	"fmt"

	"supportbot/shared/job"
)

// verb is what somebody does.
type verb string

// Of workers, of whoever sends hints, of the reconciler, of people, of time.
const (
	claim  verb = "claim" // by a hint for a job
	renew  verb = "renew"
	stage  verb = "stage"
	finish verb = "finish"
	crash  verb = "crash"

	insert  verb = "insert"
	publish verb = "publish" // however late
	look    verb = "look"    // for a lane's head, after its release

	rescue    verb = "rescue"
	sweep     verb = "sweep"
	republish verb = "republish" // finds heads, then sends hints for them
	find      verb = "find"      // the first half of it
	inform    verb = "inform"    // whoever a review concerns

	cancel verb = "cancel"
	pause  verb = "pause"
	resume verb = "resume"
	replay verb = "replay"
	settle verb = "settle"

	later  verb = "later"  // all waits end, all hints get old
	expire verb = "expire" // the lease of a lane is over
)

// action is a verb with who does it (workers) and to what.
type action struct {
	verb    verb
	worker  owner
	job     int8 // for expire and look, its lane
	verdict job.Verdict
	next    bool // the worker asks for the lane's next job
}

func (a action) String() string {
	s := string(a.verb)
	if a.worker != nobody {
		s = string('A'+rune(a.worker)) + " " + s
	}
	if a.job != none {
		s += " " + name(a.job)
	}
	if a.verdict != "" {
		s += " " + string(a.verdict)
	}
	if a.next {
		s += ", next"
	}
	return s
}

func name(j int8) string { return fmt.Sprintf("j%d", j+1) }

var verdicts = []job.Verdict{
	job.VerdictCompleted, job.VerdictFailed, job.VerdictParked, job.VerdictStopped,
	job.VerdictReview, job.VerdictCancel, job.VerdictHeld,
}

// actions are those that can happen in a world, at all times and in any order.
func (w *world) actions() []action {
	list := []action{
		{rescue, nobody, none, "", false}, {republish, nobody, none, "", false}, {later, nobody, none, "", false},
	}
	if w.order == apart {
		list = append(list, action{sweep, nobody, none, "", false})
	}
	if w.order == alone {
		list = append(list, action{inform, nobody, none, "", false})
	}
	for j := range int8(2) {
		list = append(list, w.onJob(j)...)
		if len(w.laneJobs(int(j))) > 0 {
			list = append(list, action{look, nobody, j, "", false})
		}
		if w.lanes[j].live {
			list = append(list, action{expire, nobody, j, "", false})
		}
	}
	for worker := range owner(2) {
		if w.doing[worker] != none {
			list = append(list, w.working(worker)...)
		}
	}
	return list
}

func (w *world) onJob(j int8) (list []action) {
	if j == 1 && w.order == alone {
		return nil
	}
	list = append(list, action{insert, nobody, j, "", false})
	if w.jobs[j].state == "" {
		return list
	}
	for _, v := range []verb{publish, cancel, pause, resume, settle} {
		list = append(list, action{v, nobody, j, "", false})
	}
	if w.budget > 0 || w.jobs[j].state != job.NeedsReview {
		list = append(list, action{replay, nobody, j, "", false})
	}
	for worker := range owner(2) {
		if w.doing[worker] == none {
			list = append(list, action{claim, worker, j, "", false})
		}
	}
	return list
}

func (w *world) working(worker owner) []action {
	list := []action{{renew, worker, none, "", false}, {stage, worker, none, "", false}, {crash, worker, none, "", false}}
	for _, v := range verdicts {
		if v == job.VerdictHeld && w.order != apart {
			continue
		}
		list = append(list, action{finish, worker, none, v, false})
		if w.order != alone || v == job.VerdictCompleted || v == job.VerdictHeld {
			list = append(list, action{finish, worker, none, v, true})
		}
	}
	return list
}
