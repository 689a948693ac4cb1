package history

import (
	"math"
	"math/rand/v2"
	"time"
)

// life makes up one ticket.
type life struct {
	*Plan
	r      *rand.Rand
	rec    *Record
	now    time.Time
	agent  agent
	status string
	said   int       // comments so far
	has    [5]string // assignee, priority, type, category, deadline
}

// The places in life.has.
const (
	hasAssignee = iota
	hasPriority
	hasType
	hasCategory
	hasDeadline
)

// changes notes a value and reports whether it is another one: what was so before is
// no step.
func (l *life) changes(what int, to string) bool {
	was := l.has[what]
	l.has[what] = to
	return was != to && (was != "" || to != Nobody)
}

// firstCustomer is the id of a history's first customer: above those whom the
// stand-ins know, so that nothing can be sent to them.
const firstCustomer = 1 << 43

// live makes up everything, and forgets what is not over yet.
func (l *life) live() {
	l.open()
	l.work()
	for n, s := range l.rec.Steps {
		if !s.At.Before(l.cfg.To) {
			l.rec.Steps = l.rec.Steps[:n:n]
			return
		}
	}
}

func (l *life) chance(p float64) bool { return l.r.Float64() < p }

// one chooses, the first the most often.
func one[T any](l *life, list []T) T {
	f := l.r.Float64()
	return list[int(f*f*float64(len(list)))]
}

// after lets time pass: median times e^(±1) or so.
func (l *life) after(median time.Duration) {
	d := time.Duration(float64(median) * math.Exp(l.r.NormFloat64()))
	l.now = l.now.Add(d.Truncate(time.Millisecond) + time.Second)
}

// works lets time pass until the agent gets to it.
func (l *life) works(median time.Duration) {
	l.after(time.Duration(float64(median) * l.agent.pace))
	l.now = l.onDuty(l.agent, l.now, l.r).Truncate(time.Millisecond)
}

// does is an operation of the agent's.
func (l *life) does(s Step) {
	s.By = l.agent.login
	l.add(s)
}

func (l *life) add(s Step) {
	s.At = l.now
	if s.Say.To != "" && s.Rewrites == 0 {
		l.said++
	}
	if s.Status != "" {
		l.status = s.Status
	}
	l.rec.Steps = append(l.rec.Steps, s)
}

func (l *life) open() {
	r := l.rec
	var rushing bool
	r.Opened, rushing = l.calendar.opening(r.Number, l.cfg.Tickets, l.r)
	category := one(l, l.cfg.Categories)
	if rushing && l.chance(.8) {
		category = l.cfg.Categories[0]
	}
	r.Queue, r.Category, r.Type, r.Priority = l.cfg.Queues[0], category.Key, category.Type, category.Priority
	r.Subject, r.Text = one(l, subjects), one(l, texts)
	l.now, l.status = r.Opened, "open"
	l.agent = l.Plan.agent(l.r.IntN(len(l.cfg.Agents)))
	if l.chance(.03) {
		r.By, r.Category = l.agent.login, ""
		return
	}
	l.customer()
}

// customer lets somebody open the ticket, often not for the first time.
func (l *life) customer() {
	n := l.r.IntN(l.cfg.Tickets/3 + 1)
	p := l.customers[n%len(l.customers)]
	l.rec.Customer = Customer{
		Messenger: l.cfg.Messengers[n%5/3%len(l.cfg.Messengers)], // three of five have the first
		ID:        firstCustomer + int64(n),
		Name:      p.FirstName + " " + p.LastName, Nick: p.Nick, Locale: "ru",
	}
	if p.English {
		l.rec.Customer.Locale = "en"
	}
}

// work is what becomes of a ticket.
func (l *life) work() {
	switch {
	case l.chance(.004): // nobody ever looked at it
		return
	case l.chance(.04): // it ended without being anybody's
		l.works(5 * time.Hour)
		l.ends("duplicate")
		return
	}
	l.takes()
	l.sorts()
	l.talks()
	moves := .05
	if l.rec.By != "" {
		moves = .3 // what an agent has noticed is often others' to mend
	}
	if len(l.cfg.Queues) > 1 && l.chance(moves) {
		l.works(time.Hour)
		l.does(Step{Queue: l.cfg.Queues[1+l.r.IntN(len(l.cfg.Queues)-1)]})
		l.talks()
	}
	for again := 0; ; again++ {
		if l.chance(.006) { // it is left lying
			return
		}
		if final := l.solves(); final {
			return
		}
		l.rates()
		if again == 3 || !l.chance(.12) {
			break
		}
		l.reopens()
	}
	if l.chance(.5) {
		l.works(60 * time.Hour)
		l.does(Step{Status: "closed", Resolution: "fixed"})
		if l.chance(.04) {
			l.reopens()
		}
	}
}

