package migrations_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"supportbot/migrations"
)

// contracting is whatever the code of the release before may not live with: while a
// deployment is under way, and after it was taken back, that code works with this schema.
var contracting = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`DROP`, `RENAME`, `TRUNCATE`, `SET\s+NOT\s+NULL`, `(ALTER|MODIFY)\s+COLUMN`, `ALTER\s+[a-z_]+\s+TYPE`, `ADD\s+CONSTRAINT`,
	`ADD\s+COLUMN\s+[^,;]*?NOT\s+NULL`,
}, "|") + `)\b`)

// safe is the comment that lets a statement through, at its beginning: it says why
// nobody needs any more what is taken away.
var safe = regexp.MustCompile(`(?m)^-- contract: +\S+ +\S+`)

var (
	comments  = regexp.MustCompile(`(?m)--.*$`)
	texts     = regexp.MustCompile(`'(?:[^']|'')*'`)
	defaulted = regexp.MustCompile(`(?is)ADD\s+COLUMN\s+[^,;]*?NOT\s+NULL[^,;]*\b(DEFAULT|GENERATED)\b|ADD\s+COLUMN\s+[^,;]*\b(DEFAULT|GENERATED)\b[^,;]*?NOT\s+NULL`)
)

// refused gives what is wrong with a file, by the words that are; nil: it only adds.
func refused(file string) (all []string) {
	for _, statement := range strings.Split(file, ";\n") {
		if safe.MatchString(statement) {
			continue
		}
		bare := texts.ReplaceAllString(comments.ReplaceAllString(statement, ""), "''")
		bare = defaulted.ReplaceAllString(bare, "")
		all = append(all, contracting.FindAllString(bare, -1)...)
	}
	return all
}

// TestFiles_OnlyAdd: each migration only adds what the code of before can live with.
func TestFiles_OnlyAdd(t *testing.T) {
	t.Parallel()
	seen := 0
	for folder, files := range map[string]fs.FS{"postgres": migrations.Postgres, "clickhouse": migrations.ClickHouse} {
		names, err := fs.Glob(files, folder+"/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			raw, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			if words := refused(string(raw)); len(words) > 0 {
				t.Errorf("%s takes something away (%q): the code of the release before may still need it. "+
					"Do it one release later, with a comment \"-- contract: why nobody needs it\" before the statement", name, words)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d files were looked at", seen)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for statement, wrong := range map[string]bool{
		"ALTER TABLE jobs DROP COLUMN remark;\n":                                       true,
		"ALTER TABLE jobs DROP remark;\n":                                              true,
		"drop table if exists jobs;\n":                                                 true,
		"ALTER TABLE jobs RENAME COLUMN a TO b;\n":                                     true,
		"ALTER TABLE jobs RENAME TO work;\n":                                           true,
		"ALTER TABLE jobs ALTER COLUMN remark SET NOT NULL;\n":                         true,
		"ALTER TABLE jobs ALTER remark SET NOT NULL;\n":                                true,
		"ALTER TABLE jobs ALTER COLUMN attempts TYPE bigint;\n":                        true,
		"ALTER TABLE jobs ALTER attempts TYPE bigint;\n":                               true,
		"ALTER TABLE jobs ADD CONSTRAINT c CHECK (a > 0);\n":                           true,
		"ALTER TABLE jobs ADD COLUMN a text NOT NULL;\n":                               true,
		"ALTER TABLE tickets MODIFY COLUMN a UInt64;\n":                                true,
		"TRUNCATE jobs;\n":                                                             true,
		"-- it is safe\nALTER TABLE jobs DROP COLUMN remark;\n":                        true,
		"-- contract:\nALTER TABLE jobs DROP COLUMN remark;\n":                         true,
		"-- contract: not read since 00012\nSELECT 1;\nDROP TABLE jobs;\n":             true,
		"-- contract: nobody reads it since 00012\nALTER TABLE j DROP COLUMN r;\n":     false,
		"ALTER TABLE jobs ADD COLUMN a text NOT NULL DEFAULT '';\n":                    false,
		"ALTER TABLE jobs ADD COLUMN a text DEFAULT '' NOT NULL, ADD COLUMN b text;\n": false,
		"ALTER TABLE jobs ADD COLUMN a bigint GENERATED ALWAYS AS IDENTITY UNIQUE;\n":  false,
		"CREATE TABLE jobs (a text NOT NULL);\n":                                       false,
		"CREATE OR REPLACE VIEW v AS SELECT 1;\n":                                      false,
		"-- DROP TABLE jobs\nSELECT 'RENAME';\n":                                       false,
	} {
		if words := refused(statement); (len(words) > 0) != wrong {
			t.Errorf("%q: got %q, want it refused: %t", statement, words, wrong)
		}
	}
}
