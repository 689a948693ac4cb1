package job

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"supportbot/shared/obs"
)

// Bounds of one drain of a lane.
const (
	DrainJobs = 20
	DrainTime = 30 * time.Second
	// StopBefore is how long before the function's deadline a worker stops.
	StopBefore = 10 * time.Second
	// unknownLater is when a job of an unknown kind or version is tried again.
	unknownLater = time.Minute
)

// Worker works on the jobs of one queue.
type Worker struct {
	Queue     string
	Kinds     map[string]Kind
	Store     Store
	Publisher *Publisher
	Log       *slog.Logger
	Clock     Clock
	Hook      Hook // nil outside crash tests
	// Limit is how long a call may take whose context does not say it: the cloud ends
	// a function at its time-out, with all calls of the instance, and does not document
	// that the context tells when. 0: as long as it takes.
	Limit time.Duration
	// Lease is how long the lease of a lane lasts, the store's too; 0: Lease.
	Lease time.Duration
	// RenewTick gives the ticks of the lease's renewal; nil means by RenewEvery.
	RenewTick func() (ticks <-chan time.Time, stop func())
}

// errStopping is the cause with which a run is ended when the function's time is
// nearly over.
var errStopping = errors.New("the function's time is nearly over")

// Work follows one hint: it claims the lane of the job, drains it, and publishes
// what is left. An error means that the store could not be reached, and that the
// hint should come again; everything else is in the rows.
func (w *Worker) Work(ctx context.Context, id int64) error {
	ctx, cancel := w.deadline(ctx)
	defer cancel()
	start := w.Clock.now()
	token := newToken()
	claim, err := w.Store.Claim(ctx, w.Queue, id, token)
	if err != nil {
		return fmt.Errorf("claim job %d: %w", id, err)
	}
	for _, lost := range claim.Review {
		w.Log.ErrorContext(ctx, "job lost its lease too often, it waits for review", slog.Int64(obs.Job, lost))
	}
	if claim.Lane == "" {
		w.Log.DebugContext(ctx, "hint dropped", slog.Int64(obs.Job, id))
		return nil
	}
	left := claim.Left
	if claim.Job != nil {
		l := &lease{clock: w.Clock, lasts: cmp.Or(w.Lease, Lease), lane: claim.Lane, token: token, asked: start}
		if left, err = w.drain(ctx, l, claim.Job, start); err != nil {
			return err
		}
	}
	if !left {
		return nil
	}
	return w.publishHead(context.WithoutCancel(ctx), claim.Lane)
}

// deadline ends the work StopBefore the function's own deadline.
func (w *Worker) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	d, ok := ctx.Deadline()
	if !ok && w.Limit > 0 {
		d, ok = time.Now().Add(w.Limit), true
	}
	if ok {
		return context.WithDeadlineCause(ctx, d.Add(-StopBefore), errStopping)
	}
	return context.WithCancel(ctx)
}

// drain works on the lane's jobs one after the other, while the lease is kept in
// the background. left: there are more, or nobody knows.
func (w *Worker) drain(ctx context.Context, l *lease, j *Job, start instant) (left bool, err error) {
	ctx, lose := context.WithCancelCause(ctx)
	ticks, stop := w.ticks()
	kept := make(chan struct{})
	keepCtx, endKeep := context.WithCancel(ctx)
	go func() {
		defer close(kept)
		l.keep(keepCtx, ticks, w.Store.Renew, w.Log, lose)
	}()
	defer func() { endKeep(); <-kept; stop(); lose(nil) }()

	for n := 1; j != nil; n++ {
		more := n < DrainJobs && w.Clock.Mono()-start.mono < DrainTime
		done, err := w.one(ctx, l, j, more)
		if errors.Is(err, ErrLost) {
			w.Log.WarnContext(ctx, "lease lost, stopped", slog.String(obs.Lane, l.lane), slog.Int64(obs.Job, j.ID))
			return true, nil
		}
		if err != nil {
			return false, err
		}
		j, left = done.Next, done.Left
	}
	return left, nil
}

func (w *Worker) ticks() (<-chan time.Time, func()) {
	if w.RenewTick != nil {
		return w.RenewTick()
	}
	t := time.NewTicker(RenewEvery(cmp.Or(w.Lease, Lease)))
	return t.C, t.Stop
}

