package clickhouse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"supportbot/shared/analytics"
)

// View is a view that Migrate keeps as it is given. All whose names begin with
// viewPrefix belong to Migrate.
type View = analytics.View

// viewPrefix begins the names of views that Migrate drops when nobody gives them any
// more.
const viewPrefix = "metric_"

func (db *DB) keepViews(ctx context.Context, views []View) error {
	given := map[string]bool{}
	for _, v := range views {
		if !strings.HasPrefix(v.Name, viewPrefix) {
			return fmt.Errorf("create view %s: its name has to begin with %s", v.Name, viewPrefix)
		}
		if err := db.createView(ctx, v); err != nil {
			return fmt.Errorf("create view %s: %w", v.Name, err)
		}
		given[v.Name] = true
	}
	there, err := db.strings(ctx, `
		SELECT name FROM system.tables
		WHERE database = currentDatabase() AND engine = 'View' AND startsWith(name, {prefix:String}) ORDER BY name`,
		map[string]string{"prefix": viewPrefix})
	if err != nil {
		return fmt.Errorf("list views: %w", err)
	}
	for _, name := range there {
		if given[name] {
			continue
		}
		if err := db.Exec(ctx, db.render("DROP VIEW IF EXISTS "+identifier(name)+" {on_cluster}")); err != nil {
			return fmt.Errorf("drop view %s: %w", name, err)
		}
	}
	return nil
}

// createView asks for the columns' types first: a column's comment can only be said
// together with its type.
func (db *DB) createView(ctx context.Context, v View) error {
	described, err := db.Select(ctx, "DESCRIBE TABLE (\n"+v.Query+"\n)", nil)
	if err != nil {
		return err
	}
	columns := make([]string, 0, len(described.Rows))
	seen := map[string]bool{}
	for _, row := range described.Rows {
		var name, kind string
		if err := scan(row, &name, &kind); err != nil {
			return err
		}
		comment, ok := v.Columns[name]
		if !ok || comment == "" {
			return fmt.Errorf("its column %s has no comment", name)
		}
		seen[name] = true
		columns = append(columns, "\t"+identifier(name)+" "+kind+" COMMENT "+literal(comment))
	}
	for _, name := range slices.Sorted(maps.Keys(v.Columns)) {
		if !seen[name] {
			return fmt.Errorf("it has no column %s", name)
		}
	}
	head := db.render("CREATE OR REPLACE VIEW " + identifier(v.Name) + " {on_cluster}")
	return db.Exec(ctx, head+"\n(\n"+strings.Join(columns, ",\n")+"\n)\nAS\n"+v.Query+"\nCOMMENT "+literal(v.Comment))
}

// literal and identifier quote (ClickHouse, "Syntax").
func literal(text string) string    { return "'" + quoted.Replace(text) + "'" }
func identifier(name string) string { return "`" + quoted.Replace(name) + "`" }

var quoted = strings.NewReplacer(`\`, `\\`, "'", `\'`, "`", "\\`")
