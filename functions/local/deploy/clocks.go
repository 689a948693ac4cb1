package deploy

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// apart is how far a clock may be from ours: half of it is the precision of the
// header Date, the rest the way of an answer.
const apart = 5 * time.Second

// clocks notes what time others have.
type clocks struct {
	now func() time.Time

	mu    sync.Mutex
	ahead map[string]time.Duration // of ours, by whose clock it is
}

// note records the time that somebody had between two moments.
func (c *clocks) note(who string, theirs, before, after time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ahead == nil {
		c.ahead = map[string]time.Duration{}
	}
	c.ahead[who] = theirs.Sub(before.Add(after.Sub(before) / 2))
}

// watch notes the time of every answer over HTTP, by host.
func (c *clocks) watch(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		before := c.now()
		res, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
			c.note(r.URL.Hostname(), date, before, c.now())
		}
		return res, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (c *clocks) name() string { return "Clocks" }

func (c *clocks) settings(context.Context) ([]Setting, error) { return nil, nil }

// check implements service. When all others are away by the same, it is ours.
func (c *clocks) check(context.Context) []Finding {
	c.mu.Lock()
	defer c.mu.Unlock()
	var wrong []string
	for who, ahead := range c.ahead {
		switch {
		case ahead > apart:
			wrong = append(wrong, fmt.Sprintf("%s is %s ahead", who, ahead.Round(time.Second)))
		case ahead < -apart:
			wrong = append(wrong, fmt.Sprintf("%s is %s behind", who, -ahead.Round(time.Second)))
		}
	}
	slices.Sort(wrong)
	switch {
	case len(c.ahead) == 0:
		return []Finding{{Warning, "nobody told the time", "Mend what is above."}}
	case len(wrong) == 0:
		return []Finding{fine("%s within %s of this machine's", counted(len(c.ahead), "clock"), apart)}
	case len(wrong) == len(c.ahead) && len(wrong) > 1:
		return []Finding{{Warning, "this machine's clock differs from all others: " + strings.Join(wrong, ", "), "Set it by NTP; what is said above of times may be wrong."}}
	}
	return []Finding{{Warning, "clocks differ from this machine's: " + strings.Join(wrong, ", "), "Of a database of your own: set its clock by NTP, leases and times of tickets depend on it."}}
}