// one runs one job and writes how it ended.
func (w *Worker) one(ctx context.Context, l *lease, j *Job, more bool) (Finished, error) {
	ctx = obs.WithCorrelation(ctx, j.CorrelationID)
	ctx = obs.With(ctx, slog.Int64(obs.Job, j.ID), slog.String(obs.Kind, j.Kind))
	began := time.Now()
	w.Hook.at(j.Kind, StageRun, HookBegun)
	outcome, err := w.handle(ctx, l, j)
	w.Hook.at(j.Kind, StageRun, HookCalled)
	f := w.finish(ctx, j, outcome, err)
	f.Token = l.token
	f.Next = more && ctx.Err() == nil
	if errors.Is(err, ErrLost) || errors.Is(context.Cause(ctx), ErrLost) {
		return Finished{}, ErrLost
	}
	// The outcome must be written also when the function's time is over.
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopBefore/2)
	defer cancel()
	asked := w.Clock.now()
	done, ferr := w.Store.Finish(write, f)
	if ferr != nil {
		return Finished{}, fmt.Errorf("finish job %d: %w", j.ID, ferr)
	}
	w.Hook.at(j.Kind, StageRun, HookDone)
	w.report(ctx, j, f, done, time.Since(began))
	w.Publisher.Publish(write, done.Inserted)
	if done.Next != nil {
		l.extended(asked)
	}
	return done, nil
}

// handle calls the handler; a panic is a failure like any other.
func (w *Worker) handle(ctx context.Context, l *lease, j *Job) (o Outcome, err error) {
	kind, ok := w.Kinds[j.Kind]
	if !ok || j.Version > max(kind.Version, 1) {
		return Outcome{}, Later(unknownLater, fmt.Errorf("kind %q version %d is not known here", j.Kind, j.Version))
	}
	defer func() {
		if p := recover(); p != nil {
			w.Log.ErrorContext(ctx, "handler panicked", slog.String("stack", string(debug.Stack())))
			err = errors.New("handler panicked")
		}
	}()
	return kind.Handle(ctx, &Run{Job: *j, kind: kind, store: w.Store, lease: l, hook: w.Hook})
}

// finish turns the handler's answer into a verdict.
func (w *Worker) finish(ctx context.Context, j *Job, o Outcome, err error) Finish {
	f := Finish{Job: j}
	var d *decision
	switch {
	case err == nil:
		f.Verdict, f.Insert = VerdictCompleted, o.Then
		if f.Result, err = encode(o.Result); err != nil {
			f.Verdict, f.Error = VerdictReview, "the result cannot be encoded"
		}
	case errors.As(err, &d):
		f.Verdict, f.Delay, f.HeldFor, f.Error = d.verdict, d.delay, d.heldFor, d.why.Error()
		if d.verdict == VerdictParked && !j.Lane.Loose && j.Age > Budget {
			f.Verdict, f.Error = VerdictReview, "its time is over: "+f.Error
		}
	case ctx.Err() != nil:
		f.Verdict, f.Error = VerdictStopped, "stopped: "+context.Cause(ctx).Error()
	default:
		f.Verdict, f.Delay, f.Error = VerdictFailed, Backoff(j.Attempts+1), err.Error()
	}
	return f
}

// report writes the run's closing line: the one place where its error is logged.
func (w *Worker) report(ctx context.Context, j *Job, f Finish, done Finished, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case done.State == NeedsReview:
		level = slog.LevelError
	case f.Verdict == VerdictFailed:
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.String(obs.Outcome, string(f.Verdict)), slog.String("state", string(done.State)),
		slog.Int(obs.Attempt, j.Attempts+1), slog.Int64(obs.Duration, took.Milliseconds()),
	}
	if f.Error != "" {
		attrs = append(attrs, slog.String(obs.Error, f.Error))
	}
	w.Log.LogAttrs(ctx, level, "job run", attrs...)
}

// publishHead sends a hint for what is left in a lane that was just released. It
// must look after the release: a job inserted while the lane was held had its
// hint dropped.
func (w *Worker) publishHead(ctx context.Context, lane string) error {
	ctx, cancel := context.WithTimeout(ctx, StopBefore/2)
	defer cancel()
	head, ok, err := w.Store.Head(ctx, lane)
	if err != nil {
		return fmt.Errorf("look for the head of lane %s: %w", lane, err)
	}
	if ok {
		w.Publisher.Publish(ctx, []Inserted{head})
	}
	return nil
}

func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
