package storm_test

import (
	"fmt"
	"testing"
	"time"

	"supportbot/functions/local/chaos/storm"
	"supportbot/shared/sandbox/fault"
)

// flood makes so many calls like one, evenly within so many seconds, each to a chat of its
// own where it is to one.
func flood(b *storm.Books, n int, seconds float64, like storm.Call) {
	for i := range n {
		c := like
		if c.At = at(30 + seconds*float64(i)/float64(n)); c.Chat != "" && c.Chat != ivan {
			c.Chat = fmt.Sprint(c.Chat, i)
		}
		b.Calls = append(b.Calls, c)
	}
}

// refuse lets so many of a hundred calls in the calm be refused.
func refuse(b *storm.Books, n int) {
	places(b)
	for i := range 99 {
		b.Calls = append(b.Calls, storm.Call{Service: "telegram", Method: "getFile", At: at(3), Refused: i < n})
	}
}

func give(b *storm.Books, n int, seconds float64, key string) {
	for i := range n {
		b.Places = append(b.Places, storm.Place{Key: key, At: at(30 + seconds*float64(i)/float64(n))})
	}
}

var (
	toAll  = storm.Call{Service: "telegram", Method: "sendMessage", Chat: "telegram:"}
	toIvan = storm.Call{Service: "telegram", Method: "sendMessage", Chat: ivan}
	news   = storm.Call{Service: "telegram", Method: "sendMessage", Chat: "telegram:", Text: "B0N2E"}
	ofVK   = storm.Call{Service: "vk", Method: "messages.getHistory"}
	newsVK = storm.Call{Service: "vk", Method: "messages.send", Chat: "vk:", Text: "B0N2E"}
	toDesk = storm.Call{Service: "tracker", Method: "GET /v3/issues/SUP-1"}
)

func TestBalance_Windows(t *testing.T) {
	t.Parallel()
	arrive := func(n int, seconds float64, like storm.Call) func(*storm.Books) {
		return func(b *storm.Books) { flood(b, n, seconds, like) }
	}
	spoilt{
		"too much to all chats":        {arrive(331, 9.9, toAll), "Telegram, all chats, arrived within 10s: 331, the limit is 300"},
		"too much in a minute":         {arrive(1831, 59.9, toAll), "Telegram, all chats, arrived within 1m0s: 1831"},
		"too much to one chat":         {arrive(14, 9.9, toIvan), "Telegram, one chat, arrived within 10s: 14, the limit is 12"},
		"too many calls to VK":         {arrive(199, 9.9, ofVK), "VK, all calls, arrived within 10s: 199"},
		"too many calls to Tracker":    {arrive(1101, 9.9, toDesk), "Tracker, all calls, arrived within 10s: 1101"},
		"broadcasts beyond their rate": {arrive(221, 9.9, news), "Telegram, broadcasts, arrived within 10s: 221"},
		"VK's, too":                    {arrive(166, 9.9, newsVK), "VK, broadcasts, arrived within 10s: 166"},
		"another process was frozen": {func(b *storm.Books) {
			flood(b, 331, 0.9, toAll)
			b.Thaws = []storm.Thaw{{Process: 1, At: at(30)}}
		}, "Telegram, all chats, arrived within 10s: 331"},
		"refused in the calm": {func(b *storm.Books) {
			refuse(b, 2)
			b.Alone = []storm.Alone{{From: at(3.1), To: at(60)}}
		}, "telegram refused 2 of 100 calls in the calm for being too many, first getFile"},
	}.check(t)
	most := func(name string) func(*storm.Balance) int {
		return func(b *storm.Balance) int {
			for _, w := range b.Windows {
				if w.Name == name {
					return w.Most
				}
			}
			return -1
		}
	}
	const all = "Telegram, all chats, arrived within 10s"
	excused{
		"a second's worth comes late": {arrive(330, 9.9, toAll), most(all), 330},
		"an injected fault answered": {func(b *storm.Books) {
			slow := toAll
			slow.Fault = fault.Delay
			flood(b, 331, 0.9, slow)
		}, most(all), 1},
		"the process was frozen": {func(b *storm.Books) {
			flood(b, 331, 0.9, toAll)
			b.Thaws = []storm.Thaw{{Process: 0, At: at(30)}}
		}, func(b *storm.Balance) int { return b.Thawed }, 331},
		"the limiter's memory was wiped": {func(b *storm.Books) {
			flood(b, 331, 0.9, toAll)
			b.Wipes = []time.Time{at(30)}
		}, func(b *storm.Balance) int { return b.Wiped }, 331},
		"one of a hundred is refused in the calm": {func(b *storm.Books) { refuse(b, 1) }, most(all), 1},
		"refused beside a process that is alone": {func(b *storm.Books) {
			refuse(b, 2)
			b.Alone = []storm.Alone{{From: at(2), To: at(2.5)}}
		}, most(all), 1},
		"refused in the storm": {func(b *storm.Books) { b.Calls[1].Refused = true }, most(all), 1},
	}.check(t)
}

