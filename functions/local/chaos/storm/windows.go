package storm

import (
	"math"
	"slices"
	"strings"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/pace"
	"supportbot/shared/sandbox/fault"
)

// Call is a call of the platform's.
type Call struct {
	Service string
	Method  string
	Chat    string // that it writes to; "": none
	Text    string // its parameters
	At      time.Time
	Process int
	Fault   fault.Kind // that was put upon it
	Refused bool       // for being too many, by the service itself
}

// The services, as calls name them.
const (
	telegramming = "telegram"
	vkontakte    = "vk"
	tracking     = "tracker"
)

// Window is the most that happened in any time as long as that.
type Window struct {
	Name    string
	Most    int
	At      time.Time // when it ended
	Limit   int       // in so long
	Allowed int       // what may arrive, see below
}

// trackerLimit is what the storm sets, a second; the others are those of package pace.
const trackerLimit = 100

// Calls leave at their pace and arrive as the machine lets them: any time may have the
// calls of the second before it too.
const (
	short  = time.Second
	long   = 10 * time.Second
	minute = time.Minute
)

// excused is how long a process that was frozen makes the calls that had their places
// meanwhile, and how long calls arrive whose places a wipe has made the limiter forget.
const excused = time.Second

// measure is calls that are counted together.
type measure struct {
	name    string
	limit   float64 // a second
	burst   int
	counted func(Call) string // "": not among them; else which of several it is of
}

func measures() []measure {
	t, v := pace.DefaultRates()[messenger.Telegram], pace.DefaultRates()[messenger.VK]
	return []measure{
		{"Telegram, all chats", t.All, 0, func(c Call) string { return sends(c, telegramming) }},
		{"Telegram, broadcasts", t.Broadcasts, 0, func(c Call) string { return news(c, telegramming) }},
		{"Telegram, one chat", t.Chat.Rate, t.Chat.Burst, func(c Call) string {
			if sends(c, telegramming) == "" {
				return ""
			}
			return c.Chat
		}},
		{"VK, all calls", v.All, 0, func(c Call) string { return of(c, vkontakte) }},
		{"VK, broadcasts", v.Broadcasts, 0, func(c Call) string { return news(c, vkontakte) }},
		{"Tracker, all calls", trackerLimit, 0, func(c Call) string { return of(c, tracking) }},
	}
}

func of(c Call, service string) string {
	if c.Service != service {
		return ""
	}
	return service
}

func sends(c Call, service string) string {
	if c.Chat == "" {
		return ""
	}
	return of(c, service)
}

func news(c Call, service string) string {
	for _, t := range tokens(c.Text) {
		if t[0] == 'B' {
			return sends(c, service)
		}
	}
	return ""
}

// windows: at no time did more calls arrive than the limits allow. What an injected fault
// answered arrived when the fault let it, and is not counted.
func (l *Balance) windows(b *Books) {
	measures := measures()
	moments := make([]map[string][]time.Time, len(measures))
	for i := range moments {
		moments[i] = map[string][]time.Time{}
	}
	for _, c := range b.Calls {
		if c.Fault != "" || l.excuses(b, c) {
			continue
		}
		for i, m := range measures {
			if of := m.counted(c); of != "" {
				moments[i][of] = append(moments[i][of], c.At)
			}
		}
	}
	for i, m := range measures {
		for _, d := range []time.Duration{long, minute} {
			l.window(m, "arrived", d, moments[i], m.most(d+short))
		}
	}
}

// most is how many there may be in so long, one that has begun among them.
func (m measure) most(d time.Duration) int {
	const exact = 1e-9 // of what is computed
	return m.burst + int(math.Ceil(m.limit*d.Seconds()-exact))
}

func (l *Balance) window(m measure, how string, d time.Duration, all map[string][]time.Time, allowed int) {
	w := Window{Name: m.name + ", " + how + " within " + d.String(), Limit: m.most(d), Allowed: allowed}
	for _, moments := range all {
		w.widen(moments, d)
	}
	l.Windows = append(l.Windows, w)
	if w.Most > w.Allowed {
		l.wrong("%s: %d, the limit is %d", w.Name, w.Most, w.Limit)
	}
}

// widen looks for more moments than it has within any time as long as d.
func (w *Window) widen(moments []time.Time, d time.Duration) {
	slices.SortFunc(moments, time.Time.Compare)
	first := 0
	for i, t := range moments {
		for t.Sub(moments[first]) >= d {
			first++
		}
		if n := i - first + 1; n > w.Most {
			w.Most, w.At = n, t
		}
	}
}

func (l *Balance) excuses(b *Books, c Call) bool {
	if slices.ContainsFunc(b.Thaws, func(t Thaw) bool { return t.Process == c.Process && within([]time.Time{t.At}, c.At, excused, 0) }) {
		l.Thawed++
		return true
	}
	if within(b.Wipes, c.At, excused, 0) {
		l.Wiped++
		return true
	}
	return false
}

// bunched is the share of a service's calls in the calm that a busy machine may bring so
// close together that the service refuses one; calls made too fast are more.
const bunched = 0.01

// refusals: in the calm no service refuses calls for being too many, unless a process
// took its share beside what the limiter gave to the others.
func (l *Balance) refusals(b *Books) {
	calls, refused := map[string]int{}, map[string][]string{}
	for _, c := range b.Calls {
		if !c.At.Before(b.Struck) {
			continue
		}
		calls[c.Service]++
		beside := slices.ContainsFunc(b.Alone, func(a Alone) bool { return !c.At.Before(a.From) && !c.At.After(a.To.Add(ownAhead+short)) })
		if c.Refused && !beside {
			refused[c.Service] = append(refused[c.Service], strings.TrimSpace(c.Method+" "+c.Chat))
		}
	}
	for service, all := range refused {
		if n := len(all); float64(n) > math.Ceil(bunched*float64(calls[service])) {
			l.wrong("%s refused %d of %d calls in the calm for being too many, first %s", service, n, calls[service], all[0])
		}
	}
}
