package clickhouse

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"supportbot/migrations"
)

// journal lists what was applied.
const journal = `
CREATE TABLE IF NOT EXISTS migrations {on_cluster}
(
	version UInt32 COMMENT 'Number of the file',
	applied_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When it was applied'
)
ENGINE = {replicated}ReplacingMergeTree
ORDER BY version
COMMENT 'Versions of the schema'`

// Migrate brings the database to the newest schema, then its views to those that are
// given, which may read each other in their order; views of earlier calls that are
// not given any more are dropped. It may run twice and at the same time, and goes on
// after a crash: ClickHouse has no transactions for it, so each statement may be
// repeated. A schema of a later release is an error, and nothing changes.
func (db *DB) Migrate(ctx context.Context, views ...View) error {
	if err := db.Exec(ctx, db.render(journal)); err != nil {
		return fmt.Errorf("migrate ClickHouse: %w", err)
	}
	applied, err := db.applied(ctx)
	if err != nil {
		return err
	}
	names, err := fs.Glob(migrations.ClickHouse, "clickhouse/*.sql")
	if err != nil {
		return fmt.Errorf("list migrations: %w", err)
	}
	if err := neverBackwards(applied, len(names)); err != nil {
		return err
	}
	for _, name := range names {
		version, err := strconv.ParseUint(strings.SplitN(path.Base(name), "_", 2)[0], 10, 32)
		if err != nil {
			return fmt.Errorf("migration %s has no number", name)
		}
		if applied[strconv.FormatUint(version, 10)] {
			continue
		}
		if err := db.apply(ctx, name); err != nil {
			return fmt.Errorf("apply %s: %w", path.Base(name), err)
		}
		if err := db.Exec(ctx, "INSERT INTO migrations (version) VALUES ("+strconv.FormatUint(version, 10)+")"); err != nil {
			return fmt.Errorf("note %s: %w", path.Base(name), err)
		}
	}
	return db.keepViews(ctx, views)
}

// neverBackwards refuses a schema of a later release: its views may be read by the
// code that goes with them. Files are numbered without gaps.
func neverBackwards(applied map[string]bool, known int) error {
	for version := range applied {
		if n, err := strconv.Atoi(version); err == nil && n > known {
			return fmt.Errorf("the schema of analytics has version %d, of a later release: this one knows %d and changes nothing", n, known)
		}
	}
	return nil
}

func (db *DB) applied(ctx context.Context) (map[string]bool, error) {
	versions, err := db.strings(ctx, "SELECT DISTINCT toString(version) FROM migrations", nil)
	if err != nil {
		return nil, fmt.Errorf("read versions of the schema: %w", err)
	}
	applied := map[string]bool{}
	for _, v := range versions {
		applied[v] = true
	}
	return applied, nil
}

func (db *DB) apply(ctx context.Context, name string) error {
	file, err := migrations.ClickHouse.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read migration: %w", err)
	}
	for _, statement := range Statements(string(file)) {
		if err := db.Exec(ctx, db.render(statement)); err != nil {
			return err
		}
	}
	return nil
}

// render fills in what a cluster wants of a statement (ClickHouse, "Replicated
// table engines": the path and the replica's name are the server's defaults).
func (db *DB) render(statement string) string {
	on, replicated := "", ""
	if db.cluster != "" {
		on, replicated = "ON CLUSTER '"+strings.ReplaceAll(db.cluster, "'", "")+"'", "Replicated"
	}
	return strings.NewReplacer("{on_cluster}", on, "{replicated}", replicated).Replace(statement)
}

// Render gives the statement as it is run on a cluster, or on a single host.
func Render(statement, cluster string) string { return (&DB{cluster: cluster}).render(statement) }

var comment = regexp.MustCompile(`(?m)^\s*--.*$`)

// Statements splits a migration: statements end with a semicolon at the end of a
// line.
func Statements(file string) []string {
	var all []string
	for _, part := range strings.Split(comment.ReplaceAllString(file, "")+"\n", ";\n") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}
