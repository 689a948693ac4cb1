package pace

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"supportbot/shared/obs"
)

// retryEvery is how often one call tries a Redis that did not answer; the others
// do not spend their patience on it.
const retryEvery = time.Second

// health is whether Redis answers.
type health struct {
	log *slog.Logger

	mu   sync.Mutex
	away bool
	next time.Time // of the next try
}

// asks says whether this call is to ask Redis.
func (h *health) asks(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.away && now.Before(h.next) {
		return false
	}
	h.next = now.Add(retryEvery)
	return true
}

// saw notes how a call to Redis ended. Only a change is logged.
func (h *health) saw(ctx context.Context, now time.Time, err error) {
	h.mu.Lock()
	changed := h.away != (err != nil)
	h.away = err != nil
	if h.away {
		h.next = now.Add(retryEvery)
	}
	h.mu.Unlock()
	switch {
	case changed && err != nil:
		h.log.WarnContext(ctx, "the shared pace is away, this process keeps to its share", obs.Error, err.Error())
	case changed:
		h.log.InfoContext(ctx, "the shared pace is back")
	}
}
