package notification_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/messenger"
	"supportbot/shared/metric"
	"supportbot/shared/notification"
)

// shelf is a store of one row for every metric, unless it has another one behind it.
type shelf struct {
	mu      sync.Mutex
	behind  metric.Store
	err     error
	asked   map[string]string // of the last query
	metrics *metric.Catalogue
}

func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *shelf) Select(ctx context.Context, query string, params map[string]string) (analytics.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = params
	if s.behind != nil || s.err != nil {
		if s.err != nil {
			return analytics.Result{}, s.err
		}
		return s.behind.Select(ctx, query, params)
	}
	if strings.HasSuffix(query, "FROM migrations") {
		return analytics.Result{Rows: [][]json.RawMessage{{json.RawMessage("4")}}}, nil
	}
	var res analytics.Result
	for _, m := range s.metrics.All() {
		if !strings.Contains(query, "FROM metric_"+m.Name+"\n") {
			continue
		}
		var row []json.RawMessage
		for _, c := range m.Columns {
			value := map[metric.Role]string{metric.Time: `"2026-01-01"`, metric.Value: "1.5", metric.Count: "2"}[c.Role]
			if value == "" {
				value = `"=HYPERLINK(1)"`
			}
			res.Columns, row = append(res.Columns, analytics.Column{Name: c.Name}), append(row, json.RawMessage(value))
		}
		res.Rows = append(res.Rows, row)
	}
	return res, nil
}

type metricAnswer struct {
	From, To, Zone string `json:",omitempty"`
	TZ             string
	Step           string
	Columns        []struct{ Name, Title, Role, Unit string }
	Rows           [][]any
	LoadedUntil    *time.Time `json:"loaded_until"`
}

// TestMetrics_List: what the page is made of, in its language.
func TestMetrics_List(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var list struct {
		Metrics []struct {
			Name, Title, Description, Unit, Chart string
			Parameters                            []string
			Columns                               []struct{ Name, Title, Role, Unit string }
		}
		Messengers  []string
		Categories  []struct{ Key, Title string }
		Zone        string
		LoadedUntil *time.Time `json:"loaded_until"`
	}
	d.call("GET", "/v1/metrics", nil, "X-API-Key", analystKey).into(&list)
	if len(list.Metrics) != len(d.shelf.metrics.All()) || list.Metrics[0].Title != "Обращения по мессенджерам" || list.Zone != "Europe/Moscow" {
		t.Errorf("list %+v", list)
	}
	if list.LoadedUntil != nil || !slices.Equal(list.Messengers, []string{"telegram", "vk"}) || list.Categories[0].Title != "Что-то не работает" {
		t.Errorf("list %+v", list)
	}
	d.exec(`INSERT INTO analytics_loads (name, since, reached, started_at) VALUES ('tickets', now(), '2026-11-30T01:00:00.5Z', now())`)
	d.call("GET", "/v1/metrics?locale=en", nil).into(&list)
	first := list.Metrics[0]
	if first.Title != "Tickets by messenger" || first.Columns[2].Title != "Tickets" || first.Columns[2].Unit != "tickets" || first.Columns[1].Unit != "" {
		t.Errorf("in English %+v", first)
	}
	if list.LoadedUntil == nil || !list.LoadedUntil.Equal(time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)) || list.Categories[0].Title != "Something is broken" {
		t.Errorf("in English until %v", list.LoadedUntil)
	}
}

// TestMetrics_Roles: analysts see numbers and no broadcasts, operators the other way
// round.
func TestMetrics_Roles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	analyst := d.session(d.person(`roles = '{analyst}'`, messenger.Telegram), "analyst")
	for _, path := range []string{"/v1/metrics", "/v1/metrics/backlog"} {
		if got := d.as(analyst, "GET", path); got.status != 200 {
			t.Errorf("%s as an analyst: %d %s", path, got.status, got.body)
		}
		if got := d.call("GET", path, nil, "X-API-Key", analystKey); got.status != 200 {
			t.Errorf("%s with an analyst's key: %d %s", path, got.status, got.body)
		}
		if got := d.call("GET", path, nil, "X-API-Key", operatorKey); got.status != 403 {
			t.Errorf("%s with an operator's key: %d %s", path, got.status, got.body)
		}
	}
	for _, path := range []string{"/v1/broadcasts", "/v1/broadcasts/1", "/v1/broadcasts/1/recipients"} {
		if got := d.as(analyst, "GET", path); got.status != 403 {
			t.Errorf("%s as an analyst: %d %s", path, got.status, got.body)
		}
	}
	if got := d.as(analyst, "GET", "/v1/session"); got.status != 200 {
		t.Errorf("an analyst's session: %d %s", got.status, got.body)
	}
}