// takes gives the ticket to an agent.
func (l *life) takes() {
	l.works(40 * time.Minute)
	switch {
	case l.chance(.1): // whoever sees it first gives it to somebody else
		l.gives()
	case l.chance(.5):
		l.has[hasAssignee] = l.agent.login
		l.does(Step{Assignee: l.agent.login, Status: "inProgress"})
		return
	default:
		l.has[hasAssignee] = l.agent.login
		l.does(Step{Assignee: l.agent.login})
	}
	if l.chance(.8) {
		l.works(10 * time.Minute)
		l.does(Step{Status: "inProgress"})
	}
}

// gives makes somebody else the one who works.
func (l *life) gives() {
	n := l.r.IntN(len(l.cfg.Agents))
	to := l.Plan.agent(n)
	if l.changes(hasAssignee, to.login) {
		l.does(Step{Assignee: to.login})
	}
	l.agent = to
}

// sorts changes what the category gave, and says until when.
func (l *life) sorts() {
	l.has[hasPriority], l.has[hasType], l.has[hasCategory] = l.rec.Priority, l.rec.Type, l.rec.Category
	if v := one(l, []string{"critical", "minor", "blocker", "normal", "trivial"}); l.chance(.12) && l.changes(hasPriority, v) {
		l.works(5 * time.Minute)
		l.does(Step{Priority: v})
	}
	if v := one(l, []string{"question", "incident", "task", "bug", "request"}); l.chance(.1) && l.changes(hasType, v) {
		l.works(5 * time.Minute)
		l.does(Step{Type: v})
	}
	if v := one(l, l.cfg.Categories).Key; l.rec.By == "" && l.chance(.05) && l.changes(hasCategory, v) {
		l.works(5 * time.Minute)
		l.does(Step{Category: v})
	}
	if !l.chance(.25) {
		return
	}
	l.works(5 * time.Minute)
	l.has[hasDeadline] = l.day(l.r.IntN(8))
	l.does(Step{Deadline: l.has[hasDeadline]})
	if l.chance(.15) {
		l.works(4 * time.Hour)
		if v := one(l, []string{l.day(5 + l.r.IntN(10)), Nobody}); l.changes(hasDeadline, v) {
			l.does(Step{Deadline: v})
		}
	}
}

// day is a date by the people's clock.
func (l *life) day(ahead int) string {
	return l.now.In(l.cfg.Zone).AddDate(0, 0, ahead).Format(time.DateOnly)
}

// solves ends the work. final: no more can come.
func (l *life) solves() (final bool) {
	l.works(3 * time.Hour)
	if len(l.cfg.Ends) > 0 && l.chance(.06) {
		l.does(Step{Status: one(l, l.cfg.Ends), Resolution: "wontFix"})
		return true
	}
	l.ends(one(l, []string{"fixed", "successful", "cantReproduce", "wontFix", "later"}))
	if l.chance(.01) && l.changes(hasAssignee, Nobody) {
		l.works(time.Hour)
		l.does(Step{Assignee: Nobody})
	}
	return false
}

func (l *life) ends(resolution string) {
	s := Step{Status: "resolved", Resolution: resolution}
	if l.chance(.15) { // nobody has answered: it ends by itself, at any hour
		l.after(9 * time.Hour)
		l.dueNow()
		l.add(s)
		return
	}
	if l.chance(.4) {
		s.Say.To = Out
	}
	if day := l.day(0); l.chance(.08) && l.changes(hasDeadline, day) {
		s.Deadline = day
	}
	l.does(s)
}

// dueNow lets time pass until about the end of the deadline's day, if that is to come.
func (l *life) dueNow() {
	day, err := time.ParseInLocation(time.DateOnly, l.has[hasDeadline], l.cfg.Zone)
	if err != nil {
		return // there is none
	}
	around := time.Duration(l.r.Int64N(4*60*60*1000)) * time.Millisecond
	if end := day.AddDate(0, 0, 1).Add(around - 2*time.Hour); end.After(l.now) {
		l.now = end
	}
}

// rates lets the customer rate, and think again.
func (l *life) rates() {
	if l.rec.By != "" || !l.chance(.45) {
		return
	}
	l.after(2 * time.Hour)
	l.add(l.rating())
	if l.chance(.1) {
		l.after(20 * time.Hour)
		l.add(l.rating())
	}
}

func (l *life) rating() Step {
	stars := int(math.Round(l.agent.liked + 1.1*l.r.NormFloat64()))
	return Step{Rating: min(max(stars, 1), 5), Say: Comment{To: Robot}}
}

// reopens takes it back to work, by the customer or by an agent.
func (l *life) reopens() {
	if l.chance(.6) && l.rec.By == "" {
		l.after(12 * time.Hour)
		l.add(Step{Status: "reopened", Say: Comment{To: In}})
	} else {
		l.works(8 * time.Hour)
		l.does(Step{Status: "reopened"})
	}
	if l.chance(.15) {
		l.works(time.Hour)
		l.gives()
	}
	if l.chance(.7) {
		l.works(30 * time.Minute)
		l.does(Step{Status: "inProgress"})
	}
	l.talks()
}
