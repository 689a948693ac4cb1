package storm

import (
	"fmt"
	"slices"
	"time"
)

// Balance is what the books come to.
type Balance struct {
	Wrong []string // differences that nothing excuses
	Late  int      // of them, those that work to come may still mend

	Said, Recorded, Returned, Held int // messages of customers: in a ticket, left with the customer, in review
	Unmarked                       int // that came late, and nobody remembered what had come before
	Unbrought                      int // that VK never brought, and whose memory was wiped in that very time
	Photos                         int // of customers, in a ticket with the same bytes
	Forms, Tickets, Again, Told    int // forms begun, opened, given up; forgotten, and the customer was told
	Unsaid                         int // forms that were forgotten, and what was to be said of that, too
	Ratings                        int
	Answers, Once, Twice, Review   int // what agents told: exactly once, twice and said so, in review
	Notes                          int // for colleagues
	News, NewsUncertain            int // copies of broadcasts
	Letters                        int // that the queue gave up

	Ticket, Answer Spread // how long it took into the ticket, and to the customer
	Windows        []Window
	Alone          time.Duration // that processes went on without the limiter: calls may have had places of their own
	Thawed, Wiped  int           // calls of processes that had just been frozen, or after a wipe: in no window
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
	l.photos(b, where)
	l.forms(b, where)
	l.strangers(b)
	l.apart(b)
	l.ratings(b)
	l.written(b)
	l.inOrder(b)
	l.notes(b)
	l.news(b)
	l.letters(b)
	l.reviews(b)
	l.Late = len(l.Wrong)
	l.windows(b)
	l.refusals(b)
	l.places(b)
	for _, line := range b.Spilled {
		l.wrong("a canary is in %s", line)
	}
	for _, name := range b.Litter {
		l.wrong("a process left %s in its temporary folder", name)
	}
	for _, kind := range b.Unmet {
		l.wrong("nothing met the fault %q", kind)
	}
	return l
}

func (l *Balance) wrong(format string, args ...any) {
	l.Wrong = append(l.Wrong, fmt.Sprintf(format, args...))
}