// TestMetrics_Numbers: the numbers of a real ClickHouse, named, as JSON and as CSV.
func TestMetrics_Numbers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	rows, _ := clickhousetest.New(t)
	d.must(rows.Migrate(d.ctx, d.shelf.metrics.Views()...))
	d.shelf.behind = rows
	d.clock = time.Date(2026, 3, 9, 22, 0, 0, 0, time.UTC) // the 10th in Moscow
	opened := time.Date(2026, 3, 8, 22, 0, 0, 0, time.UTC)
	d.must(rows.InsertAgents(d.ctx, []analytics.Agent{{ID: "1", Name: "=Анна", SeenAt: opened}}))
	d.must(rows.InsertTickets(d.ctx, []analytics.Ticket{
		{Issue: "a", CreatedAt: opened, Messenger: "vk", Category: "billing", Assignee: "1", ResolvedAt: opened.Add(time.Hour)},
		{Issue: "b", CreatedAt: opened, Messenger: "telegram", Category: "idea", ResolvedAt: opened.Add(1500 * time.Millisecond)},
	}, opened))
	var got metricAnswer
	d.call("GET", "/v1/metrics/tickets_by_messenger", nil).into(&got)
	if got.From != "2026-02-09" || got.To != "2026-03-11" || got.TZ != "Europe/Moscow" || got.Step != "day" || len(got.Rows) != 60 {
		t.Errorf("the last thirty days: %s to %s, %d rows by %s of %s", got.From, got.To, len(got.Rows), got.Step, got.TZ)
	}
	if last := fmt.Sprint(got.Rows[56:]); last != "[[2026-03-09 Telegram 1] [2026-03-09 VK 1] [2026-03-10 Telegram 0] [2026-03-10 VK 0]]" {
		t.Errorf("rows end with %s", last)
	}
	got = metricAnswer{}
	d.call("GET", "/v1/metrics/tickets_by_category?from=2026-03-08&to=2026-03-09&tz=UTC&messenger=vk&category=billing&locale=en", nil).into(&got)
	if fmt.Sprint(got.Rows) != "[[Billing and payment VK 1]]" || got.TZ != "UTC" || got.Step != "" {
		t.Errorf("by category: %+v", got)
	}
	for accept, query := range map[string]string{"text/csv, */*;q=0.1": "", "": "&format=csv"} {
		res := d.call("GET", "/v1/metrics/resolution_time?from=2026-03-01&to=2026-04-01"+query, nil, "Accept", accept)
		text, marked := strings.CutPrefix(string(res.body), "\ufeff")
		lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		want := [][]string{{"Исполнитель", "Среднее, с", "Медиана, с", "Решено"}, {"без исполнителя", "1.5", "1.5", "1"}, {"'=Анна", "3600", "3600", "1"}}
		if diff := gocmp.Diff(want, lines); diff != "" || err != nil || !marked || !strings.HasSuffix(text, "\r\n") {
			t.Errorf("CSV %v, %v:\n%s", err, marked, diff)
		}
		if got := res.header.Get("Content-Disposition"); got != `attachment; filename="resolution_time_2026-03-01_2026-04-01.csv"` {
			t.Errorf("Content-Disposition %s", got)
		}
	}
}

