package storm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Brought is a call by which a messenger brought a message, taken or not.
type Brought struct {
	Chat   string
	Number int64
	Began  time.Time
	At     time.Time // when it ended: the message was handled some time between
}

// late is in entries that say themselves that they came late, with the time at which
// they were written.
var late = regexp.MustCompile(`отправлено (\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d), пришло позже`)

// moscow is the zone of the times in tickets.
var moscow = time.FixedZone("MSK", 3*60*60)

// ordered: in a ticket messages stand as they were written, but for those that say
// themselves that they came late; and these did, and say when they were written. A wipe
// makes the platform forget what came before.
func (l *Balance) ordered(b *Books) {
	said := map[string]Said{}
	for _, s := range b.Said {
		said[s.Token] = s
	}
	for _, k := range b.Tickets {
		newest := Said{}
		for _, e := range k.Entries {
			words := late.FindStringSubmatch(e.Text)
			for _, t := range tokens(e.Text) {
				s, ok := said[t]
				switch {
				case !ok || t[0] != 'M':
				case words != nil:
					l.late(b, k, s, words[1])
				case s.Number < newest.Number && b.wipedBetween(newest, s):
					l.Unmarked++
				case s.Number < newest.Number:
					l.wrong("in %s message %s stands behind %s", k.Key, t, newest.Token)
				default:
					newest = s
				}
			}
		}
	}
}

func (l *Balance) late(b *Books, k Ticket, s Said, shown string) {
	at, err := time.ParseInLocation("02.01.2006 15:04:05", shown, moscow)
	if off := at.Sub(s.At).Abs(); err != nil || off > 2*time.Second {
		l.wrong("in %s message %s says it is of %s, it is of %s", k.Key, s.Token, shown, s.At.In(moscow).Format(time.TimeOnly))
	}
	if !b.overtaken(s) {
		l.wrong("in %s message %s, number %d, says it came late, and nothing overtook it: %s", k.Key, s.Token, s.Number, b.calls(s))
	}
}

// beside is how long after the end of a call its message may still be handled: whoever
// called had waited long enough.
const beside = 2 * time.Second

// overtaken reports whether a call with a newer message of the chat had begun when the
// last call that brought this one was over; one that was never brought was found much
// later.
func (b *Books) overtaken(s Said) bool {
	last := b.last(s)
	return slices.ContainsFunc(b.Brought, func(one Brought) bool {
		return one.Chat == s.Chat && one.Number > s.Number && (!s.Brought || !one.Began.After(last.Add(beside)))
	})
}

// calls tells by which calls a message and those after it were brought.
func (b *Books) calls(s Said) string {
	var told []string
	for _, one := range b.Brought {
		if one.Chat == s.Chat && one.Number >= s.Number {
			told = append(told, fmt.Sprintf("%d from %s to %s", one.Number, one.Began.Format(clock), one.At.Format(clock)))
		}
	}
	return strings.Join(told, ", ")
}

const clock = "15:04:05.000"

// last is when a message was brought last; zero: never.
func (b *Books) last(s Said) (last time.Time) {
	for _, one := range b.Brought {
		if one.Chat == s.Chat && one.Number == s.Number && one.At.After(last) {
			last = one.At
		}
	}
	return last
}

// wipedBetween reports whether the memory was wiped after a message had been written, and
// before an older one was brought; one that was never brought was found any time later.
func (b *Books) wipedBetween(newer, s Said) bool {
	last := b.last(s).Add(beside)
	return slices.ContainsFunc(b.Wipes, func(w time.Time) bool { return !w.Before(newer.At) && (!s.Brought || !w.After(last)) })
}

// inOrder: a customer first sees answers, their files and statuses as they were written.
func (l *Balance) inOrder(b *Books) {
	newest := map[string]int64{}
	earlier := func(x, y Written) int { return x.At.Compare(y.At) }
	for _, d := range slices.SortedStableFunc(slices.Values(b.Written), earlier) {
		if d.Kind == "inside" || d.Loose {
			continue
		}
		n, first := count(b.Chats[d.Chat], d)
		if n == 0 {
			continue
		}
		if first.ID < newest[d.Chat] {
			l.wrong("%s %s came to %s before an earlier one", d.Kind, d.Token, d.Chat)
		}
		newest[d.Chat] = max(newest[d.Chat], first.ID)
	}
}
