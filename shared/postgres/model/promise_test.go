package model_test

import (
	"bytes"
	"fmt"
	"strings"

	"supportbot/shared/job"
)

// step is one action on the real database.
type step struct {
	action        action
	told          string
	before, after image
	from, to      world // before and after as the model sees them: what is over lacks all but its state
}

// broken says which promise a step has broken, whatever the model thinks of it.
func (s step) broken() error {
	if s.told == lost && (!bytes.Equal(s.before.jobs, s.after.jobs) || !bytes.Equal(s.before.lanes, s.after.lanes)) {
		return fmt.Errorf("a stale token has changed something: %s -> %s, %s -> %s", s.before.jobs, s.after.jobs, s.before.lanes, s.after.lanes)
	}
	for key, now := range s.after.rows {
		if err := s.brokenFor(s.before.rows[key], now); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	for lane := range s.to.lanes {
		if err := s.to.brokenLane(lane); err != nil {
			return err
		}
	}
	return s.overtaken()
}

// brokenFor looks at one job before and after.
func (s step) brokenFor(before, now record) error {
	open := now.State != job.Completed && now.State != job.Cancelled && now.State != job.NeedsReview
	failed := s.action.verb == finish && s.action.verdict == job.VerdictFailed
	switch {
	case before.State == job.Completed || before.State == job.Cancelled:
		if !bytes.Equal(before.all, now.all) {
			return fmt.Errorf("it was over and changed: %s -> %s", before.all, now.all)
		}
	case s.action.verb == publish && now.State == job.Queued && before.State != job.Accepted && before.State != job.Queued:
		return fmt.Errorf("a hint for what was %q has queued it", before.State)
	case now.State == job.Queued && before.State == job.NeedsReview:
		return fmt.Errorf("queued from review")
	case now.Members < before.Members:
		return fmt.Errorf("of %d parts %d are left", before.Members, now.Members)
	case before.AskedAt != nil && now.AskedAt == nil && s.action.verb != replay:
		return fmt.Errorf("the request to cancel it is lost")
	case now.AskedAt != nil && now.State != job.Running && now.State != job.Cancelled && now.State != job.Completed:
		return fmt.Errorf("it was to be cancelled and is %s", now.State)
	case now.Attempts > before.Attempts && (!failed || now.Attempts != before.Attempts+1), now.Attempts < before.Attempts && s.action.verb != replay:
		return fmt.Errorf("attempts %d -> %d", before.Attempts, now.Attempts)
	case open != (now.FinishedAt == nil):
		return fmt.Errorf("it is %s, finished at %v", now.State, now.FinishedAt)
	}
	return nil
}

// brokenLane: a lease goes with exactly one job that runs by its token.
func (w *world) brokenLane(lane int) error {
	running := 0
	for _, j := range w.laneJobs(lane) {
		if r := w.jobs[j]; r.state == job.Running {
			running++
			if r.token != w.lanes[lane].owner {
				return fmt.Errorf("%s runs for %d, the lane is held by %d", name(int8(j)), r.token, w.lanes[lane].owner)
			}
		}
	}
	if held := w.lanes[lane].owner != nobody; running > 1 || held != (running == 1) {
		return fmt.Errorf("lane %d: %d jobs run, held %t", lane, running, held)
	}
	return nil
}

// overtaken: in a strict lane nothing starts while something before it is open, neither
// held nor a replayed job that is not due.
func (s step) overtaken() error {
	ahead, behind := s.to.jobs[0], int8(1)
	if s.to.order == urgent {
		ahead, behind = s.to.jobs[1], 0
	}
	started := strings.HasSuffix(s.told, "runs "+name(behind))
	if s.to.order != loose && s.to.order != apart && started && ahead.open() && !ahead.held && (!ahead.replayed || ahead.due) {
		return fmt.Errorf("%s overtook the other, which is %+v", name(behind), ahead)
	}
	return nil
}
