package notification

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"supportbot/shared/obs"
)

// health says what a person looks at first, as the databases have it at this moment:
// whoever examines a deployment from outside of their network sees it in no other way.
func (a *API) health(ctx context.Context, _ *call) (any, error) {
	h, err := a.d.Store.Health(ctx)
	if err != nil {
		return nil, err
	}
	var out struct {
		Now    time.Time `json:"now"`
		Schema struct {
			Postgres   int64  `json:"postgres"`
			ClickHouse *int64 `json:"clickhouse"` // null: there is none, or it does not answer
		} `json:"schema"`
		Reviews int        `json:"reviews"`
		Dead    int        `json:"dead_letters"`
		Late    float64    `json:"late_seconds"`
		Lane    string     `json:"late_lane"`
		Loaded  *time.Time `json:"loaded_until"` // null: never
	}
	out.Now, out.Reviews, out.Dead, out.Late, out.Lane, out.Loaded = h.Now, h.Reviews, h.Dead, h.Late.Seconds(), h.Lane, timeOrNull(h.Loaded)
	out.Schema.Postgres = h.Schema
	if version, err := a.analyticsSchema(ctx); err == nil {
		out.Schema.ClickHouse = version
	} else { // the rest is worth having
		a.d.Log.WarnContext(ctx, "the schema of analytics was not read", slog.String(obs.Error, err.Error()))
	}
	return out, nil
}

// analyticsSchema is the version of ClickHouse's schema; nil without analytics.
func (a *API) analyticsSchema(ctx context.Context) (*int64, error) {
	if a.d.Analytics == nil {
		return nil, nil
	}
	res, err := a.d.Analytics.Select(ctx, "SELECT max(version) FROM migrations", nil)
	if err != nil {
		return nil, err
	}
	var version int64
	if len(res.Rows) != 1 || len(res.Rows[0]) != 1 {
		return nil, fmt.Errorf("%d rows of versions", len(res.Rows))
	}
	return &version, json.Unmarshal(res.Rows[0][0], &version)
}
