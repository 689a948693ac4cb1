package storm

import (
	"slices"
	"strings"
	"time"
)

// Written is what an agent did that concerns a customer, or must not.
type Written struct {
	Kind     string // "answer", "file", "status", "inside"
	Token    string
	And      string // what the message has besides
	Chat     string
	Job      string // how the keys of its deliveries begin
	At       time.Time
	Replaced bool // by a newer version: the customer may have it no more
	Loose    bool // it has no place in the order of the others
}

// written: what an agent tells a customer comes once, or twice where nobody could know
// and the platform says so.
func (l *Balance) written(b *Books) {
	var took []time.Duration
	for _, d := range b.Written {
		if d.Kind == "inside" {
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
		case n == 2 && strings.HasPrefix(d.Chat, "telegram:") && (admitted.Resent || admitted.Review) && !b.calmly(d):
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
}

// calmly reports whether something came twice before there was any fault. The messengers'
// times have no fractions.
func (b *Books) calmly(d Written) bool {
	n, _ := count(slices.DeleteFunc(slices.Clone(b.Chats[d.Chat]), func(m Got) bool { return !m.At.Before(b.Struck.Add(-time.Second)) }), d)
	return n > 1
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

// notes: what is for colleagues went to no messenger, not even to be replaced later.
func (l *Balance) notes(b *Books) {
	inside := map[string]bool{}
	for _, d := range b.Written {
		if d.Kind == "inside" {
			l.Notes++
			inside[d.Token] = true
		}
	}
	for _, c := range b.Calls {
		if c.Service == tracking {
			continue
		}
		for _, t := range tokens(c.Text) {
			if inside[t] {
				l.wrong("the note %s for colleagues went to %s %s by %s", t, c.Service, c.Chat, c.Method)
			}
		}
	}
}
