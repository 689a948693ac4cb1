package v3

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"supportbot/shared/tracker"
)

const (
	pageSize = 50
	// maxEntries is more than an issue can have: an issue is frozen at version
	// 11,100 and every comment and change takes one.
	maxEntries = 12_000
)

// list reads all pages of a listing that is paged by the id of the last entry.
// A page over the limit of an answer is asked for in smaller pieces.
func list[W any](ctx context.Context, c *Client, q request, after string, idOf func(W) string) ([]W, error) {
	var all []W
	size := pageSize
	for len(all) <= maxEntries {
		query := url.Values{"perPage": {strconv.Itoa(size)}}
		for name, values := range q.query {
			query[name] = values
		}
		if after != "" {
			query.Set("id", after)
		}
		one := q
		one.query = query
		var page []W
		header, err := c.do(ctx, one, &page)
		if errors.Is(err, errTooLarge) && size > 1 {
			size /= 2
			continue
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(page, func(w W) bool { return idOf(w) == "" }) {
			return nil, q.unknown(0, errors.New("an entry has no id"))
		}
		all = append(all, page...)
		if len(page) == 0 || len(page) < size && !hasNext(header) {
			return all, nil
		}
		last := idOf(page[len(page)-1])
		if last == after {
			break
		}
		after = last
	}
	return nil, &tracker.Error{Kind: tracker.Temporary, Call: q.call, Err: errors.New("the listing has no end")}
}

// hasNext reports whether a Link header names a next page.
func hasNext(h http.Header) bool {
	for _, link := range h.Values("Link") {
		if strings.Contains(link, `rel="next"`) {
			return true
		}
	}
	return false
}
