package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"supportbot/functions/local/chaos/process"
	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	"supportbot/shared/queue"
	"supportbot/shared/queue/memqueue"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
)

// everybody sends one broadcast and waits until it has ended.
func everybody(ctx context.Context, w *world) error {
	more := map[string]any{}
	if w.Messenger == messenger.VK { // a call is for 25 people: else all would be under way at once
		more["rate"] = 500
	}
	id, err := w.send(ctx, "news", more)
	if err != nil {
		return err
	}
	return w.became(ctx, id, broadcast.Finished)
}

// during makes things happen at so many moments, the same way through the broadcast.
func during(things ...func(by *process.Process)) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		for _, do := range things {
			w.gate.then(event{after: w.Recipients / (len(things) + 1), before: func(by *process.Process) bool { do(by); return false }})
		}
		return everybody(ctx, w)
	}
}

// paused: nothing goes out while it is paused, and then it goes on at another rate.
func paused(ctx context.Context, w *world) error {
	id, err := w.send(ctx, "news", map[string]any{"rate": 100})
	if err != nil {
		return err
	}
	for range 2 {
		if err := w.reached(ctx, int(w.gate.seen.Load())+w.Recipients/10); err != nil {
			return err
		}
		if err := w.steer(ctx, id, "pause"); err != nil {
			return err
		}
		if err := w.became(ctx, id, broadcast.Paused); err != nil {
			return err
		}
		before := w.gate.seen.Load()
		if err := w.call(ctx, "PATCH", fmt.Sprintf("/v1/broadcasts/%d", id), "", map[string]int{"rate": 0}, nil); err != nil {
			return err
		}
		if n := w.gate.seen.Load() - before; n > 0 {
			return fmt.Errorf("%d calls while it was paused", n)
		}
		if err := w.steer(ctx, id, "resume"); err != nil {
			return err
		}
	}
	return w.became(ctx, id, broadcast.Finished)
}

// blocked: everybody has blocked the bot, and nobody has told us.
func blocked(ctx context.Context, w *world) error {
	for i := range w.Recipients {
		w.telegram.Customer(telegram.User{ID: w.chat(i)}).Block()
	}
	if err := everybody(ctx, w); err != nil {
		return err
	}
	return w.until(ctx, "everybody is known to have blocked the bot", `SELECT count(*) = 0 FROM identities WHERE reachable`)
}

// empty is a broadcast to nobody.
func empty(ctx context.Context, w *world) error {
	id, err := w.send(ctx, "news", map[string]any{"audience": map[string]any{"tags": []string{"nobody"}}})
	if err != nil {
		return err
	}
	return w.became(ctx, id, broadcast.Finished)
}

// longest is how long Telegram asks to wait.
const longest = 3 * time.Hour

// oneWaits: Telegram wants one chat to be left alone. All others get this broadcast and
// the next one; both are done when the one has had its time, and its message.
func oneWaits(ctx context.Context, w *world) error {
	w.telegram.Limit(w.chat(w.Recipients/2), longest)
	var ids []int64
	for _, text := range []string{"news", "more news"} {
		id, err := w.send(ctx, text, nil)
		if err != nil {
			return err
		}
		if err := w.until(ctx, "all others have it, and its batch waits", `
			SELECT state = 'running' AND (SELECT count(*) = $2 FROM recipients r JOIN batches b ON b.id = r.batch WHERE b.broadcast = $1 AND outcome = 'sent')
				AND EXISTS (SELECT FROM jobs j JOIN batches b ON b.job = j.id WHERE b.broadcast = $1
					AND j.state = 'queued' AND j.attempts = 0 AND j.run_at > clock_timestamp() + interval '2 hours')
			FROM broadcasts WHERE id = $1`, id, w.Recipients-1); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := w.pass(longest); err != nil {
		return err
	}
	return errors.Join(w.became(ctx, ids[0], broadcast.Finished), w.became(ctx, ids[1], broadcast.Finished))
}

// allWait: Telegram refuses everybody. That is no failure; one call now and then asks
// whether it is over.
func allWait(ctx context.Context, w *world) error {
	w.gate.then(event{after: w.Recipients / 2, before: func(*process.Process) bool {
		w.faults.Clear()
		w.faults.Add(fault.Fault{Method: "sendMessage", Kind: fault.Status, Status: 429, RetryAfter: int(longest.Seconds())})
		return false
	}})
	id, err := w.send(ctx, "news", nil)
	if err != nil {
		return err
	}
	if err := w.until(ctx, "the batch waits", `SELECT EXISTS (SELECT FROM jobs WHERE kind = $1 AND state = 'queued'
		AND attempts = 0 AND run_at > clock_timestamp() + interval '5 seconds')`, broadcast.KindBatch); err != nil {
		return err
	}
	w.slowly()
	if err := w.pass(longest); err != nil {
		return err
	}
	return w.became(ctx, id, broadcast.Finished)
}

// overtaken: a notice overtakes the news, while every hint comes to everybody.
func overtaken(ctx context.Context, w *world) error {
	w.queue.SetFaults(memqueue.Faults{Fate: func(string, queue.Hint) memqueue.Fate { return memqueue.Fate{Copies: w.Workers} }})
	first, err := w.send(ctx, "news", nil)
	if err != nil {
		return err
	}
	if err := w.reached(ctx, w.Recipients/3); err != nil {
		return err
	}
	second, err := w.send(ctx, "notice", map[string]any{"kind": broadcast.Maintenance})
	if err != nil {
		return err
	}
	return errors.Join(w.became(ctx, first, broadcast.Finished), w.became(ctx, second, broadcast.Finished))
}

// misled: hints come twice, late or never, and in any order.
func misled(ctx context.Context, w *world) error {
	fates := []memqueue.Fate{{Copies: 2}, {}, {Copies: 3, Delay: time.Second}, {Copies: 1, Delay: 3 * time.Second}}
	sent := 0
	w.queue.SetFaults(memqueue.Faults{
		Fate: func(string, queue.Hint) memqueue.Fate { sent++; return fates[sent%len(fates)] },
		Pick: func(n int) int { return n - 1 },
	})
	var ids []int64
	for _, text := range []string{"news", "more news"} {
		id, err := w.send(ctx, text, nil)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	return errors.Join(w.became(ctx, ids[0], broadcast.Finished), w.became(ctx, ids[1], broadcast.Finished))
}
