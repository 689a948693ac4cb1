package console_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// column is a column of a metric, as the API describes it.
type column struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Role  string `json:"role"`
	Unit  string `json:"unit,omitempty"`
}

// metric is a metric of the fake; keys are those of its categories, series of its series.
type metric struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Unit        string   `json:"unit"`
	Chart       string   `json:"chart"`
	Parameters  []string `json:"parameters"`
	Columns     []column `json:"columns"`

	keys, series []any
	scale        float64 // of its values
}

var (
	agents     = []any{"Анна Петрова", "Иван Кузнецов", "Мария Очень-Длинная-Фамилия", "Олег Смирнов", "Светлана Ким", "Тимур Ахметов", "без исполнителя", "Яна Белова", "Пётр Ильин", "Глеб Орлов", "Ирина Зимина", "Lars Ødegård"}
	categories = []any{"Оплата", "Доставка", "Вход и пароль", "Возврат", "Ошибка в приложении", "Предложение", "Жалоба", "Документы", "Партнёрам", "Другое"}
	both       = []string{"messenger", "category"}
)

// metrics are like those of the platform; one for each way to be drawn.
func metrics() []metric {
	over := column{"time", "Когда открыто", "time", ""}
	tickets := column{"tickets", "Обращения", "value", "tickets"}
	agent := column{"agent", "Исполнитель", "category", ""}
	return []metric{
		{Name: "tickets_by_messenger", Title: "Обращения по мессенджерам", Unit: "tickets", Chart: "stacked", Parameters: both, scale: 80,
			Columns: []column{over, {"messenger", "Мессенджер", "series", ""}, tickets}, series: []any{"Telegram", "VK", "не из мессенджера"}},
		{Name: "tickets_by_category", Title: "Обращения по категориям", Unit: "tickets", Chart: "stacked", Parameters: both, scale: 900,
			Columns: []column{{"category", "Категория", "category", ""}, {"messenger", "Мессенджер", "series", ""}, tickets}, keys: categories, series: []any{"Telegram", "VK"}},
		{Name: "categories_in_time", Title: "Категории во времени", Unit: "tickets", Chart: "stacked", Parameters: both, scale: 20,
			Columns: []column{over, {"category", "Категория", "series", ""}, tickets}, series: categories},
		{Name: "load_by_hour", Title: "Нагрузка по часам и дням недели", Unit: "tickets", Chart: "heatmap", Parameters: both, scale: 40,
			Columns: []column{{"weekday", "День недели", "category", ""}, {"hour", "Час", "category", ""}, tickets}},
		{Name: "first_response", Title: "Время до первого ответа", Unit: "seconds", Chart: "line", Parameters: both, scale: 9000,
			Columns: []column{over, {"mean", "Среднее", "value", "seconds"}, {"median", "Медиана", "value", "seconds"}, {"answered", "С ответом", "count", "tickets"}, {"unanswered", "Без ответа", "count", "tickets"}}},
		{Name: "resolution_time", Title: "Время решения по исполнителям", Unit: "seconds", Chart: "bar", Parameters: both, scale: 200000,
			Columns: []column{agent, {"mean", "Среднее", "value", "seconds"}, {"median", "Медиана", "value", "seconds"}, {"tickets", "Решено", "count", "tickets"}}, keys: agents},
		{Name: "ratings", Title: "Оценки по исполнителям", Unit: "stars", Chart: "bar", Parameters: both, scale: 5,
			Columns: []column{agent, {"mean", "Средняя оценка", "value", "stars"}, {"ratings", "Оценок", "count", "ratings"}}, keys: agents},
		{Name: "overdue", Title: "Доля просроченных", Unit: "share", Chart: "line", Parameters: both, scale: 0.3,
			Columns: []column{over, {"overdue", "Всего", "value", "share"}, {"by_deadline", "По сроку", "value", "share"}, {"by_sla", "По SLA", "value", "share"}, {"tickets", "Обращений", "count", "tickets"}}},
		{Name: "backlog", Title: "Открытые обращения", Unit: "tickets", Chart: "line", Parameters: both, scale: 300,
			Columns: []column{over, {"open", "Открыто", "value", "tickets"}}},
		{Name: "broadcasts", Title: "Исход рассылок", Unit: "recipients", Chart: "stacked", Parameters: both[:1], scale: 90000,
			Columns: []column{over, {"outcome", "Исход", "series", ""}, {"recipients", "Получатели", "value", "recipients"}}, series: []any{"доставлено"}},
	}
}

// charts is the API that the page of charts works with, and what the test may ask of it.
type charts struct {
	mu      sync.Mutex
	refused map[string]int // status by metric; "" is the list of them
	held    chan struct{}  // closed when answers may go
	running int
	most    int           // that ran at a time
	age     time.Duration // of what was loaded last
	asked   []string      // the questions, in the order in which they came
	gone    int           // callers who did not wait for the answer
}

func newCharts() *charts {
	c := &charts{refused: map[string]int{}, held: make(chan struct{}), age: 20 * time.Minute}
	close(c.held)
	return c
}

