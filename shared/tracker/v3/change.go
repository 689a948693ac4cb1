package v3

import (
	"context"
	"encoding/json"
	"net/http"

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
type commentRef string

func (r *commentRef) UnmarshalJSON(raw []byte) error {
	var w struct {
		ID      id  `json:"id"`
		Comment ref `json:"comment"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	*r = commentRef(w.ID)
	if w.Comment.ID != "" {
		*r = commentRef(w.Comment.ID)
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
		if f.Field.ID == "status" {
			ch.Status = &tracker.StatusChange{From: f.From.Key, To: f.To.Key}
		}
	}
	return ch
}

func ids(refs []commentRef) []string {
	var list []string
	for _, r := range refs {
		list = append(list, string(r))
	}
	return list
}
