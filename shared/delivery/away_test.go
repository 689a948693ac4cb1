package delivery_test

import (
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

// A messenger whose front answers with pages, or breaks connections, for half an
// hour: what was to be said then is said when it is back, and nobody has to help.
func TestAway_PagesInsteadOfAnswers(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]fault.Kind{"pages": fault.HTMLBefore, "broken": fault.CloseBefore} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
				k := r.Open(c, "d1")
				faults := r.Telegram.Faults()
				if name := c.Address.Messenger; name == "vk" {
					faults = r.VK.Faults()
				}
				faults.Add(fault.Fault{Method: "*", Kind: kind})
				first := r.Reply(k, "/reply первый", textFile("a.txt"))
				r.Reply(k, "/reply второй")
				r.Edit(k, first.ID, "/reply первый, исправлен", "edited")
				r.Insert(job.New{
					Queue: ticket.QueueDeliveries, Kind: ticket.KindNotice, Key: "in doubt",
					Lane: job.Lane{Name: ticket.OutboundLane(c.Address)}, Sequence: time.Now().UnixMilli(),
					Payload: ticket.Notice{Address: c.Address, Part: messenger.Part{Text: "передано"}, Uncertain: true},
				})
				for range 30 {
					r.Later(time.Minute)
				}
				faults.Clear()
				for range 3 {
					r.Later(time.Minute)
				}
				r.Want(ticket.AnswerKey(k.ID, first.ID), job.Completed)
				if left := r.Text(`SELECT count(*)::text FROM jobs WHERE state <> 'completed'`); left != "0" {
					t.Errorf("%s jobs are not completed: %s", left, r.Text(`SELECT string_agg(kind || ' ' || state || ' ' || last_error, '; ') FROM jobs WHERE state <> 'completed'`))
				}
				wantSaid(t, r, c, "первый, исправлен", 1)
				wantSaid(t, r, c, "второй", 1)
				wantSaid(t, r, c, "передано", 1)
				wantFiles(t, r, c, "a.txt")
			})
		})
	}
}
