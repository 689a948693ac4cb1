package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// flights is a transaction that costs no round trips of its own: BEGIN travels with
// its first batch, COMMIT with its last. Results are read by the batch's callbacks.
type flights struct {
	conn         *pgxpool.Conn
	begun, ended bool
}

const rollbackTime = time.Second

// inFlights runs do in one transaction. If do has not sent its last batch it is
// committed after it; if do fails, rolled back.
func (db *DB) inFlights(ctx context.Context, do func(f *flights) error) error {
	return db.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		f := &flights{conn: c}
		err := do(f)
		if err == nil && f.begun && !f.ended {
			err = f.last(ctx, &pgx.Batch{})
		}
		if open := c.Conn().PgConn().TxStatus() != 'I'; open && !c.Conn().IsClosed() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
			defer cancel()
			_, _ = c.Exec(ctx, "ROLLBACK") // when that fails the pool closes the connection
		}
		return err
	})
}

// send sends a batch and reads what comes back.
func (f *flights) send(ctx context.Context, b *pgx.Batch) error {
	if !f.begun {
		f.begun = true
		b.QueuedQueries = append([]*pgx.QueuedQuery{{SQL: "BEGIN"}}, b.QueuedQueries...)
	}
	return f.conn.SendBatch(ctx, b).Close()
}

// last is send for the batch with which the transaction ends.
func (f *flights) last(ctx context.Context, b *pgx.Batch) error {
	f.ended = true
	b.Queue("COMMIT").Exec(func(tag pgconn.CommandTag) error {
		if tag.String() != "COMMIT" {
			return fmt.Errorf("commit: %w", pgx.ErrTxCommitRollback)
		}
		return nil
	})
	return f.send(ctx, b)
}
