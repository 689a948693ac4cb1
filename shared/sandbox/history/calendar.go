package history

import (
	"math/rand/v2"
	"sort"
	"time"
)

// calendar knows how many tickets each hour brings.
type calendar struct {
	from  time.Time // a whole hour
	to    time.Time
	until []float64 // weight of all hours up to and including this one
	rush  []bool
}

// ofDay is how busy the hours of a day are, by the clock of the people.
var ofDay = [24]float64{
	.08, .05, .04, .03, .03, .05, .12, .3, .7, 1.2, 1.5, 1.5, 1.2, 1.2, 1.4, 1.3, 1.2, 1, .8, .6, .5, .4, .25, .15,
}

// ofMonth is how busy the months are.
var ofMonth = [12]float64{.8, 1, 1.1, 1, .8, .9, .75, .75, 1.1, 1.1, 1.2, 1.35}

const (
	ofWeekend = .22
	growth    = .8 // from the begin to the end
)

func newCalendar(cfg Config, rushes []Rush) calendar {
	c := calendar{from: cfg.From.UTC().Truncate(time.Hour), to: cfg.To}
	span := cfg.To.Sub(cfg.From)
	sum := 0.0
	for at := c.from; at.Before(cfg.To); at = at.Add(time.Hour) {
		local := at.In(cfg.Zone)
		w := ofDay[local.Hour()] * ofMonth[local.Month()-1] * (1 + growth*float64(at.Sub(cfg.From))/float64(span))
		if d := local.Weekday(); d == time.Saturday || d == time.Sunday {
			w *= ofWeekend
		}
		rushing := false
		for _, r := range rushes {
			if !at.Before(r.At) && at.Before(r.At.Add(r.Lasts)) {
				w, rushing = w+r.Times, true
			}
		}
		sum += w
		c.until, c.rush = append(c.until, sum), append(c.rush, rushing)
	}
	return c
}

// opening gives the time at which ticket n of so many is opened, and whether that is
// in a rush.
func (c calendar) opening(n, of int, r *rand.Rand) (at time.Time, rushing bool) {
	wanted := (float64(n) + r.Float64()) / float64(of) * c.until[len(c.until)-1]
	hour := min(sort.SearchFloat64s(c.until, wanted), len(c.until)-1)
	at = c.from.Add(time.Duration(hour) * time.Hour)
	if r.Float64() > .02 { // the others come with the stroke of the hour
		at = at.Add(time.Duration(r.Int64N(int64(time.Hour/time.Millisecond))) * time.Millisecond)
	}
	if !at.Before(c.to) {
		at = c.to.Add(-time.Millisecond)
	}
	return at, c.rush[hour]
}

// seeded are the incidents of a history: some hours, every second month or so.
func seeded(cfg Config) (rushes []Rush) {
	r := rand.New(rand.NewPCG(cfg.Seed, 1<<63)) //nolint:gosec // made up
	for at := cfg.From; ; {
		at = at.Add(time.Duration((20 + 80*r.Float64()) * float64(24*time.Hour))).Truncate(time.Hour)
		if !at.Before(cfg.To) {
			return rushes
		}
		rushes = append(rushes, Rush{At: at, Lasts: time.Duration(1+r.IntN(5)) * time.Hour, Times: 3 + 12*r.Float64()})
	}
}

// agent is somebody's habits.
type agent struct {
	login string
	pace  float64 // the larger the slower
	liked float64 // mean of the ratings, roughly
	begin int     // hour of the day
	daily bool    // works on weekends too
}

// agent gives the agent in a place of the list.
func (p *Plan) agent(n int) agent {
	paces := []float64{.7, 1, 1.6, .9, 2.4, 1.2, .5}
	liked := []float64{4.6, 4.1, 3.6, 4.4, 3.1, 4, 4.8}
	return agent{
		login: p.cfg.Agents[n], pace: paces[n%len(paces)], liked: liked[n%len(liked)], begin: 8 + 2*(n%3), daily: n%4 == 1,
	}
}

const shift = 9 // hours

// onDuty gives the first time from at on at which an agent works.
func (p *Plan) onDuty(a agent, at time.Time, r *rand.Rand) time.Time {
	late := time.Duration(r.Int64N(int64(40 * time.Minute)))
	for day := 0; ; day++ {
		local := at.In(p.cfg.Zone)
		begin := time.Date(local.Year(), local.Month(), local.Day()+day, a.begin, 0, 0, 0, p.cfg.Zone)
		free := begin.Weekday() == time.Saturday || begin.Weekday() == time.Sunday
		switch {
		case free && !a.daily:
		case !at.Before(begin) && at.Before(begin.Add(shift*time.Hour)):
			return at
		case at.Before(begin):
			return begin.Add(late)
		}
	}
}
