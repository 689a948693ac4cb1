package metric_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"supportbot/shared/analytics"
	"supportbot/shared/catalogue"
	"supportbot/shared/clickhouse/clickhousetest"
	"supportbot/shared/metric"
)

// What others rely on is there, in this order; there may be more.
func TestNames(t *testing.T) {
	t.Parallel()
	grown, err := metric.New(with(t, "priorities.sql", more))
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range []*metric.Catalogue{metrics(t), grown} {
		at := -1
		for _, name := range []string{
			"tickets_by_messenger", "tickets_by_category", "tickets_by_type", "load_by_hour", "first_response", "resolution_time", "ratings",
			"overdue", "reopened", "time_in_status", "backlog", "messages", "broadcasts",
		} {
			next := place(all, name)
			if next <= at {
				t.Errorf("%s is at %d, after %d", name, next, at)
			}
			at = next
		}
	}
}

// place is where a metric stands among all; -1: nowhere.
func place(all *metric.Catalogue, name string) int {
	return slices.IndexFunc(all.All(), func(m *metric.Metric) bool { return m.Name == name })
}

// Every metric's view says what it and its columns hold, and its query gives the columns
// of its head, of which numbers are numbers.
func TestMetrics_AreWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.open("2026-01-01").status("2026-01-02", "resolved")
	d.load()
	book, err := catalogue.Load(catalogue.Config{Queue: "SUP"})
	d.must(err)
	views := clickhousetest.Rows(t, d.db, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View' AND startsWith(name, 'metric_') AND comment != ''")
	for _, m := range d.metrics.All() {
		if !slices.Contains(views, "('metric_"+m.Name+"')") {
			t.Errorf("%s has no view with a comment: %v", m.Name, views)
		}
		for _, language := range catalogue.Languages {
			for what, texts := range map[string]catalogue.Texts{"title": m.Title, "description": m.Description} {
				if texts[language] == "" || language != catalogue.Russian && texts[language] == texts[catalogue.Russian] {
					t.Errorf("%s: %s in %s is %q", m.Name, what, language, texts[language])
				}
			}
		}
		res, err := m.Run(ctx, d.db, d.query(january))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, row := range m.Named(res.Rows, catalogue.English, book) {
			for i, c := range m.Columns {
				number := !strings.HasPrefix(string(row[i]), `"`)
				if (c.Role == metric.Value || c.Role == metric.Count) != number && c.Name != "weekday" && c.Name != "hour" {
					t.Errorf("%s: %s is %s", m.Name, c.Name, row[i])
				}
			}
		}
	}
	for _, q := range []string{
		"SELECT table, name FROM system.columns WHERE database = currentDatabase() AND startsWith(table, 'metric_') AND comment = ''",
		"SELECT table, name FROM system.columns WHERE database = currentDatabase() AND startsWith(table, 'metric_') AND match(name, 'chat|user|phone|nick|text|summary|remark')",
	} {
		if got := clickhousetest.Rows(t, d.db, q); len(got) > 0 {
			t.Errorf("%s: %v", q, got)
		}
	}
}

// more is a metric of somebody's own.
const more = `-- title.ru: Приоритеты
-- title.en: Priorities
-- description.ru: Обращения, открытые за период,
--   по приоритету.
-- description.en: Tickets opened in the period by priority.
-- unit: tickets
-- chart: bar
-- order: 35
-- parameters: messenger
--
-- column priority: category | Приоритет | Priority
-- column tickets: value tickets | Обращения | Tickets
-- label priority.normal: обычный | normal
--
-- view: Tickets; a row for each
-- field at: When it was opened
-- field messenger: telegram, vk
-- field priority: Key of the priority
SELECT created_at AS at, messenger, priority FROM tickets_latest;

-- why
SELECT priority, count() AS tickets FROM metric_priorities
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')} AND messenger IN ({messenger:String}, 'vk')
GROUP BY priority;
`

