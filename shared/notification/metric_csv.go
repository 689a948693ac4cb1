package notification

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"supportbot/shared/catalogue"
	"supportbot/shared/metric"
)

var inSeconds = catalogue.Texts{catalogue.Russian: ", с", catalogue.English: ", s"}

// text is an answer that is no JSON; its Content-Type has been set.
type text []byte

// csv writes the rows for a spreadsheet: UTF-8 with a mark, by which Excel knows it,
// below the titles of the columns (RFC 4180). A spreadsheet shows no unit by itself, so
// durations have theirs in the title.
func (m answeredMetric) csv(header http.Header, locale string) (text, error) {
	var out bytes.Buffer
	out.WriteString("\ufeff")
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	line := make([]string, len(m.Columns))
	for i, c := range m.Columns {
		line[i] = harmless(c.Title)
		if c.Unit == metric.Seconds {
			line[i] += inSeconds.In(locale)
		}
	}
	err := w.Write(line)
	for _, row := range m.Rows {
		for i, value := range row {
			line[i] = cell(value)
		}
		if err == nil {
			err = w.Write(line)
		}
	}
	if w.Flush(); err != nil {
		return nil, fmt.Errorf("write CSV: %w", err)
	}
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", m.Name+"_"+m.From+"_"+m.To+".csv"))
	return out.Bytes(), nil
}

// cell gives a value as a spreadsheet reads it: what there is none of is empty.
func cell(value json.RawMessage) string {
	var words string
	switch {
	case string(value) == "null":
		return ""
	case json.Unmarshal(value, &words) == nil:
		return harmless(words)
	}
	return string(value) // a number
}

// harmless makes a text one that no spreadsheet takes for a formula: a name may begin
// with an equals sign (OWASP, "CSV Injection").
func harmless(words string) string {
	if words != "" && strings.ContainsRune("=+-@\t\r\n", rune(words[0])) {
		return "'" + words
	}
	return words
}
