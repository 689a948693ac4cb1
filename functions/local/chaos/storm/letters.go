package storm

// Letter is a message that a queue gave up.
type Letter struct {
	Queue string
	Job   int64
	Kept  bool   // our tables have it
	Waits bool   // it is in the queue of dead letters yet
	State string // of its job; "": it is gone
}

// letters: what a queue gave up is kept for people, each letter, and its job goes on
// without it.
func (l *Balance) letters(b *Books) {
	for _, one := range b.Letters {
		l.Letters++
		switch {
		case one.Waits:
			l.wrong("a dead letter of %s for job %d was not taken out of its queue", one.Queue, one.Job)
		case !one.Kept && one.State != "": // of a job that is gone a letter says nothing
			l.wrong("a dead letter of %s for job %d is kept nowhere, and the job is %s", one.Queue, one.Job, one.State)
		}
	}
}
