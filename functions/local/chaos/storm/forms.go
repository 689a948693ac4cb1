package storm

import (
	"slices"
	"strings"
	"time"
)

// Form is a form that a customer began.
type Form struct {
	Chat    string
	Subject string
	Parts   []string
	Began   time.Time
	Sent    time.Time // when it was sent, by a press that was taken; zero: it was not

	press   string // its id
	pressed time.Time
}

// forms: of a form there is one ticket with all that was written. Of one that was not
// sent there may be none; of one that was only if its memory was wiped, and the customer
// was told, or what was to be told was wiped too.
func (l *Balance) forms(b *Books, where index) {
	written := map[string]bool{}
	for _, s := range b.Said {
		written[s.Token] = true
	}
	for _, f := range b.Forms {
		l.Forms++
		n := len(where[f.Subject])
		switch {
		case n > 1:
			l.wrong("the form %s has made %d tickets", f.Subject, n)
		case n == 1:
		case b.held(f.Subject):
			l.Held++
		case b.promised(f):
			l.wrong("the form %s was accepted and has no ticket", f.Subject)
		case f.Sent.IsZero():
			l.Again++
		case b.forgotten(f):
			l.Told++
		case b.unsaid(f):
			l.Unsaid++
		default:
			l.wrong("the form %s was sent and is lost", f.Subject)
		}
		for _, part := range f.Parts {
			switch found := len(where[part]); {
			case found > 1:
				l.wrong("part %s of a form is in tickets %d times", part, found)
			case found == 0 && n == 1 && written[part] && !b.held(part):
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

// outdated is what the bot says about a button of what it has forgotten.
var outdated = []string{"Форма устарела", "больше не действует"}

// forgotten reports whether the memory of a form was wiped, and the customer was told
// when they sent it: in the place of a message of the form's, which keeps its time.
func (b *Books) forgotten(f Form) bool {
	if !forgot(b.Wipes, f.Sent.Add(askWait)) {
		return false
	}
	for _, m := range b.Chats[f.Chat] {
		if contains(m.Text, outdated) && !m.At.Before(f.Began.Add(-time.Second)) {
			return true
		}
	}
	return false
}

// unsaid reports whether the memory of a form was wiped before it was sent, and once more
// while the customer had yet to be told: what the bot owes is in the same memory.
func (b *Books) unsaid(f Form) bool {
	before := slices.ContainsFunc(b.Wipes, func(w time.Time) bool { return w.After(f.Began) && w.Before(f.Sent) })
	return before && within(b.Wipes, f.Sent, 0, askWait)
}
