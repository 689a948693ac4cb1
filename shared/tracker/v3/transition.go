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

// Transit takes a step. One that the present status does not allow is NotFound; one
// that wants something besides, as steps to a final status want a resolution, is
// Invalid. After Uncertain, read the issue.
func (c *Client) Transit(ctx context.Context, issue, id string) error {
	_, err := c.do(ctx, request{
		call: "execute transition", method: http.MethodPost, path: issuePath(issue, "transitions", id, "_execute"),
		body: map[string]any{}, write: true, personal: true, // "{}" rather than nothing
	}, nil)
	return err
}
