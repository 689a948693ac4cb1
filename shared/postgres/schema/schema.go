// Package schema brings a Postgres database to the newest schema. It is apart from
// package postgres so that only the function that migrates links the tool.
package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"supportbot/migrations"
)

// Newer is the error of a release that meets a schema of a later one. It changes
// nothing: schemas are not taken back.
type Newer struct{ Has, Known int64 }

func (e *Newer) Error() string {
	return fmt.Sprintf("the schema has version %d, of a later release: this one knows %d and changes nothing; its code works "+
		"with a schema one release newer, so whoever goes back on purpose deploys without the migration", e.Has, e.Known)
}

// Migrate brings the database to the newest schema. It may run twice and at the
// same time. It needs a session of its own (an advisory lock): not through a
// transaction pooler. A schema of a later release is *Newer.
func Migrate(ctx context.Context, url string) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return errors.New("the database's address cannot be read")
	}
	db := stdlib.OpenDB(*cfg)
	defer func() { _ = db.Close() }()
	p, err := provider(db)
	if err != nil {
		return err
	}
	if has, known, err := p.GetVersions(ctx); err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	} else if has > known {
		return &Newer{has, known}
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	return nil
}

func provider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations.Postgres, "postgres")
	if err != nil {
		return nil, fmt.Errorf("open migrations: %w", err)
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("prepare migration lock: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}
