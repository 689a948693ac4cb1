package storm

import (
	"slices"
	"strings"
	"time"
)

// Window is the most that happened in any time as long as that.
type Window struct {
	Name  string
	Most  int
	At    time.Time // when it ended
	Limit int
}

// The messengers' limits of what is written (README): Telegram 30 messages a second in
// all and to one chat 1 a second after 3 at once, VK 20 calls a second.
const (
	telegramLimit = 30
	vkLimit       = 20
	chatBurst     = 3
	minute        = 60
)

// slack is how much more may arrive within a second than left in it: one in so many.
const slack = 5

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
	second, long := Window{Name: "Telegram, one chat, 1 s", Limit: chatBurst + 1}, Window{Name: "Telegram, one chat, 60 s", Limit: chatBurst + minute}
	for _, moments := range chats {
		second.widen(moments, time.Second)
		long.widen(moments, minute*time.Second)
	}
	whole, calls := Window{Name: "Telegram, all chats, 1 s", Limit: telegramLimit}, Window{Name: "VK, calls, 1 s", Limit: vkLimit}
	whole.widen(all["telegram"], time.Second)
	calls.widen(all["vk"], time.Second)
	l.Windows = []Window{whole, second, long, calls}
	for _, w := range l.Windows {
		if w.Most > w.Limit+w.Limit/slack {
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
