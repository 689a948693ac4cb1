package v3

import (
	"context"
	"net/http"
	"net/url"
)

// Managed is a call of the API by which a queue is set up or looked at.
type Managed struct {
	Call   string // as errors name it: "create local field"
	Method string
	Path   []string // after "v3", not yet escaped
	Query  url.Values
	Body   any // as JSON; nil: none
}

// Manage makes a call that none of the other methods makes and decodes its answer
// into out, unless that is nil. Errors are those of the package.
func (c *Client) Manage(ctx context.Context, m Managed, out any) error {
	_, err := c.do(ctx, request{
		call: m.Call, method: m.Method, path: append([]string{"v3"}, m.Path...), query: m.Query, body: m.Body,
		write: m.Method != http.MethodGet,
	}, out)
	return err
}
