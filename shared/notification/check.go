package notification

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/broadcasting"
	"supportbot/shared/messenger"
)

const (
	titleMost   = 200
	buttonsMost = 5
	labelMost   = 40 // VK's
	linkMost    = 2000
	rateLeast   = 0.1
	ahead       = 366 * 24 * time.Hour
)

// check finds everything that is wrong with a broadcast.
func (a *API) check(s *broadcast.Spec) []Field {
	fields := a.checkContent(s)
	fields = append(fields, a.checkAudience(s)...)
	fields = append(fields, a.checkRate(s.Rate, s.Audience)...)
	fields = append(fields, checkHours(s.Hours)...)
	add := func(pointer, code, message string) { fields = append(fields, Field{pointer, code, message}) }
	if s.Kind == broadcast.Message {
		add("/kind", "invalid", "a message to one customer is POST /v1/messages")
	}
	if s.Urgency < 0 || s.Urgency > 9 {
		add("/urgency", "invalid", "from 0 to 9")
	}
	if len([]rune(s.Title)) > titleMost {
		add("/title", "too_long", "at most 200 characters")
	}
	if s.StartAt != nil {
		switch {
		case a.over(*s.StartAt) && !s.Draft:
			add("/start_at", "past", "the time is over; leave it out to start at once")
		case s.StartAt.After(a.d.Now().Add(ahead)):
			add("/start_at", "invalid", "more than a year ahead")
		}
	}
	return fields
}

// over: whoever meant the present minute is not refused.
func (a *API) over(start time.Time) bool { return start.Before(a.d.Now().Add(-time.Minute)) }

// checkContent: also what each messenger would make of it.
func (a *API) checkContent(s *broadcast.Spec) []Field {
	fields := a.checkForm(s)
	if len(fields) > 0 {
		return fields
	}
	seen := map[string]bool{}
	a.render(s, func(v view) {
		if v.Error != "" && !seen[v.pointer] {
			seen[v.pointer] = true
			fields = append(fields, Field{v.pointer, v.Code, v.Error})
		}
	})
	return fields
}

// checkForm is what can be said without rendering.
func (a *API) checkForm(s *broadcast.Spec) []Field {
	fields := checkKind(s.Kind, broadcast.Message)
	add := func(pointer, code, message string) { fields = append(fields, Field{pointer, code, message}) }
	known := "locales are " + strings.Join(a.d.Locales, ", ")
	if len(s.Texts) == 0 {
		add("/texts", "required", "a text in at least one locale; "+known)
	}
	for locale, text := range s.Texts {
		switch {
		case !slices.Contains(a.d.Locales, locale):
			add(pointer("/texts", locale), "unknown", known)
		case strings.TrimSpace(text) == "":
			add(pointer("/texts", locale), "required", "the text is empty")
		}
	}
	switch _, ok := s.Texts[s.Fallback]; {
	case s.Fallback == "" && len(s.Texts) > 1:
		add("/fallback", "required", "say which text others get")
	case s.Fallback != "" && !ok:
		add("/fallback", "invalid", "there is no text in that locale")
	}
	return append(fields, checkButtons(s.Content)...)
}

// checkKind takes the kinds of broadcasts, and those that are named besides.
func checkKind(k broadcast.Kind, besides ...broadcast.Kind) []Field {
	if slices.Contains(append(besides, broadcast.News, broadcast.Maintenance, broadcast.System), k) {
		return nil
	}
	return []Field{{"/kind", "invalid", "news, maintenance or system"}}
}

func checkButtons(c broadcast.Content) (fields []Field) {
	if len(c.Buttons) > buttonsMost {
		fields = append(fields, Field{"/buttons", "too_many", "at most 5"})
	}
	for i, b := range c.Buttons {
		at := "/buttons/" + strconv.Itoa(i)
		if u, err := url.Parse(b.URL); err != nil || u.Host == "" || u.Scheme != "https" || len(b.URL) > linkMost {
			fields = append(fields, Field{at + "/url", "invalid", "an address that begins with https://, of up to 2000 characters"})
		}
		for locale := range c.Texts {
			label := b.Labels[locale]
			if label == "" {
				label = b.Labels[c.Fallback]
			}
			if n := len([]rune(strings.TrimSpace(label))); n == 0 || n > labelMost {
				fields = append(fields, Field{pointer(at+"/labels", locale), "invalid", "1 to 40 characters"})
			}
		}
	}
	return fields
}

// checkRate: a rate has to be below what one of the audience's messengers allows;
// where another one allows less, that limit holds.
func (a *API) checkRate(r float64, au broadcast.Audience) []Field {
	var most float64
	for m := range a.d.Bots {
		if len(au.Messengers) == 0 || slices.Contains(au.Messengers, m) {
			most = max(most, a.fastest(m))
		}
	}
	if r == 0 || r >= rateLeast && (r <= most || most == 0 && !math.IsInf(r, 0)) {
		return nil
	}
	return []Field{{"/rate", "invalid", fmt.Sprintf("messages a second, from 0.1 to %g, which is the messengers' limit; so is 0 or nothing", most)}}
}

// fastest is how many messages of a broadcast a second a messenger takes.
func (a *API) fastest(m messenger.Name) float64 {
	rate := a.d.Pacer.BroadcastLimit(m)
	if s, ok := a.d.Senders(m, a.d.Bots[m]); ok {
		rate *= float64(broadcasting.PerCall(s))
	}
	return rate
}

func checkHours(h *broadcast.Hours) []Field {
	if h == nil {
		return nil
	}
	if h.Zone == "" || h.Zone == "Local" { // which time.LoadLocation takes for zones
		return []Field{{"/hours/zone", "required", "an IANA name, as Europe/Moscow"}}
	}
	if _, err := h.Wait(time.Unix(0, 0)); err != nil {
		return []Field{{"/hours", "invalid", err.Error()}}
	}
	return nil
}
