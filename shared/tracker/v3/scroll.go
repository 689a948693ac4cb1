package v3

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"supportbot/shared/tracker"
)

const (
	scrollLife = "60000" // how long Tracker keeps a snapshot between two pages, ms
	scrollSize = "100"   // issues per page
)

// UpdatedSince goes through the issues of the queues (none: the default one), and
// those that this account opened, wherever they were moved, that were updated at
// since or later, oldest update first, whatever their number. It reads a snapshot
// page by page (one call per 100 issues) and lags a second or two, so since has to
// overlap with what was read before. An error ends it. It gives what Tracker answers:
// an issue may lack anything (Issue.Named), where Tracker does not tell it.
//
// In which time zone Tracker reads a query's times is not documented (its answers
// are UTC). Read in a zone east of UTC the query finds more than was asked for,
// and what is older than since is left out here; an account with a zone west of
// UTC would find less, so the robot's has to be UTC or Moscow.
func (c *Client) UpdatedSince(ctx context.Context, since time.Time, queues ...string) iter.Seq2[tracker.Issue, error] {
	return c.scroll(ctx, c.updated(since, queues)+` "Sort by": Updated ASC`, false, func(w *issueWire) bool {
		return w.UpdatedAt.IsZero() || !w.UpdatedAt.Before(since)
	})
}

// CountUpdated says how many issues UpdatedSince would give now. One call.
func (c *Client) CountUpdated(ctx context.Context, since time.Time, queues ...string) (n int, err error) {
	q := request{
		call: "count issues", method: http.MethodPost, path: []string{"v3", "issues", "_count"},
		body: map[string]any{"query": c.updated(since, queues)},
	}
	_, err = c.do(ctx, q, &n)
	if err == nil && n < 0 {
		return 0, q.unknown(0, errors.New("fewer than none were counted"))
	}
	return n, err
}

// updated is the query for the issues of UpdatedSince.
func (c *Client) updated(since time.Time, queues []string) string {
	return c.ours(queues) + " AND Updated: >= " + quote(since.UTC().Format("2006-01-02T15:04:05"))
}

// Open goes through the issues that UpdatedSince knows and that have no resolution
// yet, whatever their number.
func (c *Client) Open(ctx context.Context, queues ...string) iter.Seq2[tracker.Issue, error] {
	return c.scroll(ctx, c.ours(queues)+` AND Resolution: empty() "Sort by": Created ASC`, false, func(w *issueWire) bool { return w.validate() == nil })
}

// ours is the query for the issues of queues and those that were moved out of them.
func (c *Client) ours(queues []string) string {
	terms := make([]string, 0, len(queues))
	for _, q := range c.queues(queues) {
		terms = append(terms, quote(q))
	}
	return "(Queue: " + strings.Join(terms, ", ") + " OR Author: me())"
}

// scroll goes through what a query finds, and gives those that are kept. What is no
// issue at all is one that lacks everything. personal: the query names a customer, and
// Tracker may repeat it in what it says of an error.
func (c *Client) scroll(ctx context.Context, text string, personal bool, keep func(*issueWire) bool) iter.Seq2[tracker.Issue, error] {
	body := map[string]any{"query": text}
	return func(yield func(tracker.Issue, error) bool) {
		query := url.Values{"scrollType": {"sorted"}, "perScroll": {scrollSize}, "scrollTTLMillis": {scrollLife}}
		for {
			var page []*issueWire
			header, err := c.do(ctx, request{
				call: "scroll issues", method: http.MethodPost, path: []string{"v3", "issues", "_search"}, query: query, body: body,
				personal: personal,
			}, &page)
			if err != nil {
				yield(tracker.Issue{}, expired(query, err))
				return
			}
			next := header.Get("X-Scroll-Id") // absent on the last page
			for _, w := range page {
				if w == nil {
					w = &issueWire{}
				}
				if !keep(w) {
					continue
				}
				if !yield(w.issue(), nil) {
					c.release(ctx, next, header.Get("X-Scroll-Token"))
					return
				}
			}
			if next == "" || len(page) == 0 {
				return
			}
			query = url.Values{"scrollId": {next}, "scrollTTLMillis": {scrollLife}}
		}
	}
}

// expired makes of a snapshot's end, which is a 404, what it is: to be read again.
func expired(query url.Values, err error) error {
	if query.Get("scrollId") == "" || tracker.KindOf(err) != tracker.NotFound {
		return err
	}
	return &tracker.Error{Kind: tracker.Temporary, Status: http.StatusNotFound, Call: "scroll issues", Err: errors.New("the snapshot has expired")}
}

// release frees a snapshot that is not read to its end. It would end by itself
// after its life; so a failure is of no interest.
func (c *Client) release(ctx context.Context, id, token string) {
	if id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_, _ = c.do(ctx, request{
		call: "clear scroll", method: http.MethodPost, path: []string{"v2", "system", "search", "scroll", "_clear"},
		body: map[string]string{id: token},
	}, nil)
}
