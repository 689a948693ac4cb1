package v3

import (
	"context"
	"errors"
	"io"
	"time"
)

// errStalled ends a transfer that stands still.
var errStalled = errors.New("the transfer stands still")

// stall ends a context when nothing was read for a while. A file may take long;
// it may not stand still.
type stall struct {
	timer  *time.Timer
	after  time.Duration
	cancel context.CancelCauseFunc
}

func watchStall(ctx context.Context, after time.Duration) (context.Context, *stall) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &stall{after: after, cancel: cancel}
	s.timer = time.AfterFunc(after, func() { cancel(errStalled) })
	return ctx, s
}

func (s *stall) stop() {
	s.timer.Stop()
	s.cancel(nil)
}

// reader counts each read as a sign of life.
func (s *stall) reader(r io.Reader) io.Reader { return &livingReader{r, s} }

type livingReader struct {
	r io.Reader
	s *stall
}

func (l *livingReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if n > 0 {
		l.s.timer.Reset(l.s.after)
	}
	return n, err
}
