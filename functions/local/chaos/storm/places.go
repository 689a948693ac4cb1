package storm

import (
	"fmt"
	"math"
	"strings"
	"time"

	"supportbot/shared/delivery"
	"supportbot/shared/sandbox/fault"
)

// Place is a place that the limiter gave: when the call may be made, by Redis' clock.
type Place struct {
	Key string // of the limit
	At  time.Time
	Era int // of the limiter's memory: each wipe begins another one
}

// places: the limiter itself kept to the limits, to the microsecond, and no call was made
// without a place.
func (l *Balance) places(b *Books) {
	measures := measures()
	given := map[string]map[string][]time.Time{} // by measure, by key and era
	for _, m := range measures {
		given[m.name] = map[string][]time.Time{}
	}
	count := map[string]int{}
	for _, p := range b.Places {
		name := measured(p.Key)
		if name == "" {
			continue
		}
		count[name]++
		of := fmt.Sprint(p.Key, " ", p.Era)
		given[name][of] = append(given[name][of], p.At)
	}
	for _, m := range measures {
		d := short
		if m.burst > 0 {
			d = long
		}
		l.window(m, "places given", d, given[m.name], m.most(d))
	}
	for _, a := range b.Alone {
		l.Alone += a.To.Sub(a.From)
	}
	for _, m := range measures {
		if m.burst > 0 && len(b.Alone) > 0 { // a chat's own place comes with one of all chats
			continue
		}
		n := 0
		for _, c := range b.Calls {
			// What only reads, the HTTP client itself asks again when its connection breaks.
			if broken := c.Fault == fault.CloseBefore || c.Fault == fault.CloseAfter; m.counted(c) != "" && !broken {
				n++
			}
		}
		if own := m.own(b.Alone); n > count[m.name]+own {
			l.wrong("%s: %d calls were made with %d places, and at most %d of processes that were alone", m.name, n, count[m.name], own)
		}
	}
}

const (
	// ownShare is the part of a limit that a process takes which is alone (pace.Config).
	ownShare = 0.25
	// ownAhead is how far ahead it may take a place, and how late we may hear of that.
	ownAhead = delivery.PaceWait + time.Second
)

// own is how many places nobody writes down, since processes gave them to themselves.
func (m measure) own(all []Alone) (n int) {
	for _, a := range all {
		n += 1 + int(math.Ceil(m.limit*ownShare*(a.To.Sub(a.From)+ownAhead).Seconds()))
	}
	return n
}

// measured says by its key what a limit is of.
func measured(key string) string {
	service, rest, _ := strings.Cut(key, ":")
	switch _, part, _ := strings.Cut(rest, ":"); {
	case service == tracking && rest == "":
		return "Tracker, all calls"
	case service == telegramming && part == "":
		return "Telegram, all chats"
	case service == telegramming && part == "broadcasts":
		return "Telegram, broadcasts"
	case service == telegramming && strings.HasPrefix(part, "chat:"):
		return "Telegram, one chat"
	case service == vkontakte && part == "":
		return "VK, all calls"
	case service == vkontakte && part == "broadcasts":
		return "VK, broadcasts"
	}
	return ""
}
