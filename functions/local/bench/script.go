package bench

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// script is what pgbench runs.
type script struct {
	text      string
	variables []string // name=value, for -D
}

// vary says what of a specimen differs from one transaction to the next: a text in
// its parameters, and the expression of SQL and pgbench variables in its place, which
// has a colon only before the name of one.
type vary struct{ specimen, by string }

// transcribe makes a script of what a specimen sent: the same statements with the
// same parameters in the same flights. head sets the variables; job is the id of the
// specimen's job, "" if it makes none, which is the transaction's own there. The
// database at url says of which types the parameters are.
func transcribe(ctx context.Context, url string, flights []flight, head, job string, varies ...vary) (sc script, err error) {
	err = withConn(ctx, url, func(c *pgx.Conn) error {
		w := &writer{conn: c, job: job, varies: varies}
		w.text.WriteString(head)
		for _, f := range flights {
			if err := w.flight(ctx, f); err != nil {
				return fmt.Errorf("write script: %w", err)
			}
		}
		sc = script{w.text.String(), w.variables}
		return nil
	})
	return sc, err
}

type writer struct {
	conn      *pgx.Conn
	text      strings.Builder
	variables []string
	job       string
	known     bool // the variable job_id holds the id of the transaction's job
	varies    []vary
}

func (w *writer) flight(ctx context.Context, f flight) error {
	if len(f) > 1 {
		w.text.WriteString("\\startpipeline\n")
		defer w.text.WriteString("\\endpipeline\n")
	}
	for _, s := range f {
		text, err := w.statement(ctx, s)
		if err != nil {
			return err
		}
		w.text.WriteString(text)
		// Within a pipeline no result can be read; there the session's last id is it.
		if len(f) == 1 && w.job != "" && strings.HasPrefix(text, "INSERT INTO jobs") {
			w.text.WriteString(" \\gset job_\n")
			w.known = true
		} else {
			w.text.WriteString(";\n")
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`\$[0-9]+`)

func (w *writer) statement(ctx context.Context, s statement) (string, error) {
	if strings.Contains(s.text, ";") {
		return "", fmt.Errorf("a statement has a semicolon: %.60q", s.text)
	}
	types, err := w.types(ctx, s)
	if err != nil {
		return "", err
	}
	args := make([]string, len(s.params))
	for i, p := range s.params {
		args[i] = w.argument(p, types[i])
	}
	return placeholder.ReplaceAllStringFunc(strings.TrimSpace(s.text), func(name string) string {
		n, _ := strconv.Atoi(name[1:])
		return args[n-1]
	}), nil
}

// types asks the database what it takes the parameters for.
func (w *writer) types(ctx context.Context, s statement) ([]string, error) {
	if len(s.params) == 0 {
		return nil, nil
	}
	d, err := w.conn.PgConn().Prepare(ctx, "", s.text, nil)
	if err != nil {
		return nil, err
	}
	if len(d.ParamOIDs) != len(s.params) {
		return nil, fmt.Errorf("%d parameters for %d places in %.60q", len(s.params), len(d.ParamOIDs), s.text)
	}
	types := make([]string, len(d.ParamOIDs))
	for i, oid := range d.ParamOIDs {
		if err := w.conn.QueryRow(ctx, `SELECT format_type($1, NULL)`, oid).Scan(&types[i]); err != nil {
			return nil, err
		}
	}
	return types, nil
}

// argument is a parameter as an expression: constants are parameters here too, except
// for the empty text, which pgbench does not take as one.
func (w *writer) argument(p param, kind string) string {
	cast := "::" + kind + ")"
	switch {
	case p.null:
		return "(NULL" + cast
	case p.value == "":
		return "(''" + cast
	case w.job != "" && p.value == w.job:
		return w.id()
	}
	text := w.variable(p.value)
	if w.job != "" && strings.Contains(p.value, w.job) {
		text = fmt.Sprintf("replace(%s, '%s', (%s)::text)", text, w.job, w.id())
	}
	for _, v := range w.varies {
		if strings.Contains(p.value, v.specimen) {
			text = fmt.Sprintf("replace(%s, %s, %s)", text, w.variable(v.specimen), v.by)
		}
	}
	return "(" + text + cast
}

// variable keeps a text out of the script: pgbench looks for names also within quotes.
func (w *writer) variable(value string) string {
	name := fmt.Sprintf("p%d", len(w.variables)+1)
	w.variables = append(w.variables, name+"="+value)
	return ":" + name
}

func (w *writer) id() string {
	if w.known {
		return "(:job_id::bigint)"
	}
	return "(SELECT lastval())"
}
