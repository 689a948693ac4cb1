package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

// Forget erases a customer: who they are, where they write from, all jobs with what
// they wrote and were sent, and the texts of messages to them alone. What stays are
// bare numbers that lead to nobody any more (in counts of broadcasts, in who created
// one). Of their tickets, which are given by immutable ids, nobody looks for news any
// more. It gives the addresses that were erased, for the caller to drop what is kept
// of their conversations; job.ErrNotFound: nobody has the id. person.ErrBusy: a job of
// theirs, or a look at one of the tickets, runs at this moment, or their steps are others
// by now: what was done for them meanwhile may have made a ticket that is not among the
// issues. Who writes again is a new person.
func (db *DB) Forget(ctx context.Context, id int64, steps string, issues ...string) (gone []messenger.Address, err error) {
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
		for _, toOne := range []string{`kind = 'message'`, `kind <> 'message' AND jsonb_array_length(audience->'customers') = 1`} { // each has its index
			b.Queue(`
				UPDATE broadcasts SET title = '', content = '{"texts": {"ru": ""}}'
				WHERE `+toOne+` AND (audience->'customers'->>0)::bigint IN (SELECT id FROM people WHERE id = $1 OR merged_into = $1)`, id)
		}
		b.Queue(`DELETE FROM people WHERE merged_into = $1`, id)
		b.Queue(`DELETE FROM people WHERE id = $1`, id)
		b.Queue(`DELETE FROM ticket_cursors WHERE issue = ANY($1)`, issues)
		b.Queue(`DELETE FROM answers WHERE issue = ANY($1)`, issues)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("erase person: %w", err)
		}
		return eraseJobs(ctx, tx, gone, steps, append(lanesOf(gone), lookLanes(issues)...))
	})
	if err != nil {
		return nil, fmt.Errorf("forget customer: %w", err)
	}
	return gone, nil
}

// lanesOf are the lanes that name chats.
func lanesOf(chats []messenger.Address) (lanes []string) {
	for _, a := range chats {
		lanes = append(lanes, ticket.InboundLane(a), ticket.OutboundLane(a), person.ExportLane(a))
	}
	return lanes
}

// named is what the names of events begin with that name their chat.
func named(chats []messenger.Address) (names []string) {
	for _, a := range chats {
		names = append(names, a.String()+":")
	}
	return names
}

// lookLanes are the lanes in which somebody looks at issues.
func lookLanes(issues []string) (lanes []string) {
	for _, i := range issues {
		lanes = append(lanes, ticket.IssueLane(i))
	}
	return lanes
}

// eraseJobs deletes the jobs of lanes, which it locks, if what was done for the chats is
// still what it was. Then it deletes the letters that hint at them, or name the chats: who
// keeps one meanwhile has locked its job before, or finds it gone.
func eraseJobs(ctx context.Context, tx pgx.Tx, chats []messenger.Address, steps string, lanes []string) error {
	_, err := tx.Exec(ctx, `INSERT INTO lanes (name) SELECT name FROM unnest($1::text[]) name ORDER BY name
		ON CONFLICT (name) DO UPDATE SET used_at = clock_timestamp()`, lanes)
	if err != nil {
		return fmt.Errorf("lock lanes: %w", err)
	}
	now, err := stepsOf(ctx, tx, chats)
	if err == nil && now != steps {
		err = person.ErrBusy
	}
	if err != nil {
		return err
	}
	erased, err := ids(ctx, tx, `DELETE FROM jobs WHERE lane = ANY($1) AND state <> 'running' RETURNING id`, lanes)
	if err != nil {
		return fmt.Errorf("erase jobs: %w", err)
	}
	var running bool
	b := &pgx.Batch{}
	b.Queue(`DELETE FROM dead_letters WHERE job = ANY($1)
		OR EXISTS (SELECT FROM unnest($2::text[]) named WHERE starts_with(correlation_id, named))`, erased, named(chats))
	b.Queue(`SELECT EXISTS (SELECT FROM jobs WHERE lane = ANY($1) AND open AND held_at IS NULL)`, lanes).
		QueryRow(func(row pgx.Row) error { return row.Scan(&running) })
	b.Queue(`DELETE FROM lanes WHERE name = ANY($1)`, lanes)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("erase letters and lanes: %w", err)
	}
	if running {
		return person.ErrBusy
	}
	return nil
}

// Steps names how far a person's chats and requests have come: it is another name when
// anything was begun for them in between, or a chat came or went. person.ErrBusy:
// something has begun outside whose end is not written down yet. What is in review does
// not count as that: it waits for somebody.
func (db *DB) Steps(ctx context.Context, id int64) (string, error) {
	chats, err := db.Addresses(ctx, id)
	if err != nil {
		return "", err
	}
	return stepsOf(ctx, db.pool, chats)
}

// stepsOf needs no clock: that of another server, which takes over, may be behind.
func stepsOf(ctx context.Context, q session, chats []messenger.Address) (string, error) {
	var names, inbound []string
	for _, a := range chats {
		names, inbound = append(names, a.String()), append(inbound, ticket.InboundLane(a))
	}
	slices.Sort(names)
	var at *string
	err := q.QueryRow(ctx, readSteps, lanesOf(chats), inbound, strings.Join(names, " ")).Scan(&at)
	if err == nil && at == nil {
		err = person.ErrBusy
	}
	if err != nil {
		return "", fmt.Errorf("look at what is under way: %w", err)
	}
	return *at, nil
}

// readSteps gives nothing while something in the lanes $1 is under way, which the index of
// heads tells: whoever waits asks every few seconds, be it for a day. All jobs that are
// kept are read for the steps of those in the lanes $2, so only when nothing is.
const readSteps = `
SELECT CASE WHEN NOT EXISTS (SELECT FROM jobs WHERE lane = ANY($1) AND open AND held_at IS NULL AND (state = 'running' OR stage LIKE 'begin %')) THEN (
	SELECT md5($3 || coalesce(string_agg(concat_ws(' ', id, stage, extract(epoch FROM stage_at)), ',' ORDER BY id), ''))
	FROM jobs WHERE lane = ANY($2) AND stage_at IS NOT NULL) END`

// Drafts gives the tickets that a person asked for in the last 30 days and that may be
// in Tracker.
func (db *DB) Drafts(ctx context.Context, id int64) ([]person.Draft, error) {
	chats, err := db.Addresses(ctx, id)
	if err != nil {
		return nil, err
	}
	return collect(ctx, db.pool, "find drafts", func(row pgx.CollectableRow) (d person.Draft, err error) {
		err = row.Scan(&d.Address.Messenger, &d.Address.Bot, &d.Address.Chat, &d.ID, &d.Issue, &d.Job, &d.Asked)
		return d, err
	}, `
		SELECT payload #>> '{customer,address,messenger}', payload #>> '{customer,address,bot}', payload #>> '{customer,address,chat}',
			payload ->> 'draft', coalesce(result ->> 'issue', stage_data #>> '{issue,issue}', ''), id, created_at
		FROM jobs WHERE lane = ANY($1) AND kind = $2 AND (stage <> '' OR state = 'completed') ORDER BY id`, lanesOf(chats), ticket.KindCreate)
}
