package storm

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"supportbot/shared/sandbox/fault"
)

// blow is one thing that the adversary does.
type blow struct {
	at   time.Duration // after the storm's begin
	kind string
	who  int // process or service
	last time.Duration
	many int         // calls that meet it
	rule fault.Fault // of a service
	by   time.Duration
}

// The kinds of blows, as the sheet calls them.
const (
	killed    = "process killed with -9"
	frozen    = "process frozen"
	stranded  = "process frozen for longer than its leases" // it goes on when others have its work
	restarted = "Postgres restarted"
	wiped     = "Redis wiped"
	skewed    = "clock of a process wrong"
	crammed   = "temporary folder gone"
	revoked   = "token revoked"
	cut       = "queue takes nothing"
	refused   = "webhook turned away"
	forgotten = "webhook taken, answer lost"
	misled    = "webhook twice, late or lost"
	ailing    = "service fails"
)

// mean says how often each kind happens: once in so long, on average, and at least once,
// or as often as least says.
var kinds = []struct {
	kind  string
	mean  time.Duration
	draw  func(r *rand.Rand, b *blow) // of what a blow is more than that
	least int
}{
	{killed, 8 * time.Second, func(*rand.Rand, *blow) {}, 1},
	{frozen, 20 * time.Second, func(r *rand.Rand, b *blow) { b.last = between(r, time.Second, 6*time.Second) }, 1},
	{restarted, 40 * time.Second, func(r *rand.Rand, b *blow) {
		b.many, b.last = r.IntN(len(manners)), between(r, 0, 3*time.Second)
	}, 1},
	{wiped, 45 * time.Second, func(*rand.Rand, *blow) {}, 1},
	{skewed, 12 * time.Second, func(r *rand.Rand, b *blow) { b.by = between(r, -2*time.Minute, 2*time.Minute).Round(time.Second) }, 2},
	{crammed, 20 * time.Second, func(r *rand.Rand, b *blow) { b.last = between(r, 2*time.Second, 8*time.Second) }, 1},
	{revoked, 30 * time.Second, func(r *rand.Rand, b *blow) { b.last = between(r, 2*time.Second, 6*time.Second) }, 3},
	{cut, 30 * time.Second, func(r *rand.Rand, b *blow) { b.last = between(r, time.Second, 4*time.Second) }, 1},
	{refused, 4 * time.Second, func(r *rand.Rand, b *blow) { b.many = 1 + r.IntN(4) }, 1},
	{forgotten, 4 * time.Second, func(r *rand.Rand, b *blow) { b.many = 1 + r.IntN(3) }, 1},
	{misled, 1500 * time.Millisecond, func(r *rand.Rand, b *blow) { b.rule = confusion(r, services[b.who%len(services)]) }, 1},
	{ailing, 700 * time.Millisecond, func(r *rand.Rand, b *blow) { b.rule = ailment(r, services[b.who%len(services)]) }, 1},
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return (from + time.Duration(r.Int64N(int64(to-from)))).Round(time.Millisecond)
}

// stranding is of how many times that a process is frozen in a long storm one is longer
// than its leases.
const stranding = 3

// plan gives the blows of a storm, by nothing but the seed, and how long it and a lease are.
func plan(seed uint64, storm, lease time.Duration) (all []blow) {
	for i, k := range kinds {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		for n := range max(1, k.least, int(storm/k.mean)) {
			b := blow{at: between(r, 0, storm), kind: k.kind, who: r.IntN(1 << 10)}
			if k.kind == revoked { // every service's
				b.who = n
			}
			k.draw(r, &b)
			switch {
			case k.kind == frozen && storm >= wholeStorm && n%stranding == 0:
				b.kind, b.last = stranded, b.last+lease
			case k.kind != ailing:
			case storm < wholeStorm && n < len(visible):
				b.unheard(n)
			case storm >= wholeStorm && n < len(services)*len(ailments):
				b.thorough(n)
			}
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b blow) int { return cmp.Compare(a.at, b.at) })
	return all
}

// visible are the calls whose effects people see, by their services.
var visible = []struct {
	who    int
	method string
}{{0, "sendMessage"}, {1, "messages.send"}, {2, "POST /v3/issues"}, {2, "POST /v3/issues/*/comments"}}

// unheard makes the first ailments of a short storm those after which nobody knows what
// was done: each of the visible calls has some, while there is time to meet them.
func (b *blow) unheard(n int) {
	v := visible[n]
	b.who, b.at = v.who, b.at/2
	b.rule = services[v.who].ailment(fault.CloseAfter, v.method)
	b.rule.Times = 3
}

// thorough makes the first ailments of a long storm all that there are, of what every
// service is often asked and while there is time to meet them.
func (b *blow) thorough(n int) {
	b.who, b.at = n%len(services), b.at/2
	s := services[b.who]
	b.rule = s.ailment(ailments[n/len(services)], s.methods[0])
}

// String is a line of the plan.
func (b blow) String() string {
	var more strings.Builder
	switch b.kind {
	case killed, frozen, stranded, skewed, crammed:
		fmt.Fprintf(&more, " (%d)", b.who)
	case restarted:
		more.WriteString(": " + manners[b.many].name)
	case revoked:
		more.WriteString(": " + services[b.who%len(services)].name)
	case refused, forgotten:
		fmt.Fprintf(&more, ": %d", b.many)
	case misled, ailing:
		fmt.Fprintf(&more, ": %s, %s of %q, %d times", services[b.who%len(services)].name, b.rule.Kind, b.rule.Method, b.rule.Times)
		if b.rule.Status > 0 {
			fmt.Fprintf(&more, ", %d", b.rule.Status)
		}
	}
	if b.by != 0 {
		more.WriteString(" by " + b.by.String())
	}
	if b.last != 0 {
		more.WriteString(" for " + b.last.Round(100*time.Millisecond).String())
	}
	return fmt.Sprintf("%8.1f s  %s%s", b.at.Seconds(), b.kind, more.String())
}
