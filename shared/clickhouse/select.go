package clickhouse

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"supportbot/shared/analytics"
)

// Result is what a query selects, as FORMAT JSONCompact gives it.
type Result = analytics.Result

// largest is a Result in bytes. What people look at has some thousand rows.
const largest = 16 << 20

// selecting are the settings of every query.
var selecting = map[string]string{
	"default_format": "JSONCompact",
	"output_format_json_quote_64bit_integers": "0",
	"output_format_json_quote_decimals":       "0",
	"output_format_json_quote_denormals":      "0",
	"output_format_json_validate_utf8":        "1",
	// A query that nobody waits for any more ends.
	"cancel_http_readonly_queries_on_client_close": "1",
}

// Select runs a query and gives all of its rows. In the query {name:Type} stands for
// the value of a parameter, which is one of text and is never part of the statement; of
// other types than String it is as ClickHouse writes it (2026-01-31, 42).
//
// The error is an *Error (wrapped) if ClickHouse refused; otherwise nobody has
// answered in time, or at all.
func (db *DB) Select(ctx context.Context, query string, params map[string]string) (Result, error) {
	settings := maps.Clone(selecting)
	for name, value := range params {
		settings["param_"+name] = escape.Replace(value)
	}
	answer, err := db.do(ctx, call{body: []byte(query), settings: settings, again: true, answer: largest})
	if err != nil {
		return Result{}, fmt.Errorf("query ClickHouse: %w", err)
	}
	var all struct {
		Meta      []analytics.Column
		Data      [][]json.RawMessage
		Exception string
	}
	if err := json.Unmarshal(answer, &all); err != nil {
		if failed := late(answer); failed != nil {
			err = failed
		}
		return Result{}, fmt.Errorf("query ClickHouse: %w", err)
	}
	if failed := late([]byte(all.Exception)); failed != nil {
		return Result{}, fmt.Errorf("query ClickHouse: %w", failed)
	}
	return Result{Columns: all.Meta, Rows: all.Data}, nil
}

// escape: ClickHouse reads a parameter as a field of its format TabSeparated.
var escape = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)

// Exec runs a statement. The error is as of Select.
func (db *DB) Exec(ctx context.Context, statement string) error {
	answer, err := db.do(ctx, call{body: []byte(statement), answer: small})
	if err == nil {
		err = late(answer)
	}
	if err != nil {
		return fmt.Errorf("change ClickHouse: %w", err)
	}
	return nil
}

// scan reads a row's first values into what to points at.
func scan(row []json.RawMessage, to ...any) error {
	if len(row) < len(to) {
		return fmt.Errorf("a row has %d values, not %d", len(row), len(to))
	}
	for i, t := range to {
		if err := json.Unmarshal(row[i], t); err != nil {
			return fmt.Errorf("read value %d: %w", i, err)
		}
	}
	return nil
}

// strings selects texts, one a row.
func (db *DB) strings(ctx context.Context, query string, params map[string]string) ([]string, error) {
	res, err := db.Select(ctx, query, params)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(res.Rows))
	for i, row := range res.Rows {
		if err := scan(row, &texts[i]); err != nil {
			return nil, err
		}
	}
	return texts, nil
}
