package model_test

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, backendtest.Goroutines()...) }

// start is a world from which to explore: an order and what has happened before.
func start(o order, history ...action) *node {
	n := &node{world: newWorld(o), image: image{crew: newCrew(), jobs: []byte("[]"), lanes: []byte("[]")}}
	for _, a := range history {
		n = &node{by: a, from: n}
	}
	return n
}

func on(v verb, j int8) action { return action{verb: v, worker: nobody, job: j} }

func by(w owner, v verb, j int8) action { return action{verb: v, worker: w, job: j} }

func ends(w owner, v job.Verdict, next bool) action {
	return action{verb: finish, worker: w, job: none, verdict: v, next: next}
}

var (
	first, second = on(insert, 0), on(insert, 1)
	overA         = []action{by(workerA, claim, 0), on(expire, 0)} // A has a lease that is over
)

// One job from its first insert, from its last attempt but one and from its last lease but
// one.
func TestModel_OneJob(t *testing.T) {
	t.Parallel()
	fail := []action{by(workerA, claim, 0), ends(workerA, job.VerdictFailed, false), on(later, none)}
	lose := append(slices.Clone(overA), on(rescue, none))
	explore(t, 5, start(alone),
		start(alone, append([]action{first}, slices.Repeat(fail, job.Attempts-1)...)...),
		start(alone, append([]action{first}, slices.Repeat(lose, job.MaxLosses-1)...)...))
}

func TestModel_StrictLane(t *testing.T) {
	t.Parallel()
	explore(t, 4, start(strict, first, second))
}

// Two workers, one of which has lost the lane to the other or to the reconciler.
func TestModel_LostLease(t *testing.T) {
	t.Parallel()
	rescued := append([]action{first, second}, append(overA, on(rescue, none))...)
	taken := append([]action{first, second}, append(overA, by(workerB, claim, 0))...)
	explore(t, 2, start(strict, rescued...), start(strict, taken...))
}

// The second job overtakes the first as long as that has not started.
func TestModel_Priority(t *testing.T) {
	t.Parallel()
	explore(t, 3, start(urgent, first))
}

// A part joins the job that gathers, or comes too late.
func TestModel_Gather(t *testing.T) {
	t.Parallel()
	explore(t, 3, start(gathered, first), start(gathered, first, on(later, none), by(workerA, claim, 0)))
}

func TestModel_LooseLane(t *testing.T) {
	t.Parallel()
	explore(t, 3, start(loose, first, second))
}

// The second job, in a lane of its own, waits for the first or may begin to.
func TestModel_Waiting(t *testing.T) {
	t.Parallel()
	begun := []action{first, second, by(workerA, claim, 1)}
	explore(t, 3, start(apart, begun...), start(apart, append(begun, ends(workerA, job.VerdictHeld, false))...))
}

// The first job was cancelled by a rescue, which tells nobody: the sweep does.
func TestModel_Untold(t *testing.T) {
	t.Parallel()
	explore(t, 2, start(apart, first, second, by(workerA, claim, 1), ends(workerA, job.VerdictHeld, false),
		by(workerA, claim, 0), on(cancel, 0), on(expire, 0), on(rescue, none)))
}
