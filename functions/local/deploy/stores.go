package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/redis/go-redis/v9"

	"supportbot/migrations"
	"supportbot/shared/clickhouse"
	"supportbot/shared/gauge"
	"supportbot/shared/postgres"
	"supportbot/shared/redisdb"
)

const (
	// lateMost is how late a job may be: hints that got lost are found in two minutes.
	lateMost = 5 * time.Minute
	// loadMost is how old the analytics may be: they are loaded every hour.
	loadMost = 3 * time.Hour
	// reachTime bounds what is asked of a database, unless told.
	reachTime = 10 * time.Second
)

// databases are those that can be reached from here.
type databases struct {
	db       *postgres.DB
	redis    *redis.Client
	rows     *clickhouse.DB
	clocks   *clocks
	now      func() time.Time
	reach    time.Duration
	missing  []string // variables that are not set
	unopened []Finding
	platform *platform // that tells of itself
}

// stores opens what is named. An address of the functions' may name files that are
// not here (the cloud's certificate): that is no reason not to connect the services.
func (p *parts) stores() (service, error) {
	d := &databases{clocks: p.clocks, now: p.cfg.Now, reach: p.cfg.Reach, platform: p.platform()}
	open := func(name string, f func() error) {
		if !p.has(name) {
			d.missing = append(d.missing, name)
		} else if err := f(); err != nil {
			d.unopened = append(d.unopened, Finding{
				Warning, "the database of " + name + " was not looked at: " + err.Error(),
				"If its address names a certificate that only the functions have, set " + name + " for this command to one with a file of this machine.",
			})
		}
	}
	open("DATABASE_URL", func() (err error) { d.db, err = postgres.Open(postgres.ConfigFrom(p.vars)); return err })
	open("REDIS_URL", func() (err error) { d.redis, err = redisdb.Open(redisdb.ConfigFrom(p.vars)); return err })
	open("CLICKHOUSE_URL", func() (err error) { d.rows, err = clickhouse.Open(clickhouse.ConfigFrom(p.vars)); return err })
	return d, nil
}

func (d *databases) name() string { return "Databases" }

func (d *databases) settings(context.Context) ([]Setting, error) { return nil, nil }

// check implements service. Each is asked for as long as it may take, whichever of the
// others does not answer; the platform is asked in any case, for it alone knows whether
// its reconciler runs.
func (d *databases) check(ctx context.Context) (found []Finding) {
	found = append(found, d.unopened...)
	ask := func(look func(ctx context.Context) []Finding) {
		ctx, cancel := context.WithTimeout(ctx, d.reach)
		defer cancel()
		found = append(found, look(ctx)...)
	}
	var answered seen
	if d.db != nil {
		ask(func(ctx context.Context) (all []Finding) { all, answered.postgres = d.postgres(ctx); return all })
	}
	if d.redis != nil {
		ask(func(ctx context.Context) []Finding { return []Finding{d.valkey(ctx)} })
	}
	if d.rows != nil {
		ask(func(ctx context.Context) (all []Finding) { all, answered.clickhouse = d.clickhouse(ctx); return all })
	}
	switch {
	case d.platform.askable():
		ask(func(ctx context.Context) []Finding { return d.told(ctx, answered) })
	case len(d.missing) > 0:
		found = append(found, Finding{
			Warning, strings.Join(d.missing, ", ") + ": not set, so not looked at",
			"Databases of a cloud's network are reached from a machine in it. From elsewhere the platform tells the same of itself: CONSOLE=https://... names its gateway, API_KEY a key of the role operator (README, Who may do what).",
		})
	}
	return found
}

// seen are the databases that have told already what the platform tells of them.
type seen struct{ postgres, clickhouse bool }

// unreached is no failure of the deployment: from outside of their network databases
// cannot be reached. One that answers and has no schema is.
func unreached(variable string, err error) Finding {
	var refused *pgconn.PgError
	var unknown *clickhouse.Error
	if errors.As(err, &refused) || errors.As(err, &unknown) && unknown.Code != 0 {
		return Finding{Failure, "the database of " + variable + " has not what it should have: " + err.Error(), "terraform apply invokes the migration; its log says why it did not succeed."}
	}
	return Finding{Warning, "the database of " + variable + " does not answer: " + err.Error(), "From outside of its network it cannot; the rest of it is told by make doctor on a machine in the network."}
}