// TestMetrics_Question: what reaches the database.
func TestMetrics_Question(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.call("GET", "/v1/metrics/overdue?from=2026-03-29&to=2026-03-30&tz=Europe/Berlin&category=", nil).into(&metricAnswer{})
	for name, want := range map[string]string{"from": "2026-03-28 23:00:00.000", "to": "2026-03-29 22:00:00.000", "tz": "Europe/Berlin", "messenger": ""} {
		if got := d.shelf.asked[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestMetrics_Refusals: a wrong parameter is named.
func TestMetrics_Refusals(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for query, want := range map[string]string{
		"from=yesterday":                        "/from invalid",
		"from=2026-02-30":                       "/from invalid",
		"from=1999-12-31&to=2000-01-01":         "/from invalid",
		"to=2100-01-02":                         "/to invalid",
		"from=2026-01-02&to=2026-01-02":         "/to invalid",
		"from=2026-01-02&to=2026-01-01":         "/to invalid",
		"from=2000-01-01&to=2026-01-01":         "/from invalid",
		"tz=Moscow":                             "/tz unknown",
		"tz=Local":                              "/tz unknown",
		"tz=posix/UTC":                          "/tz unknown",
		"tz=../../etc/passwd":                   "/tz unknown",
		"messenger=icq":                         "/messenger unknown",
		"category=" + url.QueryEscape("' OR 1"): "/category invalid",
		"locale=de":                             "/locale unknown",
		"format=xml":                            "/format unknown",
		"channel=vk":                            "/channel unknown",
		"tz=UTC&tz=UTC":                         "/tz duplicate",
		"tz=x&locale=de":                        "/locale unknown /tz unknown",
	} {
		got := d.call("GET", "/v1/metrics/backlog?"+query, nil)
		p := got.problem()
		var fields []string
		for _, f := range p.Errors {
			fields = append(fields, f.Pointer+" "+f.Code)
			if !strings.Contains(p.Detail, f.Pointer[1:]+": "+f.Message) {
				t.Errorf("%s: %q does not say %s", query, p.Detail, f.Message)
			}
		}
		if got.status != 400 || strings.Join(fields, " ") != want {
			t.Errorf("%s: %d %s, want %s", query, got.status, got.body, want)
		}
	}
	if got := d.call("GET", "/v1/metrics/messages?category=billing", nil); got.status != 400 || got.problem().Errors[0].Code != "unknown" {
		t.Errorf("a parameter of other metrics: %d %s", got.status, got.body)
	}
	if got := d.call("GET", "/v1/metrics?locale=de", nil); got.status != 400 {
		t.Errorf("a language of the list: %d %s", got.status, got.body)
	}
	for _, name := range []string{"nothing", "metric_backlog", "backlog.sql", "..backlog"} {
		if got := d.call("GET", "/v1/metrics/"+name, nil); got.status != 404 || !strings.Contains(got.problem().Detail, "/v1/metrics lists all") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// slow is ClickHouse's error of a query that takes too long.
type slow struct{}

func (slow) Error() string { return "code 159" }
func (slow) Timeout() bool { return true }

// TestMetrics_Away: what is not there is said; the cause is in the log.
func TestMetrics_Away(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.shelf.fail(errors.New("connection refused"))
	if got := d.call("GET", "/v1/metrics/backlog", nil); got.status != 503 || got.problem().Detail != "the database of analytics is away or not ready yet; try again in a moment" || got.header.Get("Retry-After") == "" {
		t.Errorf("away: %d %s", got.status, got.body)
	}
	if got := d.call("GET", "/v1/metrics", nil); got.status != 200 {
		t.Errorf("the list without ClickHouse: %d %s", got.status, got.body)
	}
	d.shelf.fail(fmt.Errorf("query: %w", slow{}))
	if got := d.call("GET", "/v1/metrics/backlog", nil); got.status != 504 || !strings.Contains(got.problem().Detail, "20 seconds; ask for a shorter period") {
		t.Errorf("slow: %d %s", got.status, got.body)
	}
	d.log.mu.Lock()
	said := d.log.text.String()
	d.log.mu.Unlock()
	if !strings.Contains(said, "connection refused") || !strings.Contains(said, "code 159") {
		t.Errorf("the log does not say why: %s", said)
	}
	d.deps.Analytics = nil
	d.api = notification.New(d.deps)
	for _, path := range []string{"/v1/metrics", "/v1/metrics/backlog"} {
		if got := d.call("GET", path, nil); got.status != 503 || !strings.Contains(got.problem().Detail, "CLICKHOUSE_URL") {
			t.Errorf("%s without ClickHouse: %d %s", path, got.status, got.body)
		}
	}
}
