// Package postgres keeps in Postgres what must not be lost: jobs, people, how far the
// news of tickets were read and what was delivered of them, broadcasts with their
// recipients, API keys.
//
// In the cloud the database sits behind a transaction pooler: no session state,
// no session locks, no prepared statements (QueryExecModeExec). A batch of
// statements is one round trip and one transaction. Times are the database's.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"supportbot/shared/env"
	"supportbot/shared/job"
)

// Config says where the database is. An instance of a function is frozen between
// calls, so pools are small and idle connections short-lived.
type Config struct {
	URL      env.Secret
	MaxConns int
	Lease    time.Duration // of lanes; 0: job.Lease
}

// ConfigFrom reads DATABASE_URL and DATABASE_MAX_CONNS (default 4).
func ConfigFrom(r *env.Reader) Config {
	return Config{URL: r.RequiredSecret("DATABASE_URL"), MaxConns: r.Int("DATABASE_MAX_CONNS", 4)}
}

// DB is a pool of connections; its methods are the stores of the use cases.
type DB struct {
	pool  *pgxpool.Pool
	lease time.Duration // of lanes
}

// Open prepares a pool. It connects on first use.
func Open(cfg Config) (*DB, error) {
	pc, err := pgxpool.ParseConfig(cfg.URL.Reveal())
	if err != nil {
		return nil, errors.New("DATABASE_URL cannot be read") // the cause repeats the password
	}
	pc.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	pc.ConnConfig.ConnectTimeout = 5 * time.Second
	pc.MaxConns = int32(max(cfg.MaxConns, 1))
	pc.MinConns = 0
	pc.MaxConnIdleTime = time.Minute
	pc.HealthCheckPeriod = time.Hour // idle connections are checked when they are taken
	pool, err := pgxpool.NewWithConfig(context.Background(), pc)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return &DB{pool: pool, lease: cmp.Or(cfg.Lease, job.Lease)}, nil
}

// Close closes the pool.
func (db *DB) Close() { db.pool.Close() }

// session is a pool, one of its connections, or a transaction.
type session interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// reader is a pool or a transaction.
type reader interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// collect reads all rows of a query; what names it in errors.
func collect[T any](ctx context.Context, q reader, what string, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, _ := q.Query(ctx, sql, args...) // the rows give its error too
	list, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return list, nil
}

// inTx runs f in one transaction.
func (db *DB) inTx(ctx context.Context, f func(pgx.Tx) error) error {
	return again(func() error { return pgx.BeginFunc(ctx, db.pool, f) })
}

// again repeats a transaction that the database ended because it lost against
// another (deadlock, serialization).
func again(f func() error) error {
	for try := 0; ; try++ {
		err := f()
		if err == nil || try == 3 || !conflict(err) {
			return err
		}
	}
}

// changeMany runs one statement that changes many rows, and gives how many they were.
func (db *DB) changeMany(ctx context.Context, sql string, args ...any) (rows int64, err error) {
	err = again(func() error {
		tag, err := db.pool.Exec(ctx, sql, args...)
		rows = tag.RowsAffected()
		return err
	})
	return rows, err
}

func conflict(err error) bool { c := code(err); return c == "40001" || c == "40P01" }

// What else the database may refuse (PostgreSQL, "Error Codes").
const (
	uniqueViolation     = "23505"
	foreignKeyViolation = "23503"
)

// code is the SQLSTATE of an error of the database, "" of any other.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// notFound gives job.ErrNotFound for what is not there.
func notFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return job.ErrNotFound
	}
	return err
}