func (d *databases) postgres(ctx context.Context) (found []Finding, answered bool) {
	before := d.now()
	h, err := d.db.Health(ctx)
	if err != nil {
		return []Finding{unreached("DATABASE_URL", err)}, false
	}
	d.clocks.note("Postgres", h.Now, before, d.now())
	return d.health(h), true
}

// health judges what Postgres says, or the platform of it.
func (d *databases) health(h gauge.Health) []Finding {
	found := []Finding{version("Postgres", h.Schema, known(migrations.Postgres, "postgres"))}
	if h.Reviews > 0 {
		found = append(found, Finding{
			Failure, counted(h.Reviews, "job") + " in review: nobody knows how they ended, or they failed too often",
			"The console and the log say which; go run ./functions/local replay <job> or cancel <job> decides (README, Operator's commands).",
		})
	} else {
		found = append(found, fine("no job is in review"))
	}
	if h.Dead > 0 {
		found = append(found, Finding{
			Failure, counted(h.Dead, "dead letter") + " within the last hour: calls that got a hint break",
			"go run ./functions/local jobs dead says which, the log of the worker why.",
		})
	}
	switch {
	case h.Late > lateMost:
		found = append(found, Finding{
			Failure, fmt.Sprintf("a job of the lane %s has been due for %s, and nobody works in it", h.Lane, h.Late.Round(time.Second)),
			"The reconciler does not run or its hints do not arrive: see its log, its timer, the queues.",
		})
	default:
		found = append(found, fine("no job is late by more than %s", lateMost))
	}
	return append(found, d.load(h))
}

// load is how far behind the analytics are; without any nothing is late.
func (d *databases) load(h gauge.Health) Finding {
	switch behind := h.Now.Sub(h.Loaded); {
	case h.Loaded.IsZero():
		return Finding{Warning, "the analytics were never loaded", "Without CLICKHOUSE_URL they never are; else see the log of analytics-loader."}
	case behind > loadMost:
		return Finding{Failure, fmt.Sprintf("the analytics were last loaded %s ago", behind.Round(time.Minute)), "See the log of analytics-loader and its timers."}
	default:
		return fine("the analytics were loaded %s ago", behind.Round(time.Second))
	}
}

func (d *databases) valkey(ctx context.Context) Finding {
	before := d.now()
	at, err := d.redis.Time(ctx).Result()
	if err != nil {
		return unreached("REDIS_URL", err)
	}
	d.clocks.note("Redis", at, before, d.now())
	return fine("Redis answers")
}

func (d *databases) clickhouse(ctx context.Context) (found []Finding, answered bool) {
	before := d.now()
	got, err := d.rows.Select(ctx, "SELECT max(version), toUnixTimestamp(now()) FROM migrations", nil)
	var has, seconds int64
	if err == nil && len(got.Rows) == 1 && len(got.Rows[0]) == 2 {
		err = json.Unmarshal(got.Rows[0][0], &has)
		if err == nil {
			err = json.Unmarshal(got.Rows[0][1], &seconds)
		}
	}
	if err != nil {
		return []Finding{unreached("CLICKHOUSE_URL", err)}, false
	}
	d.clocks.note("ClickHouse", time.Unix(seconds, 0), before, d.now())
	return []Finding{version("ClickHouse", has, known(migrations.ClickHouse, "clickhouse"))}, true
}

// version compares the schema that a database has with the one that is known here.
func version(database string, has, known int64) Finding {
	switch {
	case has < known:
		return Finding{Failure, fmt.Sprintf("the schema of %s has version %d, and the code needs %d", database, has, known), "terraform apply invokes the migration; its log says why it did not succeed."}
	case has > known:
		return Finding{Warning, fmt.Sprintf("the schema of %s has version %d, newer than this checkout's %d", database, has, known), "Examine a deployment with the checkout that it was made of."}
	}
	return fine("the schema of %s has version %d, the newest", database, has)
}

// known is the number of the last migration.
func known(files fs.FS, folder string) (last int64) {
	names, err := fs.Glob(files, folder+"/*.sql")
	if err != nil {
		return 0
	}
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			last = max(last, n)
		}
	}
	return last
}
