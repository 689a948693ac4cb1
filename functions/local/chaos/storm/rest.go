package storm

import (
	"context"
	"fmt"
	"time"

	"supportbot/functions/local/chaos/elapse"
	"supportbot/functions/local/chaos/process"
)

const (
	passed   = 2 * time.Minute  // in a round: any lease and any claim is over then
	lookTime = 10 * time.Second // to look at what is left
	wakeTime = time.Minute      // for processes to begin
)

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
	owed, err := w.redis.ZCard(ctx, pendingKey).Result()
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

// pendingKey is the index of conversations with replies that are owed.
const pendingKey = "conversations:pending"

// left shows what is left to be done, also when ctx is over.
func (w *world) left(ctx context.Context) (text string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	err := w.db.QueryRow(ctx, `SELECT coalesce(string_agg(concat_ws(' ', id, kind, state, stage, attempts, losses, run_at - clock_timestamp(), last_error), '; '), 'no job')
		FROM (SELECT * FROM jobs WHERE open AND held_at IS NULL ORDER BY id LIMIT 10) chosen`).Scan(&text)
	if err != nil {
		text = "jobs: " + err.Error()
	}
	owed, err := w.redis.ZRangeWithScores(ctx, pendingKey, 0, 9).Result()
	if err != nil {
		text += "; replies: " + err.Error()
	}
	for _, one := range owed {
		text += fmt.Sprintf("; replies in %v since %.0f", one.Member, one.Score)
	}
	return fmt.Sprintf("%d updates of Telegram's, %d of VK's; %s", w.telegram.Undelivered(), w.vk.Undelivered(), text)
}

// elapse lets two minutes pass while nobody works, and then has the messengers bring
// what waits for its time: not before somebody works again, or each failure would make
// them wait longer.
func (w *world) elapse(ctx context.Context) error {
	if err := w.awake(ctx); err != nil { // else who is about to begin would work meanwhile
		return err
	}
	if err := w.asleep(ctx); err != nil {
		return err
	}
	if err := w.awake(ctx); err != nil {
		return err
	}
	w.telegram.Retry()
	w.vk.Retry()
	return nil
}

// asleep lets the time pass: in the databases, and for the processes to come.
func (w *world) asleep(ctx context.Context) error {
	w.rest.Lock()
	defer w.rest.Unlock()
	for _, p := range w.places {
		p.Present().Stop()
	}
	for _, p := range w.places {
		<-p.Present().Ended()
	}
	w.ahead += passed
	for _, vars := range w.vars {
		vars[process.AheadVariable] = w.ahead.String()
	}
	return elapse.Pass(ctx, w.db, w.redis, passed)
}

// awake waits until a process works in every place.
func (w *world) awake(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, wakeTime)
	defer cancel()
	for _, p := range w.places {
		for !works(p.Present()) {
			select {
			case <-p.Over():
				return p.Err()
			default:
			}
			if err := sleep(ctx, look/4); err != nil {
				return fmt.Errorf("wait for a process: %w", err)
			}
		}
	}
	return nil
}

func works(p *process.Process) bool {
	select {
	case <-p.Ended():
		return false
	default:
		return true
	}
}
