package v3

import (
	"context"
	"net/http"

	"supportbot/shared/tracker"
)

// Transitions gives the steps that the issue can take now. Their ids belong to
// the queue's workflow: choose by To.
func (c *Client) Transitions(ctx context.Context, issue string) ([]tracker.Transition, error) {
	var wires []struct {
		ID id  `json:"id"`
		To ref `json:"to"`
	}
	_, err := c.do(ctx, request{call: "list transitions", method: http.MethodGet, path: issuePath(issue, "transitions")}, &wires)
	if err != nil {
		return nil, err
	}
	list := make([]tracker.Transition, 0, len(wires))
	for _, w := range wires {
		list = append(list, tracker.Transition{ID: string(w.ID), To: w.To.Key})
	}
	return list, nil
}

// Transit takes a step. Steps to a final status usually want a resolution, others
// refuse one; resolution and comment may be empty. A step that the present status
// does not allow is NotFound, a missing resolution Invalid. After Uncertain, read
// the issue.
func (c *Client) Transit(ctx context.Context, issue, id, resolution, comment string) error {
	body := map[string]any{} // "{}" rather than nothing
	if resolution != "" {
		body["resolution"] = resolution
	}
	if comment != "" {
		body["comment"] = comment
	}
	_, err := c.do(ctx, request{
		call: "execute transition", method: http.MethodPost, path: issuePath(issue, "transitions", id, "_execute"),
		body: body, write: true, personal: true,
	}, nil)
	return err
}
