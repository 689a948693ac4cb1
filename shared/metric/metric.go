// Package metric is the catalogue of what analysts look at. A metric is one file of
// SQL in the folder metrics, and nothing else: the API, the page and ClickHouse's views
// find it because it is there.
//
// A file has three parts. Its head, in comments, says what the metric is called, what
// exactly it counts, how it is drawn and what its columns are:
//
//	-- title.ru: Обращения по типам
//	-- title.en: Tickets by type
//	-- description.ru: Обращения, открытые за период...
//	--   a line that is set in goes on with the text before
//	-- description.en: ...
//	-- unit: tickets
//	-- chart: bar
//	-- order: 50
//	-- parameters: messenger, category
//	-- column type: category type | Тип | Type
//	-- column tickets: value tickets | Обращения | Tickets
//
// A column has a role (see Role), what its texts are names of (see Names) or its unit,
// and a title in each language. What is a name in this metric alone has a line of its
// own: "-- label outcome.sent: доставлено | delivered".
//
// Then the view metric_<name>, which DataLens or Grafana may read: a line "-- view:"
// with what a row is, a line "-- field <column>:" with what a column holds, and a
// SELECT without parameters that ends with a semicolon. It has a row for each fact, with
// its time in UTC (at).
//
// Then the query, a SELECT over the view with the columns of the head, in their order.
// Its parameters:
//
//	{from:DateTime64(3, 'UTC')}, {to:DateTime64(3, 'UTC')}   the period; to is excluded
//	{first_day:Date}, {end_day:Date}                         the same as local days
//	{now:DateTime64(3, 'UTC')}                               the present: what is open is open until then
//	{tz:String}                                              the zone whose days these are
//	{bucket:String}                                          day, week (from Monday) or month, by the period's length
//	{messenger:String}, {category:String}                    '' is all
//
// Metrics read facts so that rows which are there twice, or not merged yet, count once:
// tickets by tickets_latest, which also has the first answer, the rating's time and the
// path through the statuses, everything else with FINAL. Durations are added up in
// whole milliseconds and medians are exact, so that a number does not depend on the
// order of the rows.
package metric

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"supportbot/shared/analytics"
	"supportbot/shared/catalogue"
)

// Files are the metrics of the platform, for New.
//
//go:embed metrics/*.sql
var Files embed.FS

// Metric is one metric.
type Metric struct {
	Name        string
	Title       catalogue.Texts
	Description catalogue.Texts
	Unit        Unit
	Chart       Chart
	Parameters  []string // of Messenger and Category; period and zone every metric has
	Columns     []Column

	order  int
	labels map[string]map[string]catalogue.Texts // by column and value
	view   analytics.View
	query  string
}

// The parameters that a metric may have.
const (
	Messenger = "messenger"
	Category  = "category"
)

// Unit is what a number counts.
type Unit string

// The units. A share is from 0 to 1.
const (
	Tickets    Unit = "tickets"
	Stays      Unit = "stays"
	Seconds    Unit = "seconds"
	Stars      Unit = "stars"
	Share      Unit = "share"
	Messages   Unit = "messages"
	Recipients Unit = "recipients"
	Ratings    Unit = "ratings"
)

// counted reports whether the unit is of things, of which there are none where no row
// is.
func (u Unit) counted() bool { return u != Seconds && u != Stars && u != Share }

// Chart is how a metric is drawn.
type Chart string

// The charts.
const (
	Line    Chart = "line"
	Bar     Chart = "bar"
	Stacked Chart = "stacked"
	Heatmap Chart = "heatmap"
)

// Role is what a column is in a chart.
type Role string

// The roles. The first column is a Time or a Kind, of a heatmap the first two are Kinds;
// a Series may follow, then there are Values, then Counts that say how many the values
// are of.
const (
	Time   Role = "time" // a day: that on which the bucket begins
	Kind   Role = "category"
	Series Role = "series"
	Value  Role = "value"
	Count  Role = "count"
)

// Column is a column of a metric's result.
type Column struct {
	Name  string
	Role  Role
	Title catalogue.Texts
	Unit  Unit  // of values and counts
	Of    Names // of the others: what their texts are names of

	carry bool // a bucket without a row has what the one before has
}

// Catalogue is all metrics. It is immutable.
type Catalogue struct{ all []*Metric }

// New reads the metrics in the files metrics/*.sql. The error lists everything that is
// wrong, by file and line.
func New(files fs.FS) (*Catalogue, error) {
	names, err := fs.Glob(files, "metrics/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list metrics: %w", err)
	}
	c := &Catalogue{}
	var wrong []error
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read metric: %w", err)
		}
		m, err := parse(name, string(text))
		wrong = append(wrong, err)
		c.all = append(c.all, m)
	}
	slices.SortFunc(c.all, func(x, y *Metric) int {
		return cmp.Or(cmp.Compare(x.order, y.order), cmp.Compare(x.Name, y.Name))
	})
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return c, nil
}

// All gives the metrics in the order in which they are shown.
func (c *Catalogue) All() []*Metric { return c.all }

// Find gives a metric by its name.
func (c *Catalogue) Find(name string) (m *Metric, ok bool) {
	at := slices.IndexFunc(c.all, func(m *Metric) bool { return m.Name == name })
	if at < 0 {
		return nil, false
	}
	return c.all[at], true
}

// Views gives the view of each metric.
func (c *Catalogue) Views() (all []analytics.View) {
	for _, m := range c.all {
		all = append(all, m.view)
	}
	return all
}

// Takes reports whether the metric has a parameter.
func (m *Metric) Takes(parameter string) bool { return slices.Contains(m.Parameters, parameter) }

func nameOf(file string) string { return strings.TrimSuffix(path.Base(file), ".sql") }
