package storm

import "strings"

// Review is a job that waits for a person.
type Review struct {
	ID               int64
	Kind, Lane       string
	Error            string
	Attempts, Losses int
	Resent           int // messages that were sent once more
}

// What a job may fail before a person has to look at it, as operators are told.
const (
	mostAttempts = 8
	mostLosses   = 5
)

// reviews: nothing is left to a person that could go on by itself.
func (l *Balance) reviews(b *Books) {
	for _, r := range b.Reviews {
		// Of VK's messages it is known whether they came.
		doubt := strings.HasPrefix(r.Kind, "deliver.") && strings.Contains(r.Lane, ":telegram:") && r.Resent > 0
		if r.Attempts < mostAttempts && r.Losses < mostLosses && !doubt {
			l.wrong("job %d, %s, waits for a person after %d failures and %d lost leases: %s", r.ID, r.Kind, r.Attempts, r.Losses, r.Error)
		}
	}
}
