package v3

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"supportbot/shared/tracker"
)

type changeWire struct {
	ID        id     `json:"id"`
	UpdatedAt moment `json:"updatedAt"`
	UpdatedBy ref    `json:"updatedBy"`
	Type      string `json:"type"`
	Fields    []struct {
		Field ref `json:"field"`
		From  ref `json:"from"` // no reference for fields that are not one
		To    ref `json:"to"`
	} `json:"fields"`
	Comments struct {
		Added   []commentRef `json:"added"`
		Removed []commentRef `json:"removed"`
		Updated []commentRef `json:"updated"`
	} `json:"comments"`
}

// commentRef names a comment: {id}, or for edits {comment: {id}, from, to}.
// Anything else names none.
type commentRef struct {
	id       string
	from, to *string
}

func (r *commentRef) UnmarshalJSON(raw []byte) error {
	var w struct {
		ID      id      `json:"id"`
		Comment ref     `json:"comment"`
		From    *string `json:"from"`
		To      *string `json:"to"`
	}
	if json.Unmarshal(raw, &w) != nil {
		return nil //nolint:nilerr // what cannot be read names no comment
	}
	*r = commentRef{string(w.ID), w.From, w.To}
	if w.Comment.ID != "" {
		r.id = string(w.Comment.ID)
	}
	return nil
}

// Changes gives an issue's changelog after the entry with the id after ("" = from
// the first), oldest first. It is a second or two behind writes. One call per 50
// entries.
func (c *Client) Changes(ctx context.Context, issue, after string) ([]tracker.Change, error) {
	wires, err := list(ctx, c, request{
		call: "list changes", method: http.MethodGet, path: issuePath(issue, "changelog"),
	}, after, func(w changeWire) string { return string(w.ID) })
	if err != nil {
		return nil, err
	}
	changes := make([]tracker.Change, 0, len(wires))
	for _, w := range wires {
		changes = append(changes, w.change())
	}
	return changes, nil
}

func (w changeWire) change() tracker.Change {
	ch := tracker.Change{
		ID: string(w.ID), At: w.UpdatedAt.Time, Author: string(w.UpdatedBy.ID), Type: w.Type,
		Added: ids(w.Comments.Added), Updated: ids(w.Comments.Updated), Removed: ids(w.Comments.Removed),
	}
	for _, f := range w.Fields {
		ch.Fields = append(ch.Fields, tracker.FieldChange{Field: fieldName(f.Field.ID), From: f.From.value(), To: f.To.value()})
		if f.Field.ID == "status" {
			ch.Status = &tracker.StatusChange{From: f.From.Key, To: f.To.Key}
		}
	}
	for _, r := range w.Comments.Updated {
		if r.id != "" && r.from != nil && r.to != nil {
			ch.Edits = append(ch.Edits, tracker.CommentEdit{Comment: r.id, From: *r.from, To: *r.to})
		}
	}
	return ch
}

// fieldName takes the queue's prefix off a local field's id.
func fieldName(field id) string {
	if _, key, local := strings.Cut(string(field), "--"); local {
		return key
	}
	return string(field)
}

func ids(refs []commentRef) []string {
	var list []string
	for _, r := range refs {
		if r.id != "" {
			list = append(list, r.id)
		}
	}
	return list
}
