package storm

import (
	"slices"
	"strings"
	"time"
)

// Window is the most that happened in any time as long as that.
type Window struct {
	Name    string
	Most    int
	At      time.Time // when it ended
	Limit   int       // in so long
	Allowed int       // what may arrive, see below
}

// The messengers' limits of what is written (README): Telegram 30 messages a second in
// all and to one chat 1 a second after 3 at once, VK 20 calls a second.
const (
	telegramLimit = 30
	vkLimit       = 20
	chatBurst     = 3
)

// Calls leave at their pace and arrive as the machine lets them: a second may have the
// calls of the one before it too, as Telegram itself allows; ten seconds a tenth more.
const (
	short = time.Second
	long  = 10 * time.Second
)

// thawing is how long a process that was frozen makes the calls that had their places
// meanwhile.
const thawing = time.Second

// windows: at no time was more written than a messenger's limit allows.
func (l *Balance) windows(b *Books) {
	all := map[string][]time.Time{}
	chats := map[string][]time.Time{}
	for _, s := range b.Sends {
		if slices.ContainsFunc(b.Thaws, func(t time.Time) bool { return !s.At.Before(t) && s.At.Before(t.Add(thawing)) }) {
			l.Thawed++
			continue
		}
		name, _, _ := strings.Cut(s.Chat, ":")
		all[name] = append(all[name], s.At)
		if name == "telegram" {
			chats[s.Chat] = append(chats[s.Chat], s.At)
		}
	}
	one := Window{Name: "Telegram, one chat, 10 s", Limit: chatBurst + 10, Allowed: chatBurst + 11}
	for _, moments := range chats {
		one.widen(moments, long)
	}
	l.Windows = append(l.Windows, one)
	for _, m := range []struct {
		name  string
		limit int
	}{{"telegram", telegramLimit}, {"vk", vkLimit}} {
		second := Window{Name: m.name + ", all chats, 1 s", Limit: m.limit, Allowed: 2 * m.limit}
		second.widen(all[m.name], short)
		ten := Window{Name: m.name + ", all chats, 10 s", Limit: 10 * m.limit, Allowed: 11 * m.limit}
		ten.widen(all[m.name], long)
		l.Windows = append(l.Windows, second, ten)
	}
	for _, w := range l.Windows {
		if w.Most > w.Allowed {
			l.wrong("%s: %d, the limit is %d", w.Name, w.Most, w.Limit)
		}
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
