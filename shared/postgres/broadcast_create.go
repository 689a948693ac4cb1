package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/obs"
)

// CreateBroadcast inserts a broadcast and, unless it is a draft, the job that plans
// it, due at its time. Repeated with the same key and fingerprint it gives the same
// broadcast, as it is now; with another fingerprint job.ErrMismatch. job.ErrNotFound:
// the parent is unknown, or is one that cannot be corrected (yet, or any more). The
// jobs are to be published.
func (db *DB) CreateBroadcast(ctx context.Context, n broadcast.New) (b broadcast.Broadcast, created bool, jobs []job.Inserted, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		var id int64
		if id, created, err = insertBroadcast(ctx, tx, n); err != nil {
			return err
		}
		if b, err = scanBroadcast(tx.QueryRow(ctx, readBroadcast+`WHERE s.id = $1`, id)); err != nil {
			return err
		}
		if created && b.Parent != 0 {
			if err := checkParent(ctx, tx, b); err != nil {
				return err
			}
		}
		jobs, err = insertPlan(ctx, tx, b)
		return err
	})
	if err != nil {
		return broadcast.Broadcast{}, false, nil, fmt.Errorf("create broadcast: %w", err)
	}
	return b, created, jobs, nil
}

// insertBroadcast inserts the row, or finds the one with the same key.
func insertBroadcast(ctx context.Context, tx pgx.Tx, n broadcast.New) (id int64, created bool, err error) {
	key := ""
	if n.Key != "" {
		key = callersKey(n.By, n.Key)
	}
	content, audience, hours, err := encodeSpec(n.Spec)
	if err != nil {
		return 0, false, err
	}
	err = tx.QueryRow(ctx, `
		INSERT INTO broadcasts (key, fingerprint, kind, state, title, content, audience, urgency, rate, hours, start_at, parent, relation, created_by)
		VALUES (nullif($1, ''), nullif($2, ''), $3, `+firstState+`, $4, $5, $6, $7, nullif($8::float8, 0), $9, $10, nullif($11::bigint, 0), nullif($12, ''), $13)
		ON CONFLICT (key) DO NOTHING RETURNING id`,
		key, n.Fingerprint, string(n.Kind), clean(n.Title), content, audience, n.Urgency, n.Rate, hours, n.StartAt,
		n.Parent, string(n.Relation), clean(n.By), n.Draft).Scan(&id)
	switch {
	case err == nil:
		return id, true, nil
	case code(err) == foreignKeyViolation:
		return 0, false, job.ErrNotFound
	case !errors.Is(err, pgx.ErrNoRows):
		return 0, false, fmt.Errorf("insert broadcast: %w", err)
	}
	id, err = broadcastByKey(ctx, tx, key, n.Fingerprint)
	return id, false, err
}

// callersKey is what a caller's key is kept as: it is the caller's own.
func callersKey(by, key string) string { return clean(by + " " + key) }

// broadcastByKey finds a broadcast; job.ErrNotFound when there is none,
// job.ErrMismatch when it was asked for by another request.
func broadcastByKey(ctx context.Context, q session, key, fingerprint string) (id int64, err error) {
	var of string
	err = q.QueryRow(ctx, `SELECT id, coalesce(fingerprint, '') FROM broadcasts WHERE key = $1`, key).Scan(&id, &of)
	switch {
	case err != nil:
		return 0, fmt.Errorf("find broadcast by key: %w", notFound(err))
	case of != fingerprint:
		return 0, job.ErrMismatch
	}
	return id, nil
}

// BroadcastByKey gives the broadcast that a caller's key has made, as it is now; ok is
// false when it made none. job.ErrMismatch: it made one for another fingerprint.
func (db *DB) BroadcastByKey(ctx context.Context, by, key, fingerprint string) (b broadcast.Broadcast, ok bool, err error) {
	id, err := broadcastByKey(ctx, db.pool, callersKey(by, key), fingerprint)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return broadcast.Broadcast{}, false, nil
	case err != nil:
		return broadcast.Broadcast{}, false, err
	}
	b, err = db.Broadcast(ctx, id)
	return b, err == nil, err
}

// firstState is the state in which a broadcast begins that starts at $10; $14: it is
// a draft.
const firstState = `CASE WHEN $14 THEN 'draft' WHEN $10::timestamptz > clock_timestamp() THEN 'scheduled' ELSE 'planning' END`

