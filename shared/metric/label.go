package metric

import (
	"encoding/json"
	"slices"

	"supportbot/shared/catalogue"
)

// Names says what the texts of a column are names of; "" is none, or what the labels of
// the metric's file say.
type Names string

// What columns have names of. Agents and statuses have the names that Tracker shows;
// types those that it has in each organization, and others are shown by their keys.
const (
	ofMessenger Names = "messenger"
	ofCategory  Names = "category"
	ofAgent     Names = "agent"
	ofStatus    Names = "status"
	ofType      Names = "type"
)

// words are names of keys that are the same everywhere; that of "" stands for nothing.
var words = map[Names]map[string]catalogue.Texts{
	ofMessenger: {
		"telegram": {catalogue.Russian: "Telegram", catalogue.English: "Telegram"},
		"vk":       {catalogue.Russian: "VK", catalogue.English: "VK"},
		"":         {catalogue.Russian: "не из мессенджера", catalogue.English: "not from a messenger"},
	},
	ofCategory: {"": {catalogue.Russian: "без категории", catalogue.English: "no category"}},
	ofAgent:    {"": {catalogue.Russian: "без исполнителя", catalogue.English: "no agent"}},
	ofStatus:   {"": {catalogue.Russian: "без статуса", catalogue.English: "no status"}},
	ofType: {
		"task":        {catalogue.Russian: "Задача", catalogue.English: "Task"},
		"bug":         {catalogue.Russian: "Ошибка", catalogue.English: "Bug"},
		"request":     {catalogue.Russian: "Запрос", catalogue.English: "Request"},
		"incident":    {catalogue.Russian: "Инцидент", catalogue.English: "Incident"},
		"improvement": {catalogue.Russian: "Улучшение", catalogue.English: "Improvement"},
		"question":    {catalogue.Russian: "Вопрос", catalogue.English: "Question"},
		"":            {catalogue.Russian: "без типа", catalogue.English: "no type"},
	},
}

func (n Names) known() bool { return words[n] != nil }

// Named puts names in place of the keys in the rows: what people read. Numbers, times
// and keys that nobody has named stay.
func (m *Metric) Named(rows [][]json.RawMessage, locale string, book *catalogue.Catalogue) [][]json.RawMessage {
	named := make([][]json.RawMessage, len(rows))
	for i, row := range rows {
		named[i] = slices.Clone(row)
		for j, c := range m.Columns {
			if c.Role == Kind || c.Role == Series {
				named[i][j] = m.name(c, row[j], locale, book)
			}
		}
	}
	return named
}

func (m *Metric) name(c Column, value json.RawMessage, locale string, book *catalogue.Catalogue) json.RawMessage {
	var key string
	if json.Unmarshal(value, &key) != nil {
		return value // a number
	}
	name, ok := words[c.Of][key]
	if label, own := m.labels[c.Name][key]; own {
		name, ok = label, true
	}
	if c.Of == ofCategory && !ok {
		var category catalogue.Category
		category, ok = book.Category(key)
		name = category.Title
	}
	if !ok {
		return value
	}
	text, _ := json.Marshal(name.In(locale)) // a text never fails
	return text
}
