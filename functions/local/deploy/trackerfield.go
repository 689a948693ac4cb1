package deploy

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"supportbot/shared/tracker"
	v3 "supportbot/shared/tracker/v3"
)

// fieldNames are what the local fields are called in Tracker, Russian and English.
var fieldNames = map[tracker.Field][2]string{
	tracker.FieldMessenger: {"Поддержка: мессенджер", "Support: messenger"},
	tracker.FieldBot:       {"Поддержка: бот", "Support: bot"},
	tracker.FieldChat:      {"Поддержка: чат", "Support: chat"},
	tracker.FieldUser:      {"Поддержка: клиент", "Support: customer"},
	tracker.FieldNickname:  {"Поддержка: ник", "Support: nickname"},
	tracker.FieldName:      {"Поддержка: имя", "Support: name"},
	tracker.FieldLocale:    {"Поддержка: язык", "Support: language"},
	tracker.FieldCategory:  {"Поддержка: тема", "Support: category"},
	tracker.FieldRating:    {"Поддержка: оценка", "Support: rating"},
	tracker.FieldRemark:    {"Поддержка: отзыв", "Support: remark"},
}

// What a local field is made of (Tracker API, "Create a local field"). The category
// is that of Tracker's own fields; another one is taken where it is missing.
const (
	fieldType     = "ru.yandex.startrek.core.fields.StringFieldType"
	fieldCategory = "000000000000000000000003"
)

// fields are the local fields of a queue, which are made where they are missing. A
// field of another type cannot be changed.
func (t *trackerQueues) fields(ctx context.Context, queue string) ([]Setting, error) {
	var there []struct {
		Key    string `json:"key"`
		Schema struct {
			Type string `json:"type"`
		} `json:"schema"`
	}
	if err := read(ctx, t.robot, "list local fields", &there, "queues", queue, "localFields"); err != nil {
		return nil, err
	}
	kinds := map[string]string{}
	for _, f := range there {
		kinds[f.Key] = f.Schema.Type
	}
	var all []Setting
	for _, field := range tracker.Fields {
		s := Setting{Name: "field " + string(field) + " of " + queue, Now: kinds[string(field)], Want: "string"}
		if s.Now == "" {
			s.Set = func(ctx context.Context) error { return t.makeField(ctx, queue, field) }
		}
		s.Advice = map[bool]string{false: "Delete the field in the queue's settings, which loses its values, and run make connect."}[s.Now == ""]
		all = append(all, s)
	}
	return all, nil
}

func (t *trackerQueues) makeField(ctx context.Context, queue string, field tracker.Field) error {
	category, err := t.category(ctx)
	if err != nil {
		return err
	}
	names := fieldNames[field]
	err = t.change(ctx, v3.Managed{
		Call: "create local field", Method: http.MethodPost, Path: []string{"queues", queue, "localFields"},
		Body: map[string]any{
			"id": string(field), "name": map[string]string{"ru": names[0], "en": names[1]}, "category": category, "type": fieldType,
		},
	})
	if tracker.KindOf(err) == tracker.Conflict { // made a moment ago, and the list does not have it yet
		return nil
	}
	return err
}

func (t *trackerQueues) category(ctx context.Context) (string, error) {
	var all []reference
	if err := read(ctx, t.owner, "list categories", &all, "fields", "categories"); err != nil {
		return "", err
	}
	if len(all) == 0 || slices.ContainsFunc(all, func(c reference) bool { return c.id == fieldCategory }) {
		return fieldCategory, nil
	}
	return all[0].id, nil
}

// change is a call that changes a queue, as its owner.
func (t *trackerQueues) change(ctx context.Context, m v3.Managed) error {
	return t.owner.Manage(ctx, m, nil)
}

// read reads what is at a path; the last part may have a query.
func read(ctx context.Context, c *v3.Client, call string, out any, path ...string) error {
	m := v3.Managed{Call: call, Method: http.MethodGet, Path: slices.Clone(path)}
	last := len(path) - 1
	if part, query, has := strings.Cut(path[last], "?"); has {
		m.Path[last] = part
		m.Query, _ = url.ParseQuery(query) // a constant
	}
	return c.Manage(ctx, m, out)
}

// reference is how Tracker names something: a text, a number, or an object with id
// and key.
type reference struct{ id, key string }

// UnmarshalJSON implements json.Unmarshaler.
func (r *reference) UnmarshalJSON(raw []byte) error {
	var object struct{ ID, Key, Login json.RawMessage }
	if json.Unmarshal(raw, &object) == nil && (object.ID != nil || object.Key != nil) {
		r.id, r.key = word(object.ID), word(object.Key)
		if r.id == "" {
			r.id = r.key
		}
		return nil
	}
	r.id = word(raw)
	r.key = r.id
	return nil
}

// word reads a text or a number.
func word(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var number json.Number
	_ = json.Unmarshal(raw, &number) // of anything else: none
	return number.String()
}
