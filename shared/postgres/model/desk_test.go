package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
)

// desk is a real database with at most two jobs in it.
type desk struct {
	t     *testing.T
	store *postgres.DB
	url   string
	conn  *pgx.Conn
	put   string // jobs from JSON
}

// image is a state of the database that can be put back, with what the workers know.
type image struct {
	jobs, lanes json.RawMessage
	rows        map[string]record // the jobs by their key
	taken       time.Time
	crew        crew
}

// record is a job's row as the database says.
type record struct {
	ID         int64      `json:"id"`
	Key        string     `json:"key"`
	State      job.State  `json:"state"`
	Stage      string     `json:"stage"`
	Attempts   int8       `json:"attempts"`
	Losses     int8       `json:"losses"`
	Due        bool       `json:"due"`
	Hinted     bool       `json:"hinted"`
	Replayed   bool       `json:"replayed"`
	AskedAt    *time.Time `json:"cancel_requested_at"`
	PausedAt   *time.Time `json:"pause_requested_at"`
	HeldAt     *time.Time `json:"held_at"`
	HeldFor    *string    `json:"held_for"`
	Token      *string    `json:"lease_token"`
	FinishedAt *time.Time `json:"finished_at"`
	ToldAt     *time.Time `json:"told_at"`
	Members    int8       `json:"members"`
	all        json.RawMessage
}

type laneRecord struct {
	Name  string  `json:"name"`
	Token *string `json:"lease_token"`
	Live  bool    `json:"live"`
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	url := backendtest.Postgres(t, schema.Migrate)
	store, err := postgres.Open(postgres.Config{URL: env.NewSecret(url), MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	d := &desk{t: t, store: store, url: url}
	d.conn = d.connect()
	var columns string
	d.scan(`SELECT string_agg(column_name, ', ') FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = 'jobs' AND is_generated = 'NEVER'`, &columns)
	d.put = fmt.Sprintf(`INSERT INTO jobs (%[1]s) OVERRIDING SYSTEM VALUE SELECT %[1]s FROM jsonb_populate_recordset(NULL::jobs, $1)`, columns)
	return d
}

func (d *desk) connect() *pgx.Conn {
	d.t.Helper()
	conn, err := pgx.Connect(context.Background(), d.url)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (d *desk) scan(sql string, into ...any) {
	d.t.Helper()
	if err := d.conn.QueryRow(context.Background(), sql).Scan(into...); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) exec(sql string, args ...any) {
	d.t.Helper()
	if _, err := d.conn.Exec(context.Background(), sql, args...); err != nil {
		d.t.Fatal(err)
	}
}

// restore puts an image back. What was to come when it was taken is still to come,
// however long ago that was; rows that are over stay to the letter.
func (d *desk) restore(i image) {
	d.t.Helper()
	b := &pgx.Batch{}
	b.Queue(`DELETE FROM jobs`)
	b.Queue(`DELETE FROM lanes`)
	b.Queue(d.put, i.jobs)
	b.Queue(`UPDATE jobs SET
		run_at = clock_timestamp() + CASE WHEN run_at > $1 THEN interval '1 hour' ELSE '-1 s' END,
		published_at = clock_timestamp() - CASE WHEN published_at > $1 - interval '60 s' THEN interval '0 s' ELSE '1 hour' END
		WHERE state NOT IN ('completed', 'cancelled')`, i.taken)
	b.Queue(`INSERT INTO lanes SELECT name, lease_token,
		clock_timestamp() + CASE WHEN lease_until > $2 THEN interval '60 s' ELSE '-1 s' END, used_at
		FROM jsonb_populate_recordset(NULL::lanes, $1) WHERE lease_token IS NOT NULL`, i.lanes, i.taken)
	if err := d.conn.SendBatch(context.Background(), b).Close(); err != nil {
		d.t.Fatal(err)
	}
}

// image takes what there is.
func (d *desk) image(c crew) image {
	d.t.Helper()
	i := image{crew: c}
	d.scan(`SELECT clock_timestamp(),
		(SELECT coalesce(jsonb_agg(to_jsonb(j) || jsonb_build_object('due', run_at <= clock_timestamp(),
			'hinted', coalesce(published_at > clock_timestamp() - interval '60 s', false),
			'members', CASE jsonb_typeof(payload) WHEN 'array' THEN jsonb_array_length(payload) ELSE 0 END) ORDER BY key), '[]') FROM jobs j),
		(SELECT coalesce(jsonb_agg(to_jsonb(l) || jsonb_build_object('live', coalesce(lease_until > clock_timestamp(), false)) ORDER BY name), '[]')
			FROM lanes l)`, &i.taken, &i.jobs, &i.lanes)
	i.rows = map[string]record{}
	for _, raw := range decode[[]json.RawMessage](d.t, i.jobs) {
		r := decode[record](d.t, raw)
		r.all = raw
		i.rows[r.Key] = r
	}
	return i
}

func decode[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// world is an image as the model sees it; what the database does not know of it, the
// order and the budget, is as in before.
func (d *desk) world(i image, before world) world {
	d.t.Helper()
	w := newWorld(before.order)
	w.budget, w.doing = before.budget, i.crew.doing
	for key, r := range i.rows {
		w.jobs[key[1]-'1'] = row{
			state: r.State, stage: int8(slices.Index(stages, r.Stage)), attempts: r.Attempts, losses: r.Losses, due: r.Due, hinted: r.Hinted,
			replayed: r.Replayed, asked: r.AskedAt != nil, paused: r.PausedAt != nil, held: r.HeldAt != nil, waits: r.HeldFor != nil,
			told: r.ToldAt != nil, members: r.Members,
			token: i.crew.owner(r.Token),
		}
	}
	for _, l := range decode[[]laneRecord](d.t, i.lanes) {
		w.lanes[l.Name[1]-'1'] = lease{i.crew.owner(l.Token), l.Live}
	}
	return w.settled()
}
