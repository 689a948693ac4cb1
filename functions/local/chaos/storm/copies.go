package storm

import (
	"strings"
	"time"

	"supportbot/shared/sandbox/fault"
)

// News is a broadcast that was asked for.
type News struct {
	Token string
	Asked time.Time
	Taken bool // the API said so
}

// Copy is a recipient of a broadcast.
type Copy struct {
	Token   string
	Chat    string
	Outcome string // "": none yet
}

type copied struct{ chat, token string }

// news: nobody has a broadcast twice; everybody has one who was there before; and what
// our tables say of it is so.
func (l *Balance) news(b *Books) {
	have, listed := b.delivered(), map[copied]bool{}
	for _, c := range b.Copies {
		of := copied{c.Chat, c.Token}
		if listed[of] {
			l.wrong("broadcast %s has %s twice among its recipients", c.Token, c.Chat)
			continue
		}
		listed[of] = true
		n := have[of]
		delete(have, of)
		switch {
		case n > 1:
			l.wrong("broadcast %s came to %s %d times", c.Token, c.Chat, n)
		case c.Outcome == "uncertain" && b.doubtful(of):
			l.NewsUncertain++
		case c.Outcome == "uncertain":
			l.wrong("broadcast %s to %s is uncertain, and no fault made it so", c.Token, c.Chat)
		case c.Outcome != "sent":
			l.wrong("broadcast %s to %s ended as %q", c.Token, c.Chat, c.Outcome)
		case n == 0:
			l.wrong("broadcast %s to %s is sent by our tables and did not come", c.Token, c.Chat)
		default:
			l.News++
		}
	}
	for c, n := range have {
		l.wrong("broadcast %s came %d times to %s, who is not among its recipients", c.token, n, c.chat)
	}
	l.recipients(b, listed)
}

// delivered counts the copies that customers have.
func (b *Books) delivered() map[copied]int {
	have := map[copied]int{}
	for chat, all := range b.Chats {
		for _, m := range all {
			for _, t := range tokens(m.Text) {
				if t[0] == 'B' {
					have[copied{chat, t}]++
				}
			}
		}
	}
	return have
}

// recipients: who was served before a broadcast was asked for is among them.
func (l *Balance) recipients(b *Books, listed map[copied]bool) {
	for _, n := range b.News {
		if !n.Taken {
			continue
		}
		for chat, all := range b.Chats {
			if len(all) > 0 && all[0].At.Before(n.Asked.Add(-time.Second)) && !listed[copied{chat, n.Token}] {
				l.wrong("broadcast %s left out %s", n.Token, chat)
			}
		}
	}
}

// What may come between a call and the note of its outcome.
const (
	sinceCrash = 10 * time.Second // the process was told of the call before, and stood still
	untilCrash = 15 * time.Second // the call was answered, and nobody noted it
)

// doubtful reports whether something may have kept the platform from knowing how a copy
// ended: a call whose answer was lost, or a crash about that time. VK knows what it was
// asked before.
func (b *Books) doubtful(of copied) bool {
	if !strings.HasPrefix(of.chat, "telegram:") {
		return false
	}
	tried := false
	for _, c := range b.Calls {
		if c.Chat != of.chat || !strings.Contains(c.Text, of.token) {
			continue
		}
		tried = true
		switch c.Fault {
		case fault.HangBefore, fault.HangAfter, fault.CloseBefore, fault.CloseAfter, fault.HTMLBefore, fault.HTMLAfter:
			return true
		}
		if within(b.Crashes, c.At, sinceCrash, untilCrash) {
			return true
		}
	}
	return !tried && len(b.Crashes) > 0 // the claim was made, and then the process ended
}
