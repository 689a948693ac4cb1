package storm

import (
	"math/rand/v2"
	"net/http"
	"time"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

// service is one of the three, as the adversary sees it.
type service struct {
	name     string
	methods  []string // those that a fault is put upon
	all      []string // patterns of every method
	statuses []int    // refusals in its own form
	denied   int      // ...that of a token that is not valid
	hook     string   // what its own calls are called
	// hooked is what may happen to its own calls: Telegram and VK's lists lose nothing.
	hooked []fault.Kind
}

var services = []service{
	{
		name: "Telegram", methods: []string{"sendMessage", "sendMessage", "send*", "editMessageText", "*"}, all: []string{"*"},
		statuses: []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway}, denied: http.StatusUnauthorized,
		hook: telegram.WebhookMethod, hooked: []fault.Kind{fault.Duplicate, fault.Late, fault.Delay},
	},
	{
		name: "VK", methods: []string{"messages.send", "messages.send", "messages.*", "*"}, all: []string{"*.*", "execute"},
		statuses: []int{6, 10, http.StatusInternalServerError, http.StatusServiceUnavailable}, denied: 5,
		hook: vk.CallbackMethod, hooked: []fault.Kind{fault.Duplicate, fault.Late, fault.Delay, fault.Drop},
	},
	{
		name: "Tracker", methods: []string{
			"POST /v3/issues", "POST /v3/issues/*/comments", "POST /v3/issues/_search", "GET /v3/issues/*", "GET /v3/issues/*/comments",
			"POST /v3/attachments", "PATCH /v3/issues/*",
		},
		all:      []string{"* /v3/*", "* /v3/*/*", "* /v3/*/*/*", "* /v3/*/*/*/*", "* /v3/*/*/*/*/*"},
		statuses: []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}, denied: http.StatusUnauthorized,
		hook: "trigger", hooked: []fault.Kind{fault.Duplicate, fault.Late, fault.Drop},
	},
}

// ailments are what a service does wrong, before a call has an effect and after it.
var ailments = []fault.Kind{
	fault.Status, fault.Status, fault.HTMLBefore, fault.HTMLAfter, fault.CloseBefore, fault.CloseAfter, fault.Delay, fault.HangBefore, fault.HangAfter,
}

// ailment draws a fault of a service's answers. Time-outs are rare: each holds a lane up
// for as long as the caller waits.
func ailment(r *rand.Rand, s service) fault.Fault {
	f := s.ailment(ailments[r.IntN(len(ailments))], s.methods[r.IntN(len(s.methods))])
	switch f.Kind {
	case fault.Status:
		f.Status, f.RetryAfter = s.statuses[r.IntN(len(s.statuses))], 1+r.IntN(3)
	case fault.Delay:
		f.Wait = between(r, 200*time.Millisecond, 3*time.Second)
	}
	if f.Kind != fault.HangBefore && f.Kind != fault.HangAfter {
		f.Times += r.IntN(4)
	}
	return f
}

// ailment is a fault of one call.
func (s service) ailment(kind fault.Kind, method string) fault.Fault {
	f := fault.Fault{Method: method, Kind: kind, Times: 1}
	switch kind {
	case fault.Status:
		f.Status, f.RetryAfter = s.statuses[0], 1
	case fault.Delay:
		f.Wait = time.Second
	}
	return f
}

// confusion draws a fault of the calls that a service makes.
func confusion(r *rand.Rand, s service) fault.Fault {
	return fault.Fault{
		Method: s.hook, Kind: s.hooked[r.IntN(len(s.hooked))], Times: 1 + r.IntN(3), Wait: between(r, 100*time.Millisecond, 4*time.Second),
	}
}
