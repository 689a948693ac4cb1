package v3

import (
	"context"
	"net/http"
	"net/url"

	"supportbot/shared/tracker"
)

// Comments gives an issue's comments after the one with the id after ("" = from
// the first), oldest first. The listing is a second or two behind writes.
// Attachments have an id and a name; where Tracker does not tell, Size is -1 (see
// Comment and Attachments). One call per 50 comments.
func (c *Client) Comments(ctx context.Context, issue, after string) ([]tracker.Comment, error) {
	wires, err := list(ctx, c, request{
		call: "list comments", method: http.MethodGet, path: issuePath(issue, "comments"),
		query: url.Values{"expand": {"attachments"}},
	}, after, func(w commentWire) string { return string(w.ID) })
	if err != nil {
		return nil, err
	}
	comments := make([]tracker.Comment, 0, len(wires))
	for _, w := range wires {
		comments = append(comments, w.comment())
	}
	return comments, nil
}

// Comment reads one comment, which does not lag. If it has files whose size
// Tracker did not tell, a second call reads the issue's attachments.
func (c *Client) Comment(ctx context.Context, issue, id string) (tracker.Comment, error) {
	var w commentWire
	_, err := c.do(ctx, request{
		call: "get comment", method: http.MethodGet, path: issuePath(issue, "comments", id),
		query: url.Values{"expand": {"attachments"}},
	}, &w)
	if err != nil {
		return tracker.Comment{}, err
	}
	m := w.comment()
	for _, a := range m.Attachments {
		if a.Size >= 0 {
			continue
		}
		if err := c.describe(ctx, issue, m.Attachments); err != nil {
			return tracker.Comment{}, err
		}
		break
	}
	return m, nil
}

// describe fills in what the issue's list of attachments knows.
func (c *Client) describe(ctx context.Context, issue string, files []tracker.Attachment) error {
	all, err := c.Attachments(ctx, issue)
	if err != nil {
		return err
	}
	for n, f := range files {
		for _, a := range all {
			if a.ID == f.ID {
				files[n] = a
			}
		}
	}
	return nil
}

// AddComment writes a comment; the robot does not become a follower. There is no
// key that makes it one: after Uncertain, look for it before writing it again.
func (c *Client) AddComment(ctx context.Context, issue string, n tracker.NewComment) (tracker.Comment, error) {
	body := map[string]any{"text": n.Text, "markupType": "md"}
	if len(n.Attachments) > 0 {
		body["attachmentIds"] = n.Attachments
	}
	var w commentWire
	_, err := c.do(ctx, request{
		call: "add comment", method: http.MethodPost, path: issuePath(issue, "comments"),
		query: url.Values{"isAddToFollowers": {"false"}}, body: body, write: true, personal: true,
	}, &w)
	if err != nil {
		return tracker.Comment{}, err
	}
	return w.comment(), nil
}
