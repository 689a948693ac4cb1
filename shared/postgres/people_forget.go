package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// ErrBusy means that a job of a customer's runs at this moment.
var ErrBusy = errors.New("a job of theirs is running, try again in a minute")

// Forget erases a customer: who they are, where they write from, all jobs with what
// they wrote and were sent, and the texts of messages to them alone. What stays are
// bare numbers that lead to nobody any more (in counts of broadcasts, in who created
// one). It gives the addresses that were erased, for the caller to drop what is kept
// of their conversations; those of somebody unknown are none. Who writes again is a
// new person.
func (db *DB) Forget(ctx context.Context, id int64) (gone []messenger.Address, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		gone = nil
		id, _, err := lockPeople(ctx, tx, id, id)
		if err != nil {
			return err
		}
		gone, err = addresses(ctx, tx, `DELETE FROM identities WHERE person_id = $1 RETURNING messenger, bot, chat`, id)
		if err != nil {
			return fmt.Errorf("erase identities: %w", err)
		}
		b := &pgx.Batch{}
		b.Queue(`UPDATE api_keys SET person_id = NULL WHERE person_id = $1`, id)
		b.Queue(`
			UPDATE broadcasts SET title = '', content = '{"texts": {"ru": ""}}'
			WHERE kind = 'message' AND (audience->'customers'->>0)::bigint IN (SELECT id FROM people WHERE id = $1 OR merged_into = $1)`, id)
		b.Queue(`DELETE FROM people WHERE merged_into = $1`, id)
		b.Queue(`DELETE FROM people WHERE id = $1`, id)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("erase person: %w", err)
		}
		return eraseJobs(ctx, tx, gone)
	})
	if err != nil {
		return nil, fmt.Errorf("forget customer: %w", err)
	}
	return gone, nil
}

// eraseJobs deletes the jobs of conversations, whose lanes it locks.
func eraseJobs(ctx context.Context, tx pgx.Tx, chats []messenger.Address) error {
	var lanes []string
	for _, a := range chats {
		lanes = append(lanes, ticket.InboundLane(a), ticket.OutboundLane(a))
	}
	var running bool
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO lanes (name) SELECT name FROM unnest($1::text[]) name ORDER BY name
		ON CONFLICT (name) DO UPDATE SET used_at = clock_timestamp()`, lanes)
	b.Queue(`DELETE FROM jobs WHERE lane = ANY($1) AND state <> 'running'`, lanes)
	b.Queue(`SELECT EXISTS (SELECT FROM jobs WHERE lane = ANY($1) AND open AND held_at IS NULL)`, lanes).
		QueryRow(func(row pgx.Row) error { return row.Scan(&running) })
	b.Queue(`DELETE FROM lanes WHERE name = ANY($1)`, lanes)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("erase jobs: %w", err)
	}
	if running {
		return ErrBusy
	}
	return nil
}