func (c *charts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	role := r.Header.Get("X-Session") // the fake's tokens are roles
	name, found := strings.CutPrefix(r.URL.Path, "/v1/metrics")
	switch {
	case strings.HasPrefix(r.URL.Path, "/stage/"):
		c.stage(w, r)
	case r.URL.Path == "/v1/session" && r.Method == http.MethodPost:
		var in struct{ Code string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		answer(w, map[string]any{"person": 1, "roles": []string{in.Code}, "token": in.Code, "expires_at": time.Now().Add(time.Hour)})
	case r.URL.Path == "/v1/session":
		answer(w, map[string]any{"person": 1, "roles": []string{role}, "expires_at": time.Now().Add(time.Hour)})
	case r.URL.Path == "/v1/jobs/replay" && role == "admin": // the badge
		answer(w, map[string]any{"chosen": 0, "replayed": 0, "more": false})
	case r.URL.Path == "/v1/broadcasts":
		answer(w, map[string]any{"broadcasts": []any{}})
	case found && (role == "admin" || role == "analyst"):
		c.metrics(w, r, strings.TrimPrefix(name, "/"))
	default:
		problem(w, http.StatusForbidden, "this needs one of the roles admin, analyst")
	}
}

// stage does what the test asks for.
func (c *charts) stage(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var in struct {
		Metric  string
		Status  int
		Minutes int
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	switch r.URL.Path {
	case "/stage/refuse":
		c.refused[in.Metric] = in.Status
	case "/stage/loaded":
		c.age = time.Duration(in.Minutes) * time.Minute
	case "/stage/hold":
		c.held = make(chan struct{})
	case "/stage/go":
		close(c.held)
	case "/stage/seen":
		answer(w, map[string]any{"asked": c.asked, "most": c.most, "gone": c.gone, "running": c.running})
		c.asked, c.most, c.gone = nil, c.running, 0
		return
	}
	answer(w, nil)
}

func (c *charts) metrics(w http.ResponseWriter, r *http.Request, name string) {
	c.mu.Lock()
	refused, held, loaded := c.refused[name], c.held, time.Now().Add(-c.age)
	if name != "" {
		c.running++
		c.most = max(c.most, c.running)
		c.asked = append(c.asked, name+"?"+r.URL.RawQuery)
	}
	c.mu.Unlock()
	if name != "" {
		select {
		case <-held:
		case <-r.Context().Done():
		}
		c.mu.Lock()
		c.running--
		if r.Context().Err() != nil {
			c.gone++
		}
		c.mu.Unlock()
	}
	i := slices.IndexFunc(metrics(), func(m metric) bool { return m.Name == name })
	switch {
	case refused != 0:
		problem(w, refused, "no ClickHouse is configured: set CLICKHOUSE_URL")
	case name == "":
		answer(w, list(loaded))
	case i < 0:
		problem(w, http.StatusNotFound, "there is no such metric")
	case r.URL.Query().Get("format") == "csv":
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		_, _ = fmt.Fprintf(w, "\ufeffКогда,Обращения\n%s,1\n", r.URL.Query().Get("from"))
	default:
		answer(w, metrics()[i].answer(r, loaded))
	}
}

func list(loaded time.Time) any {
	all := metrics()
	for i := range all {
		all[i].Description = "Обращения, открытые за период, по времени открытия: каждое считается один раз, сколько бы раз его ни открывали заново."
	}
	return map[string]any{
		"metrics": all, "messengers": []string{"telegram", "vk"}, "zone": "Europe/Moscow", "loaded_until": loaded,
		"categories": []map[string]string{{"key": "billing", "title": "Оплата"}, {"key": "delivery", "title": "Доставка"}},
	}
}

// answer makes up rows: the same for the same question.
func (m metric) answer(r *http.Request, loaded time.Time) any {
	q := r.URL.Query()
	from, _ := time.Parse(time.DateOnly, q.Get("from"))
	to, _ := time.Parse(time.DateOnly, q.Get("to"))
	step := "day"
	if to.Sub(from) > 62*24*time.Hour {
		step = "week"
	}
	rows := [][]any{}
	for _, x := range m.places(from, to, step) {
		for _, s := range append(slices.Clone(m.series), nil)[:max(1, len(m.series))] {
			row := slices.Clone(x)
			if m.series != nil {
				row = append(row, s)
			}
			for _, c := range m.Columns[len(row):] {
				row = append(row, m.number(c, fmt.Sprint(row, c.Name, q.Get("messenger"), q.Get("category"), q.Get("tz"))))
			}
			rows = append(rows, row)
		}
	}
	if from.Year() < 2010 {
		rows = nil // there was nothing yet
	}
	return map[string]any{"name": m.Name, "from": q.Get("from"), "to": q.Get("to"), "tz": q.Get("tz"), "step": step, "columns": m.Columns, "rows": append([][]any{}, rows...), "loaded_until": loaded}
}

// places gives the begins of rows: what stands along the axis.
func (m metric) places(from, to time.Time, step string) (all [][]any) {
	switch {
	case m.Chart == "heatmap":
		for i := range 7 * 24 {
			all = append(all, []any{1 + i/24, i % 24})
		}
	case m.keys != nil:
		for _, k := range m.keys {
			all = append(all, []any{k})
		}
	default:
		days := map[string]int{"day": 1, "week": 7}[step]
		if step == "week" {
			from = from.AddDate(0, 0, -(int(from.Weekday())+6)%7)
		}
		for day := from; day.Before(to) && day.Before(time.Now().Add(24*time.Hour)); day = day.AddDate(0, 0, days) {
			all = append(all, []any{day.Format(time.DateOnly)})
		}
	}
	return all
}

// number is a value between nothing and the metric's scale; some values there are none.
func (m metric) number(c column, of string) any {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(m.Name + of))
	part := float64(sum.Sum32()%1000) / 1000
	if c.Unit != "share" && c.Unit != "seconds" && c.Unit != "stars" {
		return int(max(m.scale, 20) * part)
	}
	if part < 0.02 {
		return nil
	}
	return m.scale * (0.3 + 0.7*part)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": status, "detail": detail})
}
