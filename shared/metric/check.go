package metric

import (
	"regexp"
	"slices"
	"strings"

	"supportbot/shared/catalogue"
)

var (
	units  = []Unit{Tickets, Stays, Seconds, Stars, Share, Messages, Recipients, Ratings}
	charts = []Chart{Line, Bar, Stacked, Heatmap}

	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	selectForm = regexp.MustCompile(`(?i)^(--.*\n\s*)*(SELECT|WITH)\s`)
	settings   = regexp.MustCompile(`(?im)^\s*(SETTINGS|FORMAT)\s`)
	holeForm   = regexp.MustCompile(`\{(\w+):`)
)

// check looks whether a metric is whole.
func (f *file) check() {
	if !nameForm.MatchString(f.m.Name) {
		f.bad(1, "the file's name has to be of a-z, 0-9 and _, and .sql")
	}
	f.checkTexts("title", f.m.Title)
	f.checkTexts("description", f.m.Description)
	f.checkUnit("unit", f.m.Unit)
	if !slices.Contains(charts, f.m.Chart) {
		f.bad(f.at("chart"), "chart has to be one of %v", charts)
	}
	for _, p := range f.m.Parameters {
		if p != Messenger && p != Category {
			f.bad(f.at("parameters"), "parameters are messenger, category, and not %q", p)
		}
	}
	f.checkColumns()
	f.checkView()
	f.checkQuery()
}

// at gives the line of a key, or the first.
func (f *file) at(key string) int { return max(f.lines[key], 1) }

func (f *file) checkTexts(what string, texts catalogue.Texts) {
	for _, language := range catalogue.Languages {
		if texts[language] == "" {
			f.bad(1, "%s.%s is missing", what, language)
		}
	}
	for language := range texts {
		if !slices.Contains(catalogue.Languages, language) {
			f.bad(f.at(what+"."+language), "%s.%s: languages are %s", what, language, strings.Join(catalogue.Languages, ", "))
		}
	}
}

func (f *file) checkUnit(key string, u Unit) {
	if !slices.Contains(units, u) {
		f.bad(f.at(key), "%s: a unit has to be one of %v", key, units)
	}
}

// places says which role may stand where.
var places = []Role{Time, Kind, Series, Value, Count}

func (f *file) checkColumns() {
	number := map[Role]int{}
	place := 0
	for _, c := range f.m.Columns {
		key := "column " + c.Name
		number[c.Role]++
		at := slices.Index(places, c.Role)
		switch {
		case at < 0:
			f.bad(f.at(key), "%s: a role has to be one of %v", key, places)
		case at < place:
			f.bad(f.at(key), "%s: columns stand in the order %v", key, places)
		case c.Role == Value || c.Role == Count:
			f.checkUnit(key, c.Unit)
		case c.Of != "" && !c.Of.known():
			f.bad(f.at(key), "%s: nobody knows the names of %q", key, c.Of)
		}
		place = max(place, at)
	}
	for column := range f.m.labels {
		if !slices.ContainsFunc(f.m.Columns, func(c Column) bool { return c.Name == column && c.Unit == "" && c.Of == "" }) {
			f.bad(1, "label %s: there is no column of this name whose texts have no other names", column)
		}
	}
	kinds := 1
	if f.m.Chart == Heatmap {
		kinds = 2
	}
	switch {
	case number[Time]+number[Kind] != kinds || number[Time] > 0 && number[Kind] > 0:
		f.bad(1, "a chart has one column that is a time or a category, a heatmap two categories")
	case number[Value] == 0 || f.m.Chart == Heatmap && number[Value] != 1:
		f.bad(1, "a chart has a value, a heatmap has one")
	case number[Series] > 1 || number[Series] == 1 && number[Value] != 1:
		f.bad(1, "a chart has at most one series, and then one value")
	}
}

func (f *file) checkView() {
	v, line := f.m.view, f.at("the view")
	if v.Comment == "" {
		f.bad(1, "view is missing: what a row of it is")
	}
	if v.Columns["at"] == "" {
		f.bad(1, "field at is missing: when it happened")
	}
	for name := range v.Columns {
		if !nameForm.MatchString(name) {
			f.bad(f.at("field "+name), "field %q: a name is of a-z, 0-9 and _", name)
		}
	}
	if !selectForm.MatchString(v.Query) {
		f.bad(line, "the view begins with SELECT")
	}
	if holes := holeForm.FindStringSubmatch(v.Query); holes != nil {
		f.bad(line, "the view has a parameter, %s", holes[1])
	}
}

// holes are the parameters that Run fills.
var holes = []string{"from", "to", "first_day", "end_day", "now", "tz", "bucket", Messenger, Category}

func (f *file) checkQuery() {
	q, line := f.m.query, f.at("the query")
	if !selectForm.MatchString(q) || !strings.Contains(q, f.m.view.Name) {
		f.bad(line, "the query begins with SELECT and reads %s", f.m.view.Name)
	}
	if settings.MatchString(q) {
		f.bad(line, "the query has SETTINGS or a FORMAT, which are said for all metrics")
	}
	used := map[string]bool{}
	for _, hole := range holeForm.FindAllStringSubmatch(q, -1) {
		if used[hole[1]] = true; !slices.Contains(holes, hole[1]) {
			f.bad(line, "nobody knows the parameter %s; there are %s", hole[1], strings.Join(holes, ", "))
		}
	}
	if period := (used["from"] || used["first_day"]) && (used["to"] || used["end_day"]); !period {
		f.bad(line, "the query does not ask for the period")
	}
	for _, p := range []string{Messenger, Category} {
		if used[p] != f.m.Takes(p) {
			f.bad(line, "%s is a parameter of the head or of the query alone", p)
		}
	}
}
