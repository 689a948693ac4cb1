package analytics

import "encoding/json"

// Result is what a query selects: times as text ("2026-01-31 12:00:00.000", by the
// zone of the column), numbers of every size as numbers, NaN and infinities as null.
type Result struct {
	Columns []Column
	Rows    [][]json.RawMessage
}

// Column is a column of a Result. Type is ClickHouse's.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// View is a view for those who read the database directly.
type View struct {
	Name    string // metric_...
	Comment string
	Query   string            // a SELECT, without parameters
	Columns map[string]string // the comment of each column by its name
}
