package clickhouse_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics"
	"supportbot/shared/clickhouse"
	"supportbot/shared/clickhouse/clickhousetest"
)

const difficult = `it's "quoted" \ back` + "`" + `tick`

func view(name, query string, columns ...string) clickhouse.View {
	v := clickhouse.View{Name: name, Comment: difficult + " " + name, Query: query, Columns: map[string]string{}}
	for _, c := range columns {
		v.Columns[c] = difficult + " " + c
	}
	return v
}

func views(t *testing.T, db *clickhouse.DB) []string {
	t.Helper()
	return clickhousetest.Rows(t, db, "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'metric%' ORDER BY name")
}

func TestMigrate_Views(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t, clickhousetest.Empty(t))
	first := view("metric_first", "-- comes first\nSELECT issue, created_at AS at, rating / 2 AS `half of it` FROM tickets -- all of them", "issue", "at", "half of it")
	second := view("metric_second", "SELECT at FROM metric_first WHERE issue != ''", "at")
	must(t, db.Migrate(ctx, first, second))
	must(t, db.Migrate(ctx, first, second))
	want := []string{
		"('metric_first','at','DateTime64(3, \\'UTC\\')')", "('metric_first','half of it','Float64')", "('metric_first','issue','String')",
		"('metric_second','at','DateTime64(3, \\'UTC\\')')",
	}
	if diff := cmp.Diff(want, clickhousetest.Rows(t, db, "SELECT table, name, type FROM system.columns WHERE database = currentDatabase() AND table LIKE 'metric%'")); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	for _, query := range []string{
		"SELECT comment, name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'metric%'",
		"SELECT comment, name FROM system.columns WHERE database = currentDatabase() AND table LIKE 'metric%'",
	} {
		res, err := db.Select(ctx, query, nil)
		if err != nil || len(res.Rows) == 0 {
			t.Fatal(err, res.Rows)
		}
		for _, row := range res.Rows {
			var comment, name string
			if err := json.Unmarshal(row[0], &comment); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(row[1], &name); err != nil || comment != difficult+" "+name {
				t.Errorf("%s: comment %q, %v", name, comment, err)
			}
		}
	}
	must(t, db.InsertTickets(ctx, []analytics.Ticket{ticket("i1", 1)}, day(1)))
	if got := clickhousetest.Rows(t, db, "SELECT * FROM metric_first"); !cmp.Equal(got, []string{"('i1','2026-01-01 12:00:00.000',2.5)"}) {
		t.Errorf("got %v", got)
	}

	// Another query, one fewer; what is not named so stays.
	must(t, db.Exec(ctx, "CREATE VIEW metrics AS SELECT 1"))
	must(t, db.Exec(ctx, "CREATE TABLE metric_table (x UInt8) ENGINE = MergeTree ORDER BY x"))
	must(t, db.Migrate(ctx, view("metric_second", "SELECT 1 AS one", "one")))
	if got := views(t, db); !cmp.Equal(got, []string{"('metric_second')", "('metric_table')", "('metrics')"}) {
		t.Errorf("got %v", got)
	}
	if got := clickhousetest.Rows(t, db, "SELECT * FROM metric_second"); !cmp.Equal(got, []string{"(1)"}) {
		t.Errorf("got %v", got)
	}
}

func TestMigrate_BadViews(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t, clickhousetest.Empty(t))
	must(t, db.Migrate(ctx, view("metric_good", "SELECT 1 AS one", "one")))
	for want, v := range map[string]clickhouse.View{
		"has to begin with metric_":     view("tickets_latest", "SELECT 1 AS one", "one"),
		"its column two has no comment": view("metric_x", "SELECT 1 AS one, 2 AS two", "one"),
		"it has no column two":          view("metric_x", "SELECT 1 AS one", "one", "two"),
		"UNKNOWN_TABLE":                 view("metric_x", "SELECT 1 AS one FROM nothing", "one"),
		"SYNTAX_ERROR":                  view("metric_x", "SELECT 1 AS one); DROP TABLE tickets", "one"),
	} {
		if err := db.Migrate(ctx, v); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), v.Name) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if got := views(t, db); !cmp.Equal(got, []string{"('metric_good')"}) {
		t.Errorf("got %v, want what there was before", got)
	}
}

func TestMigrate_ViewsAtTheSameTime(t *testing.T) {
	t.Parallel()
	address := clickhousetest.Empty(t)
	var all sync.WaitGroup
	for range 3 {
		db := clickhousetest.Open(t, address)
		all.Add(1)
		go func() {
			defer all.Done()
			if err := db.Migrate(ctx, view("metric_x", "SELECT 1 AS one", "one"), view("metric_y", "SELECT one FROM metric_x", "one")); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
}

// On a cluster views are made and dropped on all hosts.
func TestMigrate_ViewsOnACluster(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var statements []string
	front := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		statements = append(statements, string(body))
		data := `[]`
		switch text := string(body); {
		case strings.HasPrefix(text, "DESCRIBE"):
			data = `[["one","UInt8","","","","",""]]`
		case strings.Contains(text, "system.tables"):
			data = `[["metric_old"]]`
		case strings.HasPrefix(text, "SELECT"):
			data = `[["1"]]`
		}
		_, _ = io.WriteString(w, `{"meta":[],"data":`+data+`}`)
	}
	db := lyingOn(t, "c1", front)
	must(t, db.Migrate(ctx, view("metric_x", "SELECT 1 AS one", "one")))
	judge := clickhousetest.Open(t, clickhousetest.Empty(t))
	seen := map[string]bool{}
	for _, s := range statements {
		for _, begin := range []string{"CREATE OR REPLACE VIEW `metric_x` ON CLUSTER 'c1'", "DROP VIEW IF EXISTS `metric_old` ON CLUSTER 'c1'"} {
			if strings.HasPrefix(s, begin) {
				seen[begin] = true
				if err := judge.Exec(ctx, "EXPLAIN AST "+s); err != nil {
					t.Errorf("ClickHouse cannot read it: %v", err)
				}
			}
		}
	}
	if len(seen) != 2 {
		t.Errorf("statements %q", statements)
	}
}
