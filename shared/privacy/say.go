package privacy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/pace"
)

// sending is how far a message to the customer has come.
type sending struct {
	Tries int  `json:"tries,omitempty"` // calls that had no known end
	Over  bool `json:"over,omitempty"`  // it was sent, or cannot be
}

const (
	paceWait  = 5 * time.Second // for a place within the limits; a longer wait parks the job
	sendAgain = 10 * time.Second
	sendWait  = time.Hour // after that an outage of the messenger is the end of the message
)

// letter is one message to the customer, as one stage.
type letter struct {
	stage string
	to    messenger.Address
	said  *sending
	data  any // what is recorded with the stage; said is in it
	write func(Sender) messenger.Outgoing
}

// say sends a letter. Where the messenger knows no repetitions, a call without a known
// end is repeated once. It is not waited for without end: who asked to be forgotten is
// forgotten, told or not.
func (s *Service) say(ctx context.Context, r *job.Run, l letter) error {
	sender, ok := s.d.Senders(l.to)
	if l.said.Over || !ok {
		return nil
	}
	if l.said.Tries < 2 || sender.Limits().Idempotent {
		if err := s.call(ctx, r, sender, l); err != nil {
			return err
		}
	}
	l.said.Over = true
	return r.Done(ctx, l.stage, l.data)
}

// call sends the letter; nil also when it can never be sent.
func (s *Service) call(ctx context.Context, r *job.Run, sender Sender, l letter) error {
	err := s.d.Pacer.Wait(ctx, l.to, paceWait)
	var long *pace.TooLong
	if errors.As(err, &long) {
		return job.Later(long.Wait, err)
	}
	if err != nil {
		return fmt.Errorf("wait for a place: %w", err)
	}
	o := l.write(sender)
	o.Chat, o.Key = l.to.Chat, r.Key+"/"+l.stage
	l.said.Tries++
	if err := r.Begin(ctx, l.stage, l.data); err != nil {
		return err
	}
	if _, err = sender.Send(ctx, o); err == nil {
		return nil
	}
	return s.failed(ctx, r, l, fmt.Errorf("send message: %w", err))
}

// failed decides what a failed call means; nil: it is of no use to try again.
func (s *Service) failed(ctx context.Context, r *job.Run, l letter, err error) error {
	var e *messenger.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Kind != messenger.Uncertain { // it certainly was not sent
		l.said.Tries--
		if rerr := r.Refused(ctx); rerr != nil {
			return rerr
		}
	}
	if r.Age > sendWait {
		return nil
	}
	switch e.Kind {
	case messenger.RateLimited:
		if e.Refused() {
			s.d.Pacer.Refused(ctx, l.to, e.RetryAfter)
		}
		return job.Later(max(e.RetryAfter, time.Second), err)
	case messenger.Uncertain, messenger.Temporary:
		return job.Later(sendAgain, err)
	}
	return nil
}
