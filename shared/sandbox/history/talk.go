package history

import "time"

// talks is some rounds of question and answer.
func (l *life) talks() {
	for rounds := 0; rounds < 5; rounds++ {
		if l.chance(.3) {
			l.works(20 * time.Minute)
			l.does(Step{Say: Comment{To: Inside}})
		}
		if l.chance(.85) {
			l.works(30 * time.Minute)
			l.answers()
		}
		if l.chance(.15) {
			l.waits()
		}
		if !l.chance(.4) {
			return
		}
		if l.rec.By == "" {
			l.after(90 * time.Minute)
			l.add(Step{Say: Comment{To: In}})
			if l.chance(.2) { // and one more
				l.after(time.Minute)
				l.add(Step{Say: Comment{To: In}})
			}
		}
	}
}

// waits is a status in which nobody works.
func (l *life) waits() {
	status := one(l, []string{"needInfo", "waitingSupplier"})
	if status == l.status {
		return
	}
	l.works(10 * time.Minute)
	l.does(Step{Status: status})
	if l.chance(.85) {
		l.works(6 * time.Hour)
		l.does(Step{Status: "inProgress"})
	}
}

// answers writes to the customer, not always at the first attempt.
func (l *life) answers() {
	how := l.r.Float64()
	switch {
	case how < .05: // the prefix was forgotten
		l.does(Step{Say: Comment{To: Inside}})
		l.rewrites(25*time.Minute, Out)
	case how < .08: // a mistake was found
		l.does(Step{Say: l.reply()})
		l.rewrites(5*time.Minute, Out)
	case how < .095: // it was not meant for the customer
		l.does(Step{Say: Comment{To: Out}})
		l.rewrites(2*time.Minute, Inside)
	case how < .115:
		l.does(Step{Say: Comment{To: Out}})
		number := l.said
		l.works(3 * time.Minute)
		l.does(Step{Deletes: number})
		if l.chance(.7) {
			l.works(3 * time.Minute)
			l.does(Step{Say: Comment{To: Out}})
		}
	case how < .13: // there and back again
		l.does(Step{Say: Comment{To: Out}})
		number := l.said
		l.rewrites(2*time.Minute, Inside)
		l.works(3 * time.Minute)
		l.does(Step{Say: Comment{To: Out}, Rewrites: number})
	case how < .2 && l.status == "open":
		l.does(Step{Status: "inProgress", Say: Comment{To: Out}})
	default:
		l.does(Step{Say: l.reply()})
	}
}

func (l *life) reply() Comment { return Comment{To: Out, Summon: l.chance(.1)} }

// rewrites changes the text of the last comment.
func (l *life) rewrites(median time.Duration, to Audience) {
	number, summons := l.said, l.rec.Steps[len(l.rec.Steps)-1].Say.Summon
	l.works(median)
	l.does(Step{Say: Comment{To: to, Summon: summons}, Rewrites: number})
}
