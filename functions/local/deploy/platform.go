package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"supportbot/migrations"
	"supportbot/shared/env"
	"supportbot/shared/gauge"
)

// stillMost is how long ago the reconciler may have measured: it does every minute.
const stillMost = 2 * time.Minute

// platform is what the platform tells of itself to who has a key of its API.
type platform struct {
	gateway *gateway
	key     env.Secret
}

func (p *parts) platform() *platform {
	return &platform{gateway: p.gateway, key: env.NewSecret(p.vars.String("API_KEY", ""))}
}

func (p *platform) askable() bool { return !p.key.Empty() && p.gateway.console != "" }

// ask reads an answer of the API.
func (p *platform) ask(ctx context.Context, path string, out any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.gateway.console+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", p.key.Reveal())
	res, err := p.gateway.client.Do(r)
	if err != nil {
		return bare(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	switch {
	case err != nil:
		return err
	case res.StatusCode == http.StatusUnauthorized:
		return errors.New("API_KEY is not known or was revoked")
	case res.StatusCode == http.StatusForbidden:
		return errors.New("API_KEY has another role than operator or admin")
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("it answers with %d", res.StatusCode)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return errors.New("its answer is none of the API") // and may be anything
	}
	return nil
}

// told is what the platform says of its jobs and databases, but for those that were seen,
// and of the reconciler.
func (d *databases) told(ctx context.Context, already seen) (found []Finding) {
	before := d.now()
	var h struct {
		Now    time.Time
		Schema struct {
			Postgres   int64
			ClickHouse *int64
		}
		Reviews int
		Dead    int        `json:"dead_letters"`
		Late    float64    `json:"late_seconds"`
		Lane    string     `json:"late_lane"`
		Loaded  *time.Time `json:"loaded_until"`
	}
	if err := d.platform.ask(ctx, "/v1/health", &h); err != nil {
		return []Finding{{Failure, "the platform does not tell how it is: " + err.Error(), "API_KEY has to be a key of the role operator (README, Who may do what); else the log of notification-api says why."}}
	}
	if !already.postgres {
		d.clocks.note("Postgres", h.Now, before, d.now())
	}
	health := gauge.Health{
		Now: h.Now, Schema: h.Schema.Postgres, Reviews: h.Reviews, Dead: h.Dead, Late: time.Duration(h.Late * float64(time.Second)), Lane: h.Lane,
	}
	if h.Loaded != nil {
		health.Loaded = *h.Loaded
	}
	if !already.postgres {
		found = d.health(health)
	}
	switch {
	case already.clickhouse:
	case h.Schema.ClickHouse != nil:
		found = append(found, version("ClickHouse", *h.Schema.ClickHouse, known(migrations.ClickHouse, "clickhouse")))
	default:
		found = append(found, Finding{Warning, "there is no ClickHouse, or it does not answer", "Without CLICKHOUSE_URL there are no analytics; else the log of notification-api says what it does not answer."})
	}
	return append(found, d.measured(ctx))
}

// measured looks whether the reconciler runs.
func (d *databases) measured(ctx context.Context) Finding {
	var g struct {
		Age *float64 `json:"age_seconds"`
	}
	const advice = "See the log of reconciler and its timer: what is late, lost or waits in dead letters is found by it alone."
	err := d.platform.ask(ctx, "/v1/gauges", &g)
	switch {
	case err != nil:
		return Finding{Failure, "the platform does not tell what it measured: " + err.Error(), "The log of notification-api says why."}
	case g.Age == nil:
		return Finding{Failure, "the reconciler has not measured anything yet", advice}
	}
	if age := time.Duration(*g.Age * float64(time.Second)).Round(time.Second); age > stillMost {
		return Finding{Failure, fmt.Sprintf("the reconciler stands still: it measured %s ago", age), advice}
	}
	return fine("the reconciler measured within the last %s", stillMost)
}
