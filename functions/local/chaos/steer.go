package chaos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

const (
	apiKey = "key"
	// patience is how long anything is waited for: it ends only what hangs.
	patience = 10 * time.Minute
	look     = 25 * time.Millisecond
)

// key makes the API key of the play.
func (w *world) key(ctx context.Context) error {
	hash := sha256.Sum256([]byte(apiKey))
	if _, err := w.db.Exec(ctx, `INSERT INTO api_keys (name, role, hash) VALUES ('chaos', 'admin', $1)`, hash[:]); err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	return nil
}

// call calls the notification API and decodes what it answers into out, if that is
// not nil.
func (w *world) call(ctx context.Context, method, path, key string, body, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	r := httptest.NewRequestWithContext(ctx, method, path, bytes.NewReader(raw))
	r.Header.Set("X-API-Key", apiKey)
	r.Header.Set("Idempotency-Key", key)
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	w.api.ServeHTTP(answer, r)
	if answer.Code >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Body.Bytes(), out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// steer asks for something of a broadcast: pause, resume.
func (w *world) steer(ctx context.Context, id int64, what string) error {
	return w.call(ctx, http.MethodPost, fmt.Sprintf("/v1/broadcasts/%d/%s", id, what), what, nil, nil)
}

// send creates a broadcast of news to everybody, changed by what more says.
func (w *world) send(ctx context.Context, text string, more map[string]any) (int64, error) {
	body := map[string]any{"kind": broadcast.News, "texts": map[string]string{"ru": text}, "audience": map[string]any{}}
	for name, value := range more {
		body[name] = value
	}
	var b broadcast.Broadcast
	err := w.call(ctx, http.MethodPost, "/v1/broadcasts", text, body, &b)
	return b.ID, err
}

// Chats of the recipients count from here.
const (
	firstTelegram = 3_300_000_000_000
	firstVK       = 4_400_000
)

func (w *world) chat(i int) int64 {
	if w.Messenger == messenger.VK {
		return firstVK + int64(i)
	}
	return firstTelegram + int64(i)
}

// people lets so many people have written to the bot.
func (w *world) people(ctx context.Context) error {
	bot := telegramBot
	if w.Messenger == messenger.VK {
		bot = fmt.Sprint(vkGroup)
	}
	for i := range w.Recipients {
		if w.vk != nil {
			w.vk.Customer(vk.User{ID: w.chat(i), Allowed: true})
		} else {
			w.telegram.Customer(telegram.User{ID: w.chat(i), Started: true})
		}
	}
	_, err := w.db.Exec(ctx, `
		WITH made AS (INSERT INTO people (locale) SELECT 'ru' FROM generate_series(1, $4::int) RETURNING id)
		INSERT INTO identities (messenger, bot, chat, user_id, person_id, seen_at)
		SELECT $1, $2, chat, chat, id, now() FROM (SELECT id, ($3::bigint - 1 + row_number() OVER ())::text AS chat FROM made) one`,
		string(w.Messenger), bot, w.chat(0), w.Recipients)
	if err != nil {
		return fmt.Errorf("make people: %w", err)
	}
	return nil
}

// until waits until the database says so; it may be away meanwhile.
func (w *world) until(ctx context.Context, what, sql string, args ...any) error {
	return w.wait(ctx, what, func() bool {
		var is bool
		return w.db.QueryRow(ctx, sql, args...).Scan(&is) == nil && is
	})
}

// became waits for a state of a broadcast.
func (w *world) became(ctx context.Context, id int64, s broadcast.State) error {
	return w.until(ctx, "a broadcast is "+string(s), `SELECT state = $2 FROM broadcasts WHERE id = $1`, id, string(s))
}

// reached waits until so many calls that send were made.
func (w *world) reached(ctx context.Context, calls int) error {
	return w.wait(ctx, fmt.Sprintf("%d calls", calls), func() bool { return w.gate.seen.Load() >= int64(calls) })
}

// wait waits for what nobody gives a signal of, as long as it can still come.
func (w *world) wait(ctx context.Context, what string, is func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for n := 1; !is(); n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w; %s", what, ctx.Err(), w.jobs())
		}
		for _, k := range w.workers {
			select {
			case <-k.Over():
				return fmt.Errorf("wait until %s: %w", what, k.Err())
			default:
			}
		}
		if n%80 == 0 {
			if err := w.tend(ctx); err != nil {
				return fmt.Errorf("wait until %s: %w", what, err)
			}
		}
	}
	return nil
}

// tend looks whether a job waits for a person: nothing would ever come then. In a hurry
// it lets hints grow old, which does no harm: the reconciler sends them again.
func (w *world) tend(ctx context.Context) error {
	var review bool
	err := w.db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM jobs WHERE state = 'needs_review')`).Scan(&review)
	if err == nil && review {
		return errors.New("a job waits for a person: " + w.jobs())
	}
	if err == nil && w.hurry {
		_, err = w.db.Exec(ctx, `UPDATE jobs SET published_at = published_at - interval '2 minutes' WHERE open`)
	}
	if err != nil && w.server == nil { // else it may be away
		return fmt.Errorf("look for jobs: %w", err)
	}
	return nil
}

// jobs shows the open jobs, for who looks why nothing goes on.
func (w *world) jobs() (text string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := w.db.QueryRow(ctx, `SELECT coalesce(string_agg(concat_ws(' ', id, kind, state, stage, attempts, losses, run_at - clock_timestamp(), last_error), '; '), 'no open job')
		FROM jobs WHERE state NOT IN ('completed', 'cancelled')`).Scan(&text)
	if err != nil {
		return err.Error()
	}
	return text
}
