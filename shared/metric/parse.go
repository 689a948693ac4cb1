package metric

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"supportbot/shared/analytics"
	"supportbot/shared/catalogue"
)

// entry is a line of a head, with those that go on with it.
type entry struct {
	line       int
	key, value string
}

// file is a metric's file while it is read.
type file struct {
	name  string
	m     *Metric
	lines map[string]int // of each key
	wrong []error
}

func (f *file) bad(line int, format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Errorf("%s:%d: %s", f.name, line, fmt.Sprintf(format, args...)))
}

// parse reads a file; the error lists everything that is wrong with it.
func parse(name, text string) (*Metric, error) {
	f := &file{name: name, lines: map[string]int{}, m: &Metric{
		Name: nameOf(name), Title: catalogue.Texts{}, Description: catalogue.Texts{}, labels: map[string]map[string]catalogue.Texts{},
		view: analytics.View{Name: "metric_" + nameOf(name), Columns: map[string]string{}},
	}}
	entries, body, begin := f.split(text)
	for _, e := range entries {
		if first, twice := f.lines[e.key]; twice {
			f.bad(e.line, "%q is there already, in line %d", e.key, first)
			continue
		}
		f.lines[e.key] = e.line
		f.take(e)
	}
	f.statements(body, begin)
	f.check()
	f.m.view.Comment = f.m.Title[catalogue.English] + ". " + f.m.view.Comment
	return f.m, errors.Join(f.wrong...)
}

// split takes the head off; begin is the line of the body's first.
func (f *file) split(text string) (entries []entry, body string, begin int) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		said, comment := strings.CutPrefix(line, "--")
		switch {
		case !comment && strings.TrimSpace(line) != "":
			return entries, strings.Join(lines[i:], "\n"), i + 1
		case strings.TrimSpace(said) == "":
		case strings.HasPrefix(said, "  ") && len(entries) > 0:
			entries[len(entries)-1].value += " " + strings.TrimSpace(said)
		default:
			key, value, ok := strings.Cut(said, ":")
			if !ok {
				f.bad(i+1, "a line of the head has the form \"-- key: value\"")
				continue
			}
			entries = append(entries, entry{i + 1, strings.TrimSpace(key), strings.TrimSpace(value)})
		}
	}
	return entries, "", len(lines)
}

// take reads an entry of the head.
func (f *file) take(e entry) {
	what, name, _ := strings.Cut(e.key, " ")
	of, locale, _ := strings.Cut(e.key, ".")
	switch {
	case e.value == "":
		f.bad(e.line, "%q says nothing", e.key)
	case of == "title" && name == "":
		f.m.Title[locale] = e.value
	case of == "description" && name == "":
		f.m.Description[locale] = e.value
	case e.key == "unit":
		f.m.Unit = Unit(e.value)
	case e.key == "chart":
		f.m.Chart = Chart(e.value)
	case e.key == "order":
		n, err := strconv.Atoi(e.value)
		if err != nil {
			f.bad(e.line, "order has to be a number")
		}
		f.m.order = n
	case e.key == "parameters":
		f.m.Parameters = list(e.value)
	case e.key == "view":
		f.m.view.Comment = e.value
	case what == "column":
		f.column(e, name)
	case what == "label":
		f.label(e, name)
	case what == "field":
		f.m.view.Columns[name] = e.value
	default:
		f.bad(e.line, "nobody knows %q", e.key)
	}
}

// list splits at commas.
func list(text string) (all []string) {
	for _, item := range strings.Split(text, ",") {
		all = append(all, strings.TrimSpace(item))
	}
	return all
}

// column reads "value tickets carry | Обращения | Tickets".
func (f *file) column(e entry, name string) {
	is, title := f.titled(e)
	words := append(strings.Fields(is), "", "")
	c := Column{Name: name, Role: Role(words[0]), Title: title, carry: words[2] == "carry"}
	if c.Role == Value || c.Role == Count {
		c.Unit = Unit(words[1])
	} else {
		c.Of = Names(words[1])
	}
	if words[2] != "" && (!c.carry || c.Role != Value) || len(words) > 5 {
		f.bad(e.line, "column %s: %q is not understood", name, is)
	}
	f.m.Columns = append(f.m.Columns, c)
}

// label reads "outcome.sent: доставлено | delivered".
func (f *file) label(e entry, name string) {
	column, value, ok := strings.Cut(name, ".")
	_, title := f.titled(entry{e.line, e.key, "|" + e.value})
	if !ok {
		f.bad(e.line, "a label has the form \"-- label column.value: ... | ...\"")
		return
	}
	if f.m.labels[column] == nil {
		f.m.labels[column] = map[string]catalogue.Texts{}
	}
	f.m.labels[column][value] = title
}

// titled splits off a text in each language.
func (f *file) titled(e entry) (is string, title catalogue.Texts) {
	parts := strings.Split(e.value, "|")
	if len(parts) != 1+len(catalogue.Languages) {
		f.bad(e.line, "%s: a title in each of %s has to follow, each after a |", e.key, strings.Join(catalogue.Languages, ", "))
		return parts[0], nil
	}
	title = catalogue.Texts{}
	for i, language := range catalogue.Languages {
		if title[language] = strings.TrimSpace(parts[i+1]); title[language] == "" {
			f.bad(e.line, "%s: the title in %s is empty", e.key, language)
		}
	}
	return strings.TrimSpace(parts[0]), title
}

var end = regexp.MustCompile(`(?m);[ \t]*$`)

// statements reads the body: the view and the query.
func (f *file) statements(body string, line int) {
	cut := end.FindStringIndex(body)
	if cut == nil {
		f.bad(line, "after the head there is a SELECT for the view, which ends with a semicolon, and then the query")
		return
	}
	f.m.view.Query = strings.TrimSpace(body[:cut[0]])
	f.lines["the view"] = line
	rest := body[cut[1]:]
	f.lines["the query"] = line + strings.Count(body[:cut[1]], "\n") + strings.Count(rest[:len(rest)-len(strings.TrimLeft(rest, "\n"))], "\n")
	f.m.query = strings.TrimSpace(rest)
	if last := end.FindStringIndex(f.m.query); last != nil {
		if after := strings.TrimSpace(f.m.query[last[1]:]); after != "" {
			f.bad(f.lines["the query"], "there is something after the query")
		}
		f.m.query = f.m.query[:last[0]]
	}
}
