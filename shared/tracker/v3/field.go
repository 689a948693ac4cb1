package v3

import (
	"context"
	"net/http"
	"time"

	"supportbot/shared/tracker"
)

// queueFields are the ids of our local fields in one queue. Each queue has its
// own: "<24 hexadecimal digits>--<key>".
type queueFields struct {
	ids   map[tracker.Field]string
	until time.Time
}

// putFields adds fields under the ids that they have in the queue. A queue
// without one of them is Invalid: it has to be set up first.
func (c *Client) putFields(ctx context.Context, call, queue string, fields map[tracker.Field]string, body map[string]any) error {
	if len(fields) == 0 {
		return nil
	}
	ids, err := c.fieldIDs(ctx, queue)
	if err != nil {
		return err
	}
	for field, v := range fields {
		id, known := ids[field]
		if !known {
			return refuse(call, "queue %s has no local field %s: the queue is not set up", queue, field)
		}
		if v == "" {
			body[id] = nil
			continue
		}
		body[id] = v
	}
	return nil
}

// fieldIDs gives the ids of our fields in a queue. Only a complete set is kept: a
// queue that is being set up is asked again.
func (c *Client) fieldIDs(ctx context.Context, queue string) (map[tracker.Field]string, error) {
	c.mu.Lock()
	known := c.fields[queue]
	c.mu.Unlock()
	if c.cfg.Now().Before(known.until) {
		return known.ids, nil
	}
	var list []struct {
		ID  string `json:"id"`
		Key string `json:"key"`
	}
	path := []string{"v3", "queues", queue, "localFields"}
	if _, err := c.do(ctx, request{call: "list local fields", method: http.MethodGet, path: path}, &list); err != nil {
		return nil, err
	}
	byKey := map[string]string{}
	for _, f := range list {
		byKey[f.Key] = f.ID
	}
	ids := map[tracker.Field]string{}
	for _, f := range tracker.Fields {
		if id := byKey[string(f)]; id != "" {
			ids[f] = id
		}
	}
	if len(ids) == len(tracker.Fields) {
		c.mu.Lock()
		c.fields[queue] = queueFields{ids, c.cfg.Now().Add(c.cfg.FieldsTTL)}
		c.mu.Unlock()
	}
	return ids, nil
}

// suspect forgets a queue's field ids when Tracker refused a request that
// carried them: they may have been made anew.
func (c *Client) suspect(queue string, err error) {
	if tracker.KindOf(err) == tracker.Invalid {
		c.mu.Lock()
		delete(c.fields, queue)
		c.mu.Unlock()
	}
}