// with gives the platform's files and another one.
func with(t *testing.T, name, text string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{"metrics/" + name: {Data: []byte(text)}}
	all, err := metric.Files.ReadDir("metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		data, err := metric.Files.ReadFile("metrics/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		files["metrics/"+f.Name()] = &fstest.MapFile{Data: data}
	}
	return files
}

// A metric is one file: with it there are its view and its numbers, without it there
// are not.
func TestOneFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.open("2026-01-01", in("vk", ""))
	d.load()
	before := d.metrics
	var err error
	d.metrics, err = metric.New(with(t, "priorities.sql", more))
	d.must(err)
	d.must(d.db.Migrate(ctx, d.metrics.Views()...))
	if n := len(d.metrics.All()); n != len(before.All())+1 || place(d.metrics, "priorities") < place(d.metrics, "tickets_by_type") || place(d.metrics, "priorities") > place(d.metrics, "load_by_hour") {
		t.Errorf("%d metrics, this one is number %d", n, place(d.metrics, "priorities"))
	}
	d.want("priorities", january, "normal 1")
	m, _ := d.metrics.Find("priorities")
	if got := m.Description.In("ru"); got != "Обращения, открытые за период, по приоритету." {
		t.Errorf("description %q", got)
	}
	res, err := m.Run(ctx, d.db, d.query(january))
	d.must(err)
	if got := line(m.Named(res.Rows, "ru", nil)[0]); got != "обычный 1" {
		t.Errorf("named %q", got)
	}
	there := "SELECT comment FROM system.columns WHERE database = currentDatabase() AND table = 'metric_priorities' AND name = 'priority'"
	equal(t, []string{"('Key of the priority')"}, clickhousetest.Rows(t, d.db, there))
	d.must(d.db.Migrate(ctx, before.Views()...))
	equal(t, nil, clickhousetest.Rows(t, d.db, there))
}

