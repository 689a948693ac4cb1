package v3

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"supportbot/shared/tracker"
)

// Search gives the newest issues in the queues whose fields have the given values,
// newest first, limit of them at the most. No queues: the default one. It lags a
// second or two, and does not find an issue that was moved to another queue, since it
// has lost its fields.
//
// How Tracker compares texts in a query is not documented; issues whose fields are
// not exactly the given ones are left out.
func (c *Client) Search(ctx context.Context, queues []string, fields map[tracker.Field]string, limit int) ([]tracker.Issue, error) {
	const call = "search issues"
	if limit < 1 || len(fields) == 0 {
		return nil, refuse(call, "a limit and fields are needed")
	}
	var wires []*issueWire
	_, err := c.do(ctx, request{
		call: call, method: http.MethodPost, path: []string{"v3", "issues", "_search"},
		query: url.Values{"page": {"1"}, "perPage": {strconv.Itoa(limit)}},
		body:  map[string]any{"query": fieldQuery(c.queues(queues), fields)}, personal: true,
	}, &wires)
	if err != nil {
		return nil, err
	}
	issues := make([]tracker.Issue, 0, len(wires))
	for _, w := range wires {
		if w == nil || w.validate() != nil || !matches(w.local, fields) {
			continue
		}
		issues = append(issues, w.issue())
	}
	return issues, nil
}

// Of goes through all issues that Search knows, whatever their number, as
// UpdatedSince does.
func (c *Client) Of(ctx context.Context, queues []string, fields map[tracker.Field]string) iter.Seq2[tracker.Issue, error] {
	return c.scroll(ctx, fieldQuery(c.queues(queues), fields), true, func(w *issueWire) bool {
		return w.validate() == nil && matches(w.local, fields)
	})
}

func (c *Client) queues(queues []string) []string {
	if len(queues) == 0 {
		return []string{c.cfg.Queue}
	}
	return queues
}

func matches(have, want map[tracker.Field]string) bool {
	for f, v := range want {
		if have[f] != v {
			return false
		}
	}
	return true
}

// fieldQuery writes a query; a local field is named QUEUE.key.
func fieldQuery(queues []string, fields map[tracker.Field]string) string {
	groups := make([]string, 0, len(queues))
	for _, q := range queues {
		terms := []string{"Queue: " + quote(q)}
		for _, f := range slices.Sorted(maps.Keys(fields)) {
			terms = append(terms, q+"."+string(f)+": "+quote(fields[f]))
		}
		groups = append(groups, "("+strings.Join(terms, " AND ")+")")
	}
	return strings.Join(groups, " OR ") + ` "Sort by": Created DESC`
}

// quote makes a text of the query language.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