// TestBalance_Places: by Redis' clock nothing is tolerated.
func TestBalance_Places(t *testing.T) {
	t.Parallel()
	given := func(n int, seconds float64, key string) func(*storm.Books) {
		return func(b *storm.Books) { give(b, n, seconds, key) }
	}
	spoilt{
		"Telegram":             {given(31, 0.99, "telegram:109"), "Telegram, all chats, places given within 1s: 31"},
		"Telegram, broadcasts": {given(21, 0.99, "telegram:109:broadcasts"), "Telegram, broadcasts, places given within 1s: 21"},
		"one chat":             {given(13, 9.9, "telegram:109:chat:5"), "Telegram, one chat, places given within 10s: 13"},
		"VK":                   {given(19, 0.99, "vk:209"), "VK, all calls, places given within 1s: 19"},
		"VK, broadcasts":       {given(16, 0.99, "vk:209:broadcasts"), "VK, broadcasts, places given within 1s: 16"},
		"Tracker":              {given(101, 0.99, "tracker"), "Tracker, all calls, places given within 1s: 101"},
		"a call without a place": {func(b *storm.Books) {
			places(b)
			b.Calls = append(b.Calls, storm.Call{Service: "vk", Method: "users.get", At: at(20)})
		}, "VK, all calls: 2 calls were made with 1 places"},
		"...and more than a process may have by itself": {func(b *storm.Books) { byItself(b, 35) }, "35 calls were made with 1 places, and at most 33"},
	}.check(t)
	none := func(*storm.Balance) int { return 0 }
	excused{
		"a place for each call": {places, none, 0},
		"one more of a connection that broke": {func(b *storm.Books) {
			places(b)
			b.Calls = append(b.Calls, toDesk)
			b.Calls[3].Fault = fault.CloseBefore
		}, none, 0},
		"what a process has by itself": {func(b *storm.Books) { byItself(b, 34) }, none, 0},
		"what a wipe made forgotten": {func(b *storm.Books) {
			give(b, 36, 0.99, "vk:209")
			for i := range 18 {
				b.Places[i].Era = 1
			}
		}, none, 0},
		"chats of their own": {func(b *storm.Books) {
			give(b, 12, 9.9, "telegram:109:chat:5")
			give(b, 12, 9.9, "telegram:109:chat:6")
		}, none, 0},
	}.check(t)
}

// byItself has so many calls to VK, while a process was alone for a second.
func byItself(b *storm.Books, calls int) {
	places(b)
	b.Alone = []storm.Alone{{From: at(30), To: at(31)}}
	flood(b, calls-1, 5, storm.Call{Service: "vk", Method: "users.get"})
}

// places gives the good books the places of their calls.
func places(b *storm.Books) {
	b.Alone = nil
	b.Places = []storm.Place{
		{Key: "telegram:109", At: at(3)}, {Key: "telegram:109:chat:3300000000000", At: at(3)},
		{Key: "telegram:109", At: at(13)}, {Key: "telegram:109:chat:3300000000000", At: at(13)}, {Key: "telegram:109:broadcasts", At: at(13)},
		{Key: "vk:209", At: at(14)}, {Key: "vk:209:broadcasts", At: at(14)}, {Key: "tracker", At: at(3)}, {Key: "tracker:loads", At: at(3)},
	}
}
