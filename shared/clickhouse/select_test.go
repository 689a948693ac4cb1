package clickhouse_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics"
	"supportbot/shared/clickhouse"
	"supportbot/shared/clickhouse/clickhousetest"
)

func TestSelect(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	got, err := db.Select(ctx, `
		SELECT toUInt64(18446744073709551615) AS large, toInt64(-9223372036854775808) AS small, toDecimal64(1.25, 2) AS exact,
			nan AS none, inf AS endless, 0.5 AS half, toNullable('') AS empty, CAST(NULL AS Nullable(UInt8)) AS nothing,
			toDateTime64('2026-01-31 12:00:00.125', 3, 'Europe/Moscow') AS at, toDate('2026-01-31') AS day, [1, 2] AS list,
			'"\'\\\n\0é/' AS text, number FROM numbers(2) ORDER BY number`, nil)
	if err != nil {
		t.Fatal(err)
	}
	column := func(name, kind string) analytics.Column { return analytics.Column{Name: name, Type: kind} }
	want := analytics.Result{Columns: []analytics.Column{
		column("large", "UInt64"), column("small", "Int64"), column("exact", "Decimal(18, 2)"), column("none", "Float64"),
		column("endless", "Float64"), column("half", "Float64"), column("empty", "Nullable(String)"), column("nothing", "Nullable(UInt8)"),
		column("at", "DateTime64(3, 'Europe/Moscow')"), column("day", "Date"), column("list", "Array(UInt8)"), column("text", "String"),
		column("number", "UInt64"),
	}}
	for _, n := range []string{"0", "1"} {
		var row []json.RawMessage
		for _, v := range []string{
			"18446744073709551615", "-9223372036854775808", "1.25", "null", "null", "0.5", `""`, "null", `"2026-01-31 12:00:00.125"`,
			`"2026-01-31"`, "[1,2]", `"\"'\\\n\u0000é/"`, n,
		} {
			row = append(row, json.RawMessage(v))
		}
		want.Rows = append(want.Rows, row)
	}
	compact(t, got.Rows)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// compact takes spaces and needless escapes out of values.
func compact(t *testing.T, rows [][]json.RawMessage) {
	t.Helper()
	for _, row := range rows {
		for i, v := range row {
			if v[0] != '"' && v[0] != '[' {
				continue
			}
			var value any
			err := json.Unmarshal(v, &value)
			if err == nil {
				row[i], err = json.Marshal(value)
			}
			if err != nil {
				t.Fatalf("%s: %v", v, err)
			}
		}
	}
}

// A parameter is data, whatever it is.
func TestSelect_Parameters(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	for _, text := range []string{
		"", "plain", "'; DROP TABLE tickets; --", `back\slash`, `\N`, `\t`, "tab\there", "line\nand\rreturn", "zero\x00byte", "привет 👋", `"{x:String}"`,
		strings.Repeat("long", 30_000), "a&b=c%20+d#e",
	} {
		res, err := db.Select(ctx, "SELECT {text:String}, length({text:String}), {n:Int64} + 1, {day:Date}", map[string]string{"text": text, "n": "-7", "day": "2026-01-31"})
		if err != nil {
			t.Errorf("%.20q: %v", text, err)
			continue
		}
		var got string
		if err := json.Unmarshal(res.Rows[0][0], &got); err != nil || got != text {
			t.Errorf("got %.40q, %v; want %.40q", got, err, text)
		}
		if string(res.Rows[0][2]) != "-6" || string(res.Rows[0][3]) != `"2026-01-31"` {
			t.Errorf("got %s", res.Rows[0][2:])
		}
	}
	_, err := db.Select(ctx, "SELECT {n:Int64}", map[string]string{"n": "1); DROP TABLE tickets"})
	var refused *clickhouse.Error
	if !errors.As(err, &refused) || refused.Code == 0 {
		t.Errorf("a number that is none: error %v", err)
	}
	if _, err := db.Select(ctx, "SELECT {missing:String}", nil); !errors.As(err, &refused) || refused.Name != "UNKNOWN_QUERY_PARAMETER" {
		t.Errorf("a parameter that is not given: error %v", err)
	}
}

// An error that comes after rows were made is one.
func TestSelect_FailsInTheMiddle(t *testing.T) {
	t.Parallel()
	db, _ := clickhousetest.New(t)
	_, err := db.Select(ctx, "SELECT throwIf(number = 1500000, 'too far'), repeat('x', 10) FROM numbers(2000000)", nil)
	var refused *clickhouse.Error
	if !errors.As(err, &refused) || !strings.Contains(refused.Message, "too far") || refused.Name != "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO" {
		t.Errorf("error %v, want ClickHouse's", err)
	}
	if err := db.Exec(ctx, "INSERT INTO agents (id) SELECT toString(throwIf(number = 1500000)) FROM numbers(2000000)"); !errors.As(err, &refused) {
		t.Errorf("a statement: error %v, want ClickHouse's", err)
	}
}