// What is wrong with a file is said with its line, all at once.
func TestNew_Problems(t *testing.T) {
	t.Parallel()
	change := func(old, other string) string {
		if !strings.Contains(more, old) {
			panic(old)
		}
		return strings.Replace(more, old, other, 1)
	}
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"empty":                 {"", []string{":1: after the head there is a SELECT", "title.ru is missing", "description.en is missing", "view is missing", "field at is missing"}},
		"no title in English":   {change("-- title.en: Priorities\n", ""), []string{":1: title.en is missing"}},
		"another language":      {change("title.en", "title.de"), []string{":1: title.en is missing", ":2: title.de: languages are ru, en"}},
		"empty value":           {change("Priorities", ""), []string{`:2: "title.en" says nothing`}},
		"twice":                 {change("title.en", "title.ru"), []string{`:2: "title.ru" is there already, in line 1`}},
		"unknown key":           {change("-- unit:", "-- units:"), []string{`:6: nobody knows "units"`, "unit: a unit has to be one of"}},
		"unknown unit":          {change("-- unit: tickets", "-- unit: ticket"), []string{":6: unit: a unit has to be one of"}},
		"unknown chart":         {change("bar", "pie"), []string{":7: chart has to be one of [line bar stacked heatmap]"}},
		"order":                 {change("35", "last"), []string{":8: order has to be a number"}},
		"unknown parameter":     {change("parameters: messenger", "parameters: messenger, agent"), []string{`:9: parameters are messenger, category, and not "agent"`}},
		"no key":                {change("-- unit: tickets", "-- tickets"), []string{":6: a line of the head has the form"}},
		"one title":             {change(" | Priority", ""), []string{":11: column priority: a title in each of ru, en has to follow"}},
		"unknown role":          {change("category |", "axis |"), []string{":11: column priority: a role has to be one of [time category series value count]"}},
		"unknown names":         {change("category |", "category priority |"), []string{`:11: column priority: nobody knows the names of "priority"`}},
		"unknown word":          {change("value tickets |", "value tickets always |"), []string{`:12: column tickets: "value tickets always" is not understood`}},
		"no value":              {change("value tickets |", "count tickets |"), []string{"a chart has a value"}},
		"no axis":               {change("category |", "series |"), []string{"a chart has one column that is a time or a category"}},
		"order of columns":      {change("category |", "value tickets |"), []string{"a chart has one column that is a time or a category"}},
		"label of no column":    {change("label priority.", "label prio."), []string{"label prio: there is no column"}},
		"label without value":   {change("label priority.normal", "label priority"), []string{":13: a label has the form"}},
		"no at":                 {change("-- field at: When it was opened\n", ""), []string{"field at is missing"}},
		"wrong field":           {change("field at", "field At!"), []string{`:16: field "At!"`}},
		"no view":               {change("-- view: Tickets; a row for each\n", ""), []string{"view is missing"}},
		"one statement":         {change("tickets_latest;", "tickets_latest"), []string{"the query begins with SELECT"}},
		"three statements":      {more + "SELECT 1", []string{":21: there is something after the query"}},
		"view with a parameter": {change("FROM tickets_latest", "FROM tickets_latest WHERE at > {from:Date}"), []string{":19: the view has a parameter, from"}},
		"view is no query":      {change("SELECT created_at", "DROP created_at"), []string{":19: the view begins with SELECT"}},
		"another view":          {change("FROM metric_priorities", "FROM tickets"), []string{":21: the query begins with SELECT and reads metric_priorities"}},
		"unknown hole":          {change("{messenger:String}", "{channel:String}"), []string{":21: nobody knows the parameter channel", ":21: messenger is a parameter of the head or of the query alone"}},
		"no period":             {change("{from:", "{now:"), []string{":21: the query does not ask for the period"}},
		"settings":              {change("GROUP BY priority;", "GROUP BY priority\nSETTINGS max_threads = 1"), []string{":21: the query has SETTINGS"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := metric.New(fstest.MapFS{"metrics/priorities.sql": {Data: []byte(tc.text)}})
			if err == nil {
				t.Fatal("got no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "metrics/priorities.sql:") {
					t.Errorf("got %v\nwant it to say %q", err, want)
				}
			}
		})
	}
	if _, err := metric.New(fstest.MapFS{"metrics/Priorities 1.sql": {Data: []byte(more)}}); err == nil || !strings.Contains(err.Error(), "file's name") {
		t.Errorf("a wrong name: %v", err)
	}
	if _, err := metric.New(with(t, "priorities.sql", more)); err != nil {
		t.Errorf("without a mistake: %v", err)
	}
}

// Names are those of a language; what has none stays as it is.
func TestNamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.open("2026-01-01", in("vk", "idea"))
	d.open("2026-01-01", in("", ""))
	d.open("2026-01-01", in("max", "gone")).set("2026-01-02", func(x *analytics.Ticket) { x.Type = "ownType" })
	d.load()
	book, err := catalogue.Load(catalogue.Config{Queue: "SUP"})
	d.must(err)
	for name, all := range map[string]map[string][]string{
		"tickets_by_category": {
			"ru": {"без категории не из мессенджера 1", "gone max 1", "Предложение VK 1"},
			"en": {"no category not from a messenger 1", "gone max 1", "An idea VK 1"},
		},
		"tickets_by_type": {"ru": {"Задача 2", "ownType 1"}, "en": {"Task 2", "ownType 1"}},
	} {
		m, _ := d.metrics.Find(name)
		res, err := m.Run(ctx, d.db, d.query(january))
		d.must(err)
		for locale, want := range all {
			var got []string
			for _, row := range m.Named(res.Rows, locale, book) {
				got = append(got, line(row))
			}
			equal(t, want, got)
		}
		if got := slices.Collect(maps.Keys(m.Title)); len(got) != len(catalogue.Languages) {
			t.Errorf("titles %v", got)
		}
	}
}
