package notification

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"supportbot/shared/analytics"
	"supportbot/shared/messenger"
	"supportbot/shared/metric"
)

// shownMetric is a metric as the list has it.
type shownMetric struct {
	Name        string        `json:"name"`
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Unit        metric.Unit   `json:"unit"`
	Chart       metric.Chart  `json:"chart"`
	Parameters  []string      `json:"parameters"` // besides the period and the zone
	Columns     []shownColumn `json:"columns"`
}

type shownColumn struct {
	Name  string      `json:"name"`
	Title string      `json:"title"`
	Role  metric.Role `json:"role"`
	Unit  metric.Unit `json:"unit,omitempty"`
}

type shownCategory struct {
	Key   string `json:"key"`
	Title string `json:"title"`
}

type listedMetrics struct {
	Metrics     []shownMetric   `json:"metrics"`
	Messengers  []string        `json:"messengers"`
	Categories  []shownCategory `json:"categories"`
	Zone        string          `json:"zone"`
	LoadedUntil *time.Time      `json:"loaded_until"`
}

// messengers are those that a metric may be asked for.
var messengers = []string{string(messenger.Telegram), string(messenger.VK)}

var errNoAnalytics = refuse(http.StatusServiceUnavailable, "this deployment has no analytics: it knows no ClickHouse (CLICKHOUSE_URL)")

// metrics lists what there is to look at.
func (a *API) metrics(ctx context.Context, c *call) (any, error) {
	locale, err := a.listQuestion(c)
	if err != nil {
		return nil, err
	}
	if a.d.Analytics == nil {
		return nil, errNoAnalytics
	}
	out := listedMetrics{Metrics: []shownMetric{}, Messengers: messengers, Categories: []shownCategory{}, Zone: a.d.Zone.String()}
	for _, m := range a.d.Metrics.All() {
		out.Metrics = append(out.Metrics, shownMetric{
			m.Name, m.Title.In(locale), m.Description.In(locale), m.Unit, m.Chart, append([]string{}, m.Parameters...), columns(m, locale),
		})
	}
	for _, category := range a.d.Catalogue.Categories {
		out.Categories = append(out.Categories, shownCategory{category.Key, category.Title.In(locale)})
	}
	out.LoadedUntil, err = a.loadedUntil(ctx)
	return out, err
}

func columns(m *metric.Metric, locale string) (all []shownColumn) {
	for _, c := range m.Columns {
		all = append(all, shownColumn{c.Name, c.Title.In(locale), c.Role, c.Unit})
	}
	return all
}

// loadedUntil says how far the load of tickets has come: what was updated before is
// counted. nil: there was none yet.
func (a *API) loadedUntil(ctx context.Context) (*time.Time, error) {
	load, err := a.d.Store.Load(ctx, analytics.LiveLoad)
	if err != nil || load == nil {
		return nil, err
	}
	until := load.Reached.UTC().Truncate(time.Second)
	return &until, nil
}

// answeredMetric is a metric's numbers.
type answeredMetric struct {
	Name        string              `json:"name"`
	From        string              `json:"from"`
	To          string              `json:"to"`
	Zone        string              `json:"tz"`
	Step        metric.Step         `json:"step,omitempty"` // of times
	Columns     []shownColumn       `json:"columns"`
	Rows        [][]json.RawMessage `json:"rows"`
	LoadedUntil *time.Time          `json:"loaded_until"`
}

// metric answers with the numbers of one metric.
func (a *API) metric(ctx context.Context, c *call) (any, error) {
	m, ok := a.d.Metrics.Find(c.name)
	if !ok {
		return nil, refuse(http.StatusNotFound, "there is no such metric; /v1/metrics lists all")
	}
	q, err := a.question(c, m)
	if err != nil {
		return nil, err
	}
	if a.d.Analytics == nil {
		return nil, errNoAnalytics
	}
	res, err := m.Run(ctx, a.d.Analytics, q.Query)
	if err != nil {
		return nil, unanswered(err)
	}
	out := answeredMetric{
		Name: m.Name, From: q.From.Format(time.DateOnly), To: q.To.Format(time.DateOnly), Zone: q.Zone.String(), Step: res.Step,
		Columns: columns(m, q.locale), Rows: m.Named(res.Rows, q.locale, a.d.Catalogue),
	}
	if q.csv {
		return out.csv(c.header, q.locale)
	}
	out.LoadedUntil, err = a.loadedUntil(ctx)
	return out, err
}

// unanswered says why there are no numbers; the cause is for the log.
func unanswered(err error) error {
	p := refuse(http.StatusServiceUnavailable, "the database of analytics is away or not ready yet; try again in a moment")
	if errors.Is(err, metric.ErrSlow) {
		p = refuse(http.StatusGatewayTimeout, fmt.Sprintf("the metric took longer than %.0f seconds; ask for a shorter period", metric.MostTime.Seconds()))
	}
	return fmt.Errorf("%w (%w)", p, err)
}
