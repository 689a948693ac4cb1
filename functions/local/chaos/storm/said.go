package storm

import (
	"strings"
	"time"
)

// Said is a message of a customer's, as the conversation has it.
type Said struct {
	Token   string
	Chat    string
	Number  int64 // the messenger's, in the order in which it was written
	At      time.Time
	Burst   int    // of those that were written at once
	File    string // the bytes of its photo; "": it has none
	Brought bool   // the messenger's call was taken
}

// said: every message is in exactly one ticket, the customer's own, once.
func (l *Balance) said(b *Books, where index) {
	var took []time.Duration
	var missing []Said
	for _, s := range b.Said {
		if kind := s.Token[0]; kind != 'M' && kind != 'R' {
			continue
		}
		l.Said++
		found := where[s.Token]
		switch {
		case len(found) > 1:
			l.wrong("message %s is in tickets %d times", s.Token, len(found))
		case len(found) == 0:
			missing = append(missing, s)
		case b.Tickets[found[0].ticket].Chat != s.Chat:
			l.wrong("message %s is in somebody else's ticket", s.Token)
		default:
			l.Recorded++
			if at := found[0].entry; at >= 0 {
				took = append(took, max(0, b.Tickets[found[0].ticket].Entries[at].At.Sub(s.At)))
			}
		}
	}
	l.missing(b, missing)
	l.Ticket = spread(took)
}

// missing: what is in no ticket waits for a person, or was left with the customer by a
// question, or could not be known any more.
func (l *Balance) missing(b *Books, all []Said) {
	type burst struct {
		chat string
		n    int
	}
	asked := map[burst]bool{}
	used := map[string]map[int64]bool{}
	for _, s := range all {
		of := burst{s.Chat, s.Burst}
		if _, known := asked[of]; !known && !b.held(s.Token) {
			asked[of] = b.asked(s, used)
		}
		switch {
		case b.held(s.Token):
			l.Held++
		case asked[of]:
			l.Returned++
		case b.unbrought(s):
			l.Unbrought++
		default:
			l.wrong("message %s of %s was written and is lost", s.Token, s.Chat)
		}
	}
}

// questions are what the bot says about messages that it leaves with the customer, when
// it has forgotten what they were about; the last is in the place of one that was
// answered so.
var questions = []string{
	"Открытых обращений нет. Создать новое с этим сообщением", "Обращение недавно решено", "К какому относится", "Сообщение не отправлено",
}

// askWait is how long after a message the bot may ask about it, webhooks that come late
// included.
const askWait = 2 * time.Minute

// asked reports whether the customer was asked, after a message, what to do with it, by
// a question that was about no other burst; only a memory that was wiped excuses that.
// The question is used then.
func (b *Books) asked(s Said, used map[string]map[int64]bool) bool {
	if used[s.Chat] == nil {
		used[s.Chat] = map[int64]bool{}
	}
	for _, m := range b.Chats[s.Chat] {
		// The messengers' times have no fractions.
		before, long := m.At.Before(s.At.Add(-time.Second)), m.At.After(s.At.Add(askWait))
		if before || long || used[s.Chat][m.ID] || !contains(m.Text, questions) || !forgot(b.Wipes, m.At) {
			continue
		}
		used[s.Chat][m.ID] = true
		return true
	}
	return false
}

// forgot: something was forgotten before that.
func forgot(wipes []time.Time, t time.Time) bool {
	for _, w := range wipes {
		if w.Before(t.Add(time.Second)) {
			return true
		}
	}
	return false
}

func contains(text string, any []string) bool {
	for _, one := range any {
		if strings.Contains(text, one) {
			return true
		}
	}
	return false
}

// blind is how long around a wipe the platform looks for nothing that VK failed to
// bring, since nobody knows then what was taken (reconcile.Missed).
const blind = 2*time.Minute + time.Second

func (b *Books) unbrought(s Said) bool {
	return !s.Brought && strings.HasPrefix(s.Chat, "vk:") && within(b.Wipes, s.At, blind, blind)
}
