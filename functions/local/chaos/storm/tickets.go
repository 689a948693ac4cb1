package storm

import (
	"strings"
	"time"
)

// Ticket is a ticket with everything that was written in it, the description first.
type Ticket struct {
	Key     string
	Chat    string
	Summary string
	Rating  string // the field
	Entries []Entry
	Files   []string // bytes
}

// Entry is a description or a comment.
type Entry struct {
	Text string
	At   time.Time
}

// index says where each token is.
type index map[string][]place

type place struct{ ticket, entry int }

func (b *Books) index() index {
	where := index{}
	for i, k := range b.Tickets {
		for _, t := range tokens(k.Summary) {
			where[t] = append(where[t], place{i, -1})
		}
		for j, e := range k.Entries {
			for _, t := range tokens(e.Text) {
				where[t] = append(where[t], place{i, j})
			}
		}
	}
	return where
}

// strangers: every ticket is of a form that somebody filled in.
func (l *Balance) strangers(b *Books) {
	l.Tickets = len(b.Tickets)
	known := map[string]bool{}
	for _, f := range b.Forms {
		known[f.Subject] = true
	}
	for _, k := range b.Tickets {
		if first, _, _ := strings.Cut(k.Summary, " "); !known[first] {
			l.wrong("ticket %s is of no form", k.Key)
		}
	}
}

// photos: the files of what is in a ticket are there too, byte by byte, once.
func (l *Balance) photos(b *Books, where index) {
	for _, s := range b.Said {
		found := where[s.Token]
		if s.File == "" || len(found) != 1 {
			continue
		}
		n := 0
		for _, data := range b.Tickets[found[0].ticket].Files {
			if data == s.File {
				n++
			}
		}
		if l.Photos++; n != 1 {
			l.wrong("the file of %s is in its ticket %d times", s.Token, n)
		}
	}
}

// Rating is what a customer gave a ticket, and was thanked for.
type Rating struct {
	Chat, Ticket, Score string
}

// ratings: what a customer was thanked for is in the ticket.
func (l *Balance) ratings(b *Books) {
	of := map[string]string{}
	for _, k := range b.Tickets {
		of[k.Key] = k.Rating
	}
	for _, r := range b.Ratings {
		_, chat, _ := strings.Cut(r.Chat, ":")
		review := b.held(`"score"`) && b.held(chat)
		if l.Ratings++; of[r.Ticket] != r.Score && !review {
			l.wrong("%s was rated %s by %s and has %q", r.Ticket, r.Score, r.Chat, of[r.Ticket])
		}
	}
}