func encodeSpec(s broadcast.Spec) (content, audience string, hours any, err error) {
	c, err := json.Marshal(s.Content)
	if err != nil {
		return "", "", nil, fmt.Errorf("encode content: %w", err)
	}
	a, err := json.Marshal(s.Audience)
	if err != nil {
		return "", "", nil, fmt.Errorf("encode audience: %w", err)
	}
	if s.Hours == nil {
		return cleanJSON(c), cleanJSON(a), nil, nil
	}
	h, err := json.Marshal(s.Hours)
	if err != nil {
		return "", "", nil, fmt.Errorf("encode hours: %w", err)
	}
	return cleanJSON(c), cleanJSON(a), cleanJSON(h), nil
}

// checkParent: a correction goes to those whom its parent reached, which is known
// when the parent has ended and as long as its recipients are kept.
func checkParent(ctx context.Context, tx pgx.Tx, b broadcast.Broadcast) error {
	p, err := scanBroadcast(tx.QueryRow(ctx, readBroadcast+`WHERE s.id = $1`, b.Parent))
	if err != nil {
		return err
	}
	ended := p.State == broadcast.Cancelled || p.State == broadcast.Finished
	if b.Relation == broadcast.Correction && (!ended || expired(p)) {
		return job.ErrNotFound
	}
	return nil
}

// insertPlan inserts the job that plans a broadcast which waits for it.
func insertPlan(ctx context.Context, tx pgx.Tx, b broadcast.Broadcast) ([]job.Inserted, error) {
	if b.State != broadcast.Scheduled && b.State != broadcast.Planning {
		return nil, nil
	}
	var delay float64
	if b.StartAt != nil {
		if err := tx.QueryRow(ctx, `SELECT extract(epoch FROM $1::timestamptz - clock_timestamp())::float8`, *b.StartAt).Scan(&delay); err != nil {
			return nil, fmt.Errorf("tell time to start: %w", err)
		}
	}
	return insertJobs(ctx, tx, []job.New{{
		Queue: broadcast.Queue, Kind: broadcast.KindPlan, Key: broadcast.PlanKey(b.ID), Lane: broadcast.PlanLane(b.ID),
		Priority: broadcast.Priority(b.Kind, b.Urgency), Payload: broadcast.PlanJob{Broadcast: b.ID},
		Delay: max(seconds(delay), 0), CorrelationID: obs.Correlation(ctx),
	}})
}

// UpdateDraft changes a draft; job.ErrNotFound when there is none or it was started.
func (db *DB) UpdateDraft(ctx context.Context, id int64, s broadcast.Spec) (broadcast.Broadcast, error) {
	content, audience, hours, err := encodeSpec(s)
	if err == nil {
		tag, uerr := db.pool.Exec(ctx, `
			UPDATE broadcasts SET kind = $2, title = $3, content = $4, audience = $5, urgency = $6, rate = nullif($7::float8, 0), hours = $8, start_at = $9
			WHERE id = $1 AND state = 'draft'`,
			id, string(s.Kind), clean(s.Title), content, audience, s.Urgency, s.Rate, hours, s.StartAt)
		if err = uerr; err == nil && tag.RowsAffected() == 0 {
			err = job.ErrNotFound
		}
	}
	if err != nil {
		return broadcast.Broadcast{}, fmt.Errorf("update draft %d: %w", id, err)
	}
	return db.Broadcast(ctx, id)
}

// StartBroadcast schedules a draft for its time, or plans it at once. It gives the
// jobs to be published.
func (db *DB) StartBroadcast(ctx context.Context, id int64) (b broadcast.Broadcast, jobs []job.Inserted, err error) {
	err = db.inTx(ctx, func(tx pgx.Tx) error {
		if b, err = lockBroadcast(ctx, tx, id); err != nil {
			return err
		}
		switch b.State {
		case broadcast.Draft:
		case broadcast.Scheduled, broadcast.Planning, broadcast.Running: // started already
			jobs, err = insertPlan(ctx, tx, b)
			return err
		default:
			return job.ErrNotFound
		}
		err = tx.QueryRow(ctx, `UPDATE broadcasts SET state = CASE WHEN start_at > clock_timestamp() THEN 'scheduled' ELSE 'planning' END
			WHERE id = $1 RETURNING state`, id).Scan(&b.State)
		if err != nil {
			return fmt.Errorf("start broadcast: %w", err)
		}
		b.Draft = false
		jobs, err = insertPlan(ctx, tx, b)
		return err
	})
	if err != nil {
		return broadcast.Broadcast{}, nil, fmt.Errorf("start broadcast %d: %w", id, err)
	}
	return b, jobs, nil
}
