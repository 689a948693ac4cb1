package storm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Balance is what the books come to.
type Balance struct {
	Wrong []string // differences that nothing excuses
	Late  int      // of them, those that work to come may still mend

	Said, Recorded, Returned, Held int // messages of customers: in a ticket, left with the customer, in review
	Forms, Tickets, Again          int // forms begun, opened, given up
	Answers, Once, Twice, Review   int // what agents told: exactly once, twice and said so, in review
	Notes                          int // for colleagues
	News, NewsUncertain            int // copies of broadcasts

	Ticket, Answer Spread // how long it took into the ticket, and to the customer
	Windows        []Window
	Thawed         int // calls of processes that had just been frozen: in no window
}

// Spread is of durations.
type Spread struct{ Median, Longest time.Duration }

// spread sorts.
func spread(all []time.Duration) (s Spread) {
	if len(all) > 0 {
		slices.Sort(all)
		s = Spread{all[len(all)/2], all[len(all)-1]}
	}
	return s
}

// Balance compares everything with everything.
func (b *Books) Balance() *Balance {
	l := &Balance{}
	where := b.index()
	l.said(b, where)
	l.ordered(b)
	l.forms(b, where)
	l.written(b)
	l.news(b)
	l.Late = len(l.Wrong)
	l.windows(b)
	for _, line := range b.Spilled {
		l.wrong("a canary is in %s", line)
	}
	return l
}

func (l *Balance) wrong(format string, args ...any) {
	l.Wrong = append(l.Wrong, fmt.Sprintf(format, args...))
}

// said: every message that was taken is in exactly one ticket, the customer's own, once.
func (l *Balance) said(b *Books, where index) {
	var took []time.Duration
	for _, s := range b.Said {
		if kind := s.Token[0]; kind != 'M' && kind != 'R' {
			continue
		}
		l.Said++
		found := where[s.Token]
		switch {
		case len(found) > 1:
			l.wrong("message %s is in tickets %d times", s.Token, len(found))
		case len(found) == 0 && b.held(s.Token):
			l.Held++
		case len(found) == 0 && b.asked(s):
			l.Returned++
		case len(found) == 0:
			l.wrong("message %s of %s was taken and is lost", s.Token, s.Chat)
		case b.Tickets[found[0].ticket].Chat != s.Chat:
			l.wrong("message %s is in somebody else's ticket", s.Token)
		default:
			l.Recorded++
			if at := found[0].entry; at >= 0 {
				took = append(took, b.Tickets[found[0].ticket].Entries[at].At.Sub(s.At))
			}
		}
	}
	l.Ticket = spread(took)
}

// ordered: in a ticket messages stand as they were written, but for those that say
// themselves that they came late.
func (l *Balance) ordered(b *Books) {
	number := map[string]int64{}
	for _, s := range b.Said {
		number[s.Token] = s.Number
	}
	for _, k := range b.Tickets {
		newest, before := int64(0), ""
		for _, e := range k.Entries {
			if strings.Contains(e.Text, late) {
				continue
			}
			for _, t := range tokens(e.Text) {
				n, ok := number[t]
				if !ok || t[0] != 'M' {
					continue
				}
				if n < newest {
					l.wrong("in %s message %s stands behind %s", k.Key, t, before)
				}
				if n > newest {
					newest, before = n, t
				}
			}
		}
	}
}

// forms: of a form there is one ticket with all that was written, or none and nobody was
// told of one.
func (l *Balance) forms(b *Books, where index) {
	l.Tickets = len(b.Tickets)
	taken := map[string]bool{}
	for _, s := range b.Said {
		taken[s.Token] = true
	}
	for _, f := range b.Forms {
		l.Forms++
		n := len(where[f.Subject])
		switch {
		case n > 1:
			l.wrong("the form %s has made %d tickets", f.Subject, n)
		case n == 0 && b.held(f.Subject):
			l.Held++
		case n == 0 && b.promised(f):
			l.wrong("the form %s was accepted and has no ticket", f.Subject)
		case n == 0:
			l.Again++
		}
		for _, part := range f.Parts {
			switch found := len(where[part]); {
			case found > 1:
				l.wrong("part %s of a form is in tickets %d times", part, found)
			case found == 0 && n == 1 && taken[part] && !b.held(part):
				l.wrong("part %s of the form %s is not in its ticket", part, f.Subject)
			}
		}
	}
}

// promised reports whether the customer was told that a form was accepted.
func (b *Books) promised(f Form) bool {
	for _, m := range b.Chats[f.Chat] {
		if strings.Contains(m.Text, f.Subject) && strings.Contains(m.Text, "принято") {
			return true
		}
	}
	return false
}

// written: what an agent tells a customer comes once, or twice where nobody could know
// and the platform says so; what is for colleagues comes to nobody.
func (l *Balance) written(b *Books) {
	var took []time.Duration
	for _, d := range b.Written {
		if d.Kind == "inside" {
			l.Notes++
			l.kept(b, d)
			continue
		}
		l.Answers++
		n, first := count(b.Chats[d.Chat], d)
		admitted := b.listed(d)
		switch {
		case n == 1 && d.Chat != "", n == 0 && d.Replaced:
			l.Once++
			if n == 1 {
				took = append(took, max(0, first.At.Sub(d.At)))
			}
		case n == 2 && strings.HasPrefix(d.Chat, "telegram:") && (admitted.Resent || admitted.Review):
			l.Twice++
		case n == 0 && admitted.Review:
			l.Review++
		case n == 0:
			l.wrong("%s %s never came to %s", d.Kind, d.Token, d.Chat)
		default:
			l.wrong("%s %s came to %s %d times", d.Kind, d.Token, d.Chat, n)
		}
	}
	l.Answer = spread(took)
	l.answersInOrder(b)
}

func count(chat []Got, d Written) (n int, first Got) {
	for _, m := range chat {
		if strings.Contains(m.Text, d.Token) && strings.Contains(m.Text, d.And) {
			if n++; n == 1 {
				first = m
			}
		}
	}
	return n, first
}

// kept: nobody has a note for colleagues.
func (l *Balance) kept(b *Books, d Written) {
	for chat, all := range b.Chats {
		for _, m := range all {
			if strings.Contains(m.Text, d.Token) {
				l.wrong("the note %s for colleagues came to %s", d.Token, chat)
			}
		}
	}
}

// answersInOrder: a customer first sees answers as they were written.
func (l *Balance) answersInOrder(b *Books) {
	newest := map[string]int64{}
	for _, d := range slices.SortedFunc(slices.Values(b.Written), func(x, y Written) int { return cmp.Compare(x.At.UnixNano(), y.At.UnixNano()) }) {
		if d.Kind != "answer" || d.Loose {
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

// news: nobody has a broadcast twice, and what our tables say of it is so.
func (l *Balance) news(b *Books) {
	type copied struct{ chat, token string }
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
	for _, c := range b.Copies {
		n := have[copied{c.Chat, c.Token}]
		delete(have, copied{c.Chat, c.Token})
		switch {
		case n > 1:
			l.wrong("broadcast %s came to %s %d times", c.Token, c.Chat, n)
		case c.Outcome == "uncertain":
			l.NewsUncertain++
		case (n == 1) != (c.Outcome == "sent"):
			l.wrong("broadcast %s to %s is %q in our tables and came %d times", c.Token, c.Chat, c.Outcome, n)
		default:
			l.News += n
		}
	}
	for c, n := range have {
		l.wrong("broadcast %s came %d times to %s, who is not among its recipients", c.token, n, c.chat)
	}
}
