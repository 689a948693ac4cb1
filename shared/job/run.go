package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Handler does the work of one kind of job. Its error is the decision (see
// Later, Review, HoldFor); nil completes the job with the outcome.
type Handler func(ctx context.Context, r *Run) (Outcome, error)

// Outcome is what a completed job leaves.
type Outcome struct {
	Result any   // becomes JSON; kept with the job
	Then   []New // jobs that follow from it, inserted in the transaction that completes it
}

// Kind is a kind of job that a function knows how to do.
type Kind struct {
	Version int // highest payload version that the handler understands; 0 counts as 1
	Handle  Handler
	// Stages names the external effects of the handler, in the order in which
	// they happen. Crash tests kill the process at each of them.
	Stages []string
}

// The points of a stage at which a Hook is called.
const (
	HookBegun  = "begun"  // it is recorded that the effect is about to happen
	HookCalled = "called" // the effect has happened, nothing says so yet
	HookDone   = "done"   // it is recorded that it happened
)

// StageRun is a stage that every kind has, not to be declared: the run itself. It
// has begun when the job is claimed, is called when the handler has returned and
// nothing says so yet, and is done when the outcome is written and the jobs that
// follow are not published yet.
const StageRun = "run"

// Hook is called with "kind/stage/point". Tests use it to kill the process.
type Hook func(point string)

// restoreTime bounds the write that takes a stage back.
const restoreTime = 3 * time.Second

// Run is one run of a job: the job and the right to write to it.
type Run struct {
	Job
	kind   Kind
	store  Store
	lease  *lease
	hook   Hook
	before *stageMark // from before the last Begin
}

type stageMark struct {
	stage string
	data  json.RawMessage
}

// Decode reads the payload.
func (r *Run) Decode(v any) error {
	if err := json.Unmarshal(r.Payload, v); err != nil {
		return Review(fmt.Errorf("decode payload of %s: %w", r.Job.Kind, err))
	}
	return nil
}

// DecodeStage reads what was recorded with the last stage; it leaves v alone
// when nothing was.
func (r *Run) DecodeStage(v any) error {
	if len(r.StageData) == 0 {
		return nil
	}
	if err := json.Unmarshal(r.StageData, v); err != nil {
		return Review(fmt.Errorf("decode stage of %s: %w", r.Job.Kind, err))
	}
	return nil
}

// Begin is called right before an external effect: it records that the effect is
// about to happen and makes sure that the lease will hold. ErrCancelled and
// ErrLost mean that it must not happen. The stage is a name of Kind.Stages, with
// ":detail" behind it for one of several ("send:2").
func (r *Run) Begin(ctx context.Context, stage string, data any) error {
	if err := r.Guard(ctx); err != nil {
		return err
	}
	r.before = &stageMark{r.Job.Stage, r.StageData}
	cancel, err := r.write(ctx, "begin "+stage, stage, data)
	if errors.Is(err, ErrLost) {
		return err
	}
	if err != nil { // it may have been written, and only the answer got lost
		return r.giveUp(ctx, err)
	}
	if cancel {
		return r.giveUp(ctx, ErrCancelled)
	}
	r.point(stage, HookBegun)
	if err := r.Guard(ctx); err != nil {
		return r.giveUp(ctx, err)
	}
	return nil
}

// giveUp takes back a stage whose effect was not even tried. Where that fails too,
// the next run takes the effect for uncertain.
func (r *Run) giveUp(ctx context.Context, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()
	if err := r.Refused(ctx); errors.Is(err, ErrLost) {
		return err
	}
	return why
}

// Begun reports whether the last thing recorded is that this effect was about to
// happen: nobody knows whether it did.
func (r *Run) Begun(stage string) bool { return r.Job.Stage == "begin "+stage }

// Done records that the effect happened, with what is needed to go on after a
// crash.
func (r *Run) Done(ctx context.Context, stage string, data any) error {
	r.point(stage, HookCalled)
	if _, err := r.write(ctx, "done "+stage, stage, data); err != nil {
		return err
	}
	r.before = nil
	r.point(stage, HookDone)
	return nil
}

// Refused restores the stage from before the last Begin: the effect certainly did
// not happen.
func (r *Run) Refused(ctx context.Context) error {
	if r.before == nil {
		return nil
	}
	mark := *r.before
	if _, err := r.store.Stage(ctx, r.ID, r.lease.token, mark.stage, mark.data); err != nil {
		return err
	}
	r.Job.Stage, r.StageData, r.before = mark.stage, mark.data, nil
	return nil
}

// At is a point of an effect whose beginning and end are recorded elsewhere than in
// the job's stage, for crash tests.
func (r *Run) At(stage, point string) { r.point(stage, point) }

// Guard makes sure, on both clocks, that the lease still holds. Begin calls it;
// a long effect made of several calls calls it before each.
func (r *Run) Guard(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if !r.lease.valid() {
		return ErrLost
	}
	return nil
}

// Token is the lease's token, for stores that write something together with a
// guarded stage.
func (r *Run) Token() string { return r.lease.token }

func (r *Run) write(ctx context.Context, mark, stage string, data any) (cancel bool, err error) {
	if name, _, _ := strings.Cut(stage, ":"); !slices.Contains(r.kind.Stages, name) {
		return false, Review(fmt.Errorf("stage %q of %s is not declared", name, r.Job.Kind))
	}
	raw, err := encode(data)
	if err != nil {
		return false, fmt.Errorf("encode stage %s: %w", stage, err)
	}
	cancel, err = r.store.Stage(ctx, r.ID, r.lease.token, mark, raw)
	if err != nil {
		return false, fmt.Errorf("record stage %s: %w", stage, err)
	}
	r.Job.Stage, r.StageData = mark, raw
	return cancel, nil
}

func (r *Run) point(stage, point string) { r.hook.at(r.Job.Kind, stage, point) }

func (h Hook) at(kind, stage, point string) {
	if h != nil {
		name, _, _ := strings.Cut(stage, ":")
		h(kind + "/" + name + "/" + point)
	}
}

func encode(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return json.Marshal(v)
}
