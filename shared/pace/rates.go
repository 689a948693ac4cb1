package pace

import (
	"math"
	"strings"

	"supportbot/shared/messenger"
)

// Rates are the limits of one messenger, for each bot.
type Rates struct {
	All        float64 // calls per second to all chats together
	Broadcasts float64 // of which broadcasts, unless SetRate says otherwise
	Paid       float64 // of broadcasts that are paid for, which do not count in All; 0: none are
	Chat       Bucket  // one private chat
	Group      Bucket  // one group, where the chat's id is negative; zero = as Chat
}

// Bucket is a rate with a burst; the zero value is no limit.
type Bucket struct {
	Rate  float64 // per second
	Burst int
}

// paidMost is what Telegram sells (core.telegram.org/bots/api#sendmessage,
// allow_paid_broadcast): up to 1000 messages per second, the Stars are taken from
// the bot's balance.
const paidMost = 1000

// DefaultRates are what the messengers' documents allow.
//
// Telegram (core.telegram.org/bots/faq, "My bot is hitting limits"): about 30
// messages per second in all; in one chat avoid more than one per second, short
// bursts are tolerated; in one group 20 per minute. A chat's rate is taken a tenth
// lower, since calls do not arrive as evenly as they are let go. The group's bucket
// holds the minute: 17 refilled and a burst of 3 are 20 in any 60 seconds.
// Broadcasts may take 20 of the 30, the rest is always free for answers.
//
// What is no message (answers to presses, files, "is typing") counts nowhere.
//
// VK (dev.vk.com, "API requests"): 20 calls per second with a community's token,
// whatever they are for: what is no message takes its place by Limiter.Call. A tenth
// fewer are made, since VK counts them as they arrive and refuses the 21st. Nothing is
// said of single chats. Broadcasts may take 15.
func DefaultRates() map[messenger.Name]Rates {
	return map[messenger.Name]Rates{
		messenger.Telegram: {
			All: 30, Broadcasts: 20,
			Chat:  Bucket{Rate: 0.9, Burst: 3},
			Group: Bucket{Rate: 17.0 / 60, Burst: 3},
		},
		messenger.VK: {All: 18, Broadcasts: 15},
	}
}

// careful is for a messenger that nobody has given rates: slow, never unlimited.
func careful() Rates {
	return Rates{All: 5, Broadcasts: 3, Chat: Bucket{Rate: 0.9, Burst: 1}}
}

// sane gives the rates in which what makes no sense is the careful choice.
func (r Rates) sane() Rates {
	if !(r.All > 0) || math.IsInf(r.All, 1) {
		r.All = careful().All
	}
	if !(r.Broadcasts > 0 && r.Broadcasts <= r.All) {
		r.Broadcasts = r.All / 2
	}
	if !(r.Paid > 0) || math.IsInf(r.Paid, 1) {
		r.Paid = 0
	}
	return r
}

// broadcasts is the rate of broadcasts unless a lower one is set.
func (r Rates) broadcasts() float64 { return max(r.Broadcasts, r.Paid) }

func allKey(m messenger.Name, bot string) string { return string(m) + ":" + bot }
func broadcastsKey(m messenger.Name, bot string) string {
	return allKey(m, bot) + ":broadcasts"
}
func chatKey(a messenger.Address) string {
	return allKey(a.Messenger, a.Bot) + ":chat:" + a.Chat
}

// all is the limit of a bot's calls to all chats together.
func (r Rates) all(m messenger.Name, bot string) Limit {
	return Limit{Key: allKey(m, bot), Rate: r.All, Burst: 1, Shared: true}
}

// limits lists what one call to a chat has to pass, the whole messenger first.
func (r Rates) limits(to messenger.Address, c Class) []Limit {
	own := r.Chat
	if strings.HasPrefix(to.Chat, "-") && r.Group != (Bucket{}) {
		own = r.Group
	}
	all := r.all(to.Messenger, to.Bot)
	chat := Limit{Key: chatKey(to), Rate: own.Rate, Burst: max(own.Burst, 1)}
	if c != Broadcasts {
		return []Limit{all, chat}
	}
	if r.Paid > 0 {
		all.Rate = 0 // only its pauses count
	}
	return []Limit{all, chat, {Key: broadcastsKey(to.Messenger, to.Bot), Rate: r.broadcasts(), Burst: 1, Shared: true}}
}
