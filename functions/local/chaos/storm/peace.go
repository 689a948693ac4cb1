package storm

import (
	"context"
	"fmt"
	"time"

	"supportbot/functions/local/chaos/elapse"
)

const (
	restWait = 8 * time.Minute // for everything to come to rest
	// after it came to rest: calls of triggers that were lost are made good by the poll.
	oddWait  = 3 * time.Minute
	round    = 5 * time.Second // of a hurry
	passed   = 2 * time.Minute // in each: any lease and any claim is over then
	settling = 500 * time.Millisecond
)

// settle waits until everything has come to rest and the books balance, or will not.
func (s *sheet) settle(ctx context.Context, w *world) error {
	peace := time.Now()
	quiet := time.Time{}
	for n := 0; ; n++ {
		held, err := w.still(ctx)
		if err != nil {
			return err
		}
		still := held == ""
		if !still {
			quiet, s.held = time.Time{}, held
		} else if quiet.IsZero() {
			quiet = time.Now()
		}
		late := time.Since(peace) > restWait
		if still || late {
			b, err := w.books(ctx)
			if err != nil {
				return err
			}
			s.balance, s.converged = b.Balance(), time.Since(peace)
			if s.balance.Late > 0 {
				s.held = s.balance.Wrong[0]
			}
			if s.balance.Late == 0 || late || time.Since(quiet) > oddWait {
				if late && !still {
					s.balance.wrong("work is left: %s", w.left(ctx))
				}
				return s.count(ctx, w)
			}
		}
		if err := sleep(ctx, settling); err != nil {
			return err
		}
		if w.Hurry && n%int(round/settling) == 0 {
			if err := w.elapse(ctx); err != nil {
				return err
			}
		}
	}
}

// still says what is left to be done: updates to deliver, replies to send, jobs,
// broadcasts; "" if nothing is. What waits for a person is no work of the platform's.
func (w *world) still(ctx context.Context) (held string, err error) {
	for _, p := range w.places {
		select {
		case <-p.Over():
			return "", p.Err()
		default:
		}
	}
	if n, m := w.telegram.Undelivered(), w.vk.Undelivered(); n+m > 0 {
		return fmt.Sprintf("updates: %d of Telegram's, %d of VK's", n, m), nil
	}
	owed, err := w.redis.ZCard(ctx, "conversations:pending").Result()
	if err != nil {
		return "", fmt.Errorf("look for replies: %w", err)
	}
	if owed > 0 {
		return "replies to customers", nil
	}
	err = w.db.QueryRow(ctx, `SELECT concat_ws(', ', (SELECT string_agg(DISTINCT kind, ', ') FROM jobs WHERE open AND held_at IS NULL),
		(SELECT string_agg('broadcast ' || state, ', ') FROM broadcasts WHERE state NOT IN ('finished', 'cancelled')))`).Scan(&held)
	if err != nil {
		return "", fmt.Errorf("look for jobs: %w", err)
	}
	return held, nil
}

// left shows what is left to be done.
func (w *world) left(ctx context.Context) (text string) {
	err := w.db.QueryRow(ctx, `SELECT coalesce(string_agg(concat_ws(' ', id, kind, state, stage, attempts, losses, run_at - clock_timestamp(), last_error), '; '), 'no job')
		FROM (SELECT * FROM jobs WHERE open AND held_at IS NULL ORDER BY id LIMIT 10) some`).Scan(&text)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d updates of Telegram's, %d of VK's, %s", w.telegram.Undelivered(), w.vk.Undelivered(), text)
}

// elapse lets two minutes pass while nobody works.
func (w *world) elapse(ctx context.Context) error {
	w.rest.Lock()
	defer w.rest.Unlock()
	for _, p := range w.places {
		p.Present().Stop()
	}
	for _, p := range w.places {
		<-p.Present().Ended()
	}
	w.telegram.Retry()
	w.vk.Kick()
	return elapse.Pass(ctx, w.db, w.redis, passed)
}
