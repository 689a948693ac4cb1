package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// pgbench is the program that belongs to the server.
type pgbench struct {
	path string
	dir  string // for scripts
	url  string
	runs *int // so far on this server
}

// perRun is more than any run does: scripts count n from 0 and add start, so that no
// two runs make the same keys.
const perRun = 100_000_000

func newPgbench(ctx context.Context, dir, url string, runs *int) (*pgbench, error) {
	var bin string
	err := withConn(ctx, url, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT setting FROM pg_config WHERE name = 'BINDIR'`).Scan(&bin)
	})
	if err != nil {
		return nil, fmt.Errorf("find pgbench: %w", err)
	}
	return &pgbench{path: filepath.Join(bin, "pgbench"), dir: dir, url: url, runs: runs}, nil
}

var tps = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

// run runs a script on so many connections for about d and gives its transactions per
// second.
func (p *pgbench) run(ctx context.Context, s script, connections int, d time.Duration) (float64, error) {
	args, err := p.args(s, connections, "-T", strconv.Itoa(max(1, int(d.Seconds()))))
	if err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, p.path, args...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("run pgbench: %w: %s", err, out)
	}
	m := tps.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("run pgbench: no rate in %s", out)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

// args writes the script and gives the arguments that run it. The protocol is the
// extended one without prepared statements, as pgx's QueryExecModeExec speaks it.
func (p *pgbench) args(s script, connections int, length ...string) ([]string, error) {
	file := filepath.Join(p.dir, "script.sql")
	if err := os.WriteFile(file, []byte(s.text), 0o644); err != nil {
		return nil, fmt.Errorf("write script: %w", err)
	}
	args := append([]string{
		"-n", "-M", "extended", "-c", strconv.Itoa(connections), "-j", strconv.Itoa(min(connections, 2)), "-f", file,
	}, length...)
	*p.runs++
	for _, v := range append([]string{"n=0", "start=" + strconv.Itoa(*p.runs*perRun)}, s.variables...) {
		args = append(args, "-D", v)
	}
	return append(args, p.url), nil
}

func withConn(ctx context.Context, url string, f func(*pgx.Conn) error) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	return f(c)
}

func execute(ctx context.Context, url, sql string) error {
	return withConn(ctx, url, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, sql)
		return err
	})
}
