package ticketing_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
	"supportbot/shared/ticketing"
	"supportbot/shared/wiring/wiringtest"
)

// breaker breaks off a run the first time that each stage reaches a point.
type breaker struct {
	at   string // job.HookBegun, ...
	mu   sync.Mutex
	seen map[string]bool
}

func (b *breaker) hook(point string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.points(), point) && !b.seen[point] {
		b.seen[point] = true
		panic("broken off at " + point)
	}
}

// points are those of all stages of this package's jobs.
func (b *breaker) points() (all []string) {
	for kind, k := range ticketing.New(ticketing.Deps{}).Kinds() {
		for _, stage := range k.Stages {
			all = append(all, kind+"/"+stage+"/"+b.at)
		}
	}
	return all
}

// Broken off at any stage of any kind of job, before the call, after it, and after
// its end was recorded: everything is in the ticket once.
func TestStages_BrokenOff(t *testing.T) {
	t.Parallel()
	for _, at := range []string{job.HookBegun, job.HookCalled, job.HookDone} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			b := &breaker{at: at, seen: map[string]bool{}}
			r := wiringtest.New(t, func(cfg *wiringtest.Config) { cfg.Hook = b.hook })
			c := wiringtest.Telegrammer()
			m := func(key, name string) ticket.Message {
				return ticket.Message{Key: key, At: time.Now(), Content: messenger.Content{
					Text: "слова " + name, Attachments: []messenger.Attachment{sent(r, c, name, []byte(name))},
				}}
			}
			settled := func(jobs ...job.New) {
				run(r, jobs...)
				for range 4 {
					r.Later(2 * time.Minute)
				}
				for _, j := range jobs {
					r.Want(j.Key, job.Completed)
				}
			}
			settled(wiringtest.Create(c, "d1", m("", "1.txt")))
			k := r.Ticket("d1")
			settled(says(c, "m1", "d1", m("m1", "2.txt")))
			settled(rates(c, "r1", 11, 5, "спасибо"))
			moveTo(r, k, "resolved")
			again := m("o1", "3.txt")
			settled(wiringtest.Inbound(c, ticket.KindReopen, "o1", 12, ticket.Reopen{Customer: c, Ref: ticket.Ref{Draft: "d1"}, Message: &again}))
			settled(wiringtest.Inbound(c, ticket.KindNote, "n1", 13, ticket.Note{Ref: ticket.Ref{Issue: k.ID}, Note: ticket.NoteResent}))

			if n := len(r.Tracker.Tickets()); n != 1 {
				t.Errorf("%d tickets", n)
			}
			wantFiles(r, r.Ticket("d1").Files, "1.txt", "2.txt", "3.txt")
			for _, text := range []string{"`/reply`", "слова 2.txt", "Оценка клиента", "слова 3.txt", "дважды"} {
				written(r, "d1", text, 1)
			}
			wantRating(r, "5", "спасибо")
			if got := steps(r, k); len(got) != 3 {
				t.Errorf("steps %q, want one of the robot's", got)
			}
			if n, want := len(b.seen), len(b.points()); n != want {
				t.Errorf("%d stages were broken off, want %d: %v", n, want, b.seen)
			}
		})
	}
}
