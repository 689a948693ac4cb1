package storm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

// books opens the books as they are now.
func (w *world) books(ctx context.Context) (*Books, error) {
	b := &Books{Chats: map[string][]Got{}, Spilled: w.log.spilled()}
	b.Wipes, b.Thaws = w.adversary.moments()
	for _, c := range w.customers {
		b.Chats[c.phone.address()] = c.phone.got()
		for _, f := range c.forms {
			b.Forms = append(b.Forms, *f)
		}
		for _, d := range c.written {
			b.Written = append(b.Written, *d)
		}
	}
	for _, t := range w.tracker.Tickets() {
		k := Ticket{Key: t.Key, Chat: t.Fields["supportMessenger"] + ":" + t.Fields["supportChat"], Summary: t.Summary}
		k.Entries = append(k.Entries, Entry{t.Description, t.CreatedAt})
		for _, m := range t.Comments {
			if m.Robot {
				k.Entries = append(k.Entries, Entry{m.Text, m.CreatedAt})
			}
		}
		b.Tickets = append(b.Tickets, k)
	}
	b.vk(w.calls.vk.Since(0))
	if err := b.telegram(w.calls.telegram.Since(0)); err != nil {
		return nil, fmt.Errorf("read Telegram's log: %w", err)
	}
	if err := b.admitted(ctx, w); err != nil {
		return nil, fmt.Errorf("read what is admitted: %w", err)
	}
	return b, nil
}

// take notes a message that was taken, at its first time.
func (b *Books) take(known map[string]bool, chat string, number int64, text string, at time.Time) {
	for _, t := range tokens(text) {
		if !known[t] {
			known[t] = true
			b.Said = append(b.Said, Said{t, chat, number, at})
		}
	}
}

// telegram reads Telegram's log: what its webhook calls brought, and what it was asked
// to write.
func (b *Books) telegram(calls []fault.Call) error {
	known := map[string]bool{}
	for _, c := range calls {
		if !c.Effect {
			continue
		}
		switch {
		case c.Method == telegram.WebhookMethod:
			var u struct {
				Message struct {
					ID   int64 `json:"message_id"`
					Chat struct {
						ID int64 `json:"id"`
					} `json:"chat"`
					Text    string `json:"text"`
					Caption string `json:"caption"`
				} `json:"message"`
			}
			if err := json.Unmarshal(c.Params, &u); err != nil {
				return fmt.Errorf("call %d: %w", c.N, err)
			}
			b.take(known, fmt.Sprint(messenger.Telegram, ":", u.Message.Chat.ID), u.Message.ID, u.Message.Text+u.Message.Caption, c.At)
		case strings.HasPrefix(c.Method, "send"):
			var asked struct {
				Chat string `json:"chat_id"`
			}
			if err := json.Unmarshal(c.Params, &asked); err != nil {
				return fmt.Errorf("call %d: %w", c.N, err)
			}
			b.Sends = append(b.Sends, Send{"telegram:" + asked.Chat, c.At})
		}
	}
	return nil
}

// vk reads VK's. Every call of its API counts, refused or not, but those that it refused
// for being too many.
func (b *Books) vk(calls []fault.Call) {
	known := map[string]bool{}
	for _, c := range calls {
		if c.Method != vk.CallbackMethod {
			if c.Status == http.StatusOK && c.Method != "upload" && !strings.Contains(string(c.Result), `"error_code":6,`) {
				b.Sends = append(b.Sends, Send{"vk:", c.At})
			}
			continue
		}
		var e struct {
			Type   string `json:"type"`
			Object struct {
				Message struct {
					Number int64  `json:"conversation_message_id"`
					Peer   int64  `json:"peer_id"`
					Text   string `json:"text"`
				} `json:"message"`
			} `json:"object"`
		}
		if !c.Effect || json.Unmarshal(c.Params, &e) != nil || e.Type != "message_new" {
			continue
		}
		m := e.Object.Message
		b.take(known, "vk:"+strconv.FormatInt(m.Peer, 10), m.Number, m.Text, c.At)
	}
}

// admitted reads what our own tables say of differences.
func (b *Books) admitted(ctx context.Context, w *world) (err error) {
	b.Jobs, err = rows[Listed](ctx, w, `
		SELECT key, state = 'needs_review' AS review, coalesce((result ->> 'resent')::int, 0) > 0 AS resent
		FROM jobs WHERE kind LIKE 'deliver.%' AND (state = 'needs_review' OR (result ->> 'resent')::int > 0)`)
	if err != nil {
		return err
	}
	type text struct{ Text string }
	held, err := rows[text](ctx, w, `SELECT payload::text AS text FROM jobs WHERE state = 'needs_review' OR held_at IS NOT NULL`)
	if err != nil {
		return err
	}
	for _, one := range held {
		b.Held = append(b.Held, one.Text)
	}
	spilled, err := rows[text](ctx, w, `SELECT concat_ws(' ', 'the error of job', id, kind, last_error) AS text FROM jobs WHERE last_error ~ $1`, spill.String())
	if err != nil {
		return err
	}
	for _, one := range spilled {
		b.Spilled = append(b.Spilled, one.Text)
	}
	b.Copies, err = rows[Copy](ctx, w, `
		SELECT split_part(s.content -> 'texts' ->> 'ru', ' ', 1) AS token, i.messenger || ':' || i.chat AS chat, coalesce(r.outcome, '') AS outcome
		FROM recipients r JOIN batches b ON b.id = r.batch JOIN broadcasts s ON s.id = b.broadcast JOIN identities i ON i.id = r.identity`)
	return err
}

func rows[T any](ctx context.Context, w *world, sql string, args ...any) ([]T, error) {
	found, err := w.db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByName[T])
}
