// Package migrations holds the schema of the databases, forward only: a numbered
// file is never changed once it has been deployed.
package migrations

import "embed"

// Postgres holds the files for Postgres, under "postgres/".
//
//go:embed postgres/*.sql
var Postgres embed.FS

// ClickHouse holds the files for ClickHouse, under "clickhouse/".
//
//go:embed clickhouse/*.sql
var ClickHouse embed.FS
