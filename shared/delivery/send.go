package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/pace"
)

// progress is what a delivery records with its stages.
type progress struct {
	Version int64            `json:"version,omitempty"` // of the comment that is being sent
	Parts   []messenger.Part `json:"parts,omitempty"`   // rendered once: an edit meanwhile must not mix versions
	Edit    bool             `json:"edit,omitempty"`    // the parts replace those that the customer has
	Files   []file           `json:"files,omitempty"`
	Sent    []string         `json:"sent,omitempty"`       // ids of the messages of the parts sent so far
	Done    int              `json:"done_files,omitempty"` // files sent so far
	Tries   int              `json:"tries,omitempty"`      // sends of the present message that had no known end
	Resent  int              `json:"resent,omitempty"`     // messages sent once more
}

// complete: everything went out, what is missing is the word that it did.
func (p progress) complete() bool {
	return len(p.Parts) > 0 && len(p.Sent) == len(p.Parts) && p.Done == len(p.Files)
}

// PaceWait is how long a delivery waits for its place; a longer wait parks it.
const PaceWait = 5 * time.Second

// sendWait is how long calls without a known end are taken for an outage, which
// uses up no attempts.
const sendWait = time.Hour

// errGone ends a delivery whose customer cannot be written to, or whose message
// is refused for good.
type errGone struct {
	kind messenger.ErrorKind
	err  error
}

func (e *errGone) Error() string { return e.err.Error() }
func (e *errGone) Unwrap() error { return e.err }

// send sends one message as one stage. done records what was sent in p before
// the stage is confirmed.
func (s *Service) send(ctx context.Context, r *job.Run, t target, stage string, p *progress, o messenger.Outgoing, done func(id string)) error {
	if r.Begun(stage) && !t.sender.Limits().Idempotent {
		if p.Tries > r.Replays {
			return job.Review(errors.New("a message may have been sent, twice nobody knows"))
		}
		if err := s.probe(ctx, r, t); err != nil {
			return err
		}
		p.Tries++
		p.Resent++
	}
	if err := s.place(ctx, t); err != nil {
		return err
	}
	o.Chat = t.to.Chat
	if o.Key == "" {
		o.Key = r.Key + "/" + stage
	}
	if err := r.Begin(ctx, stage, p); err != nil {
		return err
	}
	receipt, err := t.sender.Send(ctx, o)
	if err != nil {
		return s.failed(ctx, r, t, fmt.Errorf("send message: %w", err))
	}
	p.Tries = 0
	done(receipt.MessageID)
	return r.Done(ctx, stage, p)
}

// probe makes sure that a messenger which left a send without an end is there
// again before the only repetition is made.
func (s *Service) probe(ctx context.Context, r *job.Run, t target) error {
	prober, ok := t.sender.(messenger.Prober)
	if !ok {
		return nil
	}
	if err := prober.Probe(ctx, t.to.Chat); err != nil {
		return s.failed(ctx, r, t, fmt.Errorf("probe messenger: %w", err))
	}
	return nil
}

// place waits for a place within the messenger's limits.
func (s *Service) place(ctx context.Context, t target) error {
	err := s.d.Pacer.Wait(ctx, t.to, PaceWait)
	var long *pace.TooLong
	if errors.As(err, &long) {
		return job.Later(long.Wait, err)
	}
	if err != nil {
		return fmt.Errorf("wait for a place: %w", err)
	}
	return nil
}

// failed decides what a failed call means. Unless nobody knows how it ended, the
// stage from before the call is restored.
func (s *Service) failed(ctx context.Context, r *job.Run, t target, err error) error {
	var e *messenger.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Kind == messenger.Uncertain {
		return job.Within(r, sendWait, err)
	}
	if rerr := r.Refused(ctx); rerr != nil {
		return rerr
	}
	switch e.Kind {
	case messenger.RateLimited:
		if e.Refused() {
			s.d.Pacer.Refused(ctx, t.to, e.RetryAfter)
		}
		return job.Later(max(e.RetryAfter, time.Second), err)
	case messenger.Temporary:
		return job.Unavailable(r, err)
	}
	return &errGone{e.Kind, err}
}

// ended turns the end of a delivery into its outcome. Somebody who cannot be
// written to is remembered as such, and the agent is told of what was lost or may
// have come twice.
func (s *Service) ended(ctx context.Context, t target, p progress, err error, tell func(ending) job.Outcome) (job.Outcome, error) {
	var gone *errGone
	switch {
	case err == nil && p.Resent > 0:
		return tell(resent), nil
	case err == nil:
		return tell(sent), nil
	case !errors.As(err, &gone):
		return job.Outcome{}, err
	case gone.kind == messenger.Blocked:
		if rerr := s.d.Reachable(ctx, t.to, false); rerr != nil {
			return job.Outcome{}, rerr
		}
		return tell(undelivered), nil
	}
	return tell(refused), nil
}
