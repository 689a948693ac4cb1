package ticketing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/tracker"
)

// fileWait is how long a file that cannot be carried holds up the lane: after that
// its failures are counted, and after fileTries of them the message goes into the
// ticket without it.
const (
	fileWait  = time.Hour
	fileTries = 3
)

// missing: the file will not be had, or was not in fileTries after fileWait.
func missing(r *job.Run, err error) bool {
	var e *messenger.Error
	switch {
	case tracker.KindOf(err) == tracker.Invalid:
		return true
	case !errors.As(err, &e) || e.Kind == messenger.RateLimited:
		return false
	}
	return e.Kind == messenger.Invalid || r.Attempts >= fileTries
}

// decideFile is decide for a file on its way from the messenger to Tracker.
// Carrying it twice does no harm.
func decideFile(ctx context.Context, r *job.Run, err error) error {
	var e *messenger.Error
	if !errors.As(err, &e) {
		return decide(ctx, r, err)
	}
	if rerr := r.Refused(ctx); rerr != nil {
		return rerr
	}
	if e.Kind == messenger.RateLimited {
		return job.Later(max(e.RetryAfter, time.Second), err)
	}
	return job.Within(r, fileWait, err)
}

// source is a file as the messenger gives it. One that is not as long as was said
// is refused by Tracker's client, and it is the messenger's failure.
type source struct {
	r    io.Reader
	said int64 // bytes; 0: nothing was said
	read int64
	lied atomic.Bool // the transport may read on when the call has ended
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.read += int64(n)
	if s.said > 0 && (s.read > s.said || s.read < s.said && errors.Is(err, io.EOF)) {
		s.lied.Store(true)
	}
	return n, err
}

// blame makes a failed call the messenger's failure if its file is the reason.
func (s *source) blame(err error) error {
	if !s.lied.Load() {
		return err
	}
	return &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("the file is not as long as was said: %w", err)}
}
