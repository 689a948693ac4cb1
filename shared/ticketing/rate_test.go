package ticketing_test

import (
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

func rates(c ticket.Customer, key string, sequence int64, score int, remark string) job.New {
	return wiringtest.Inbound(c, ticket.KindRate, key, sequence, ticket.Rate{
		Customer: c, Ref: ticket.Ref{Draft: "d1"}, Score: score, Remark: remark, At: at,
	})
}

func wantRating(r *wiringtest.Rig, score, remark string) {
	r.T.Helper()
	k := r.Ticket("d1")
	if k.Fields["supportRating"] != score || k.Fields["supportRemark"] != remark {
		r.T.Errorf("rated %q %q, want %q %q", k.Fields["supportRating"], k.Fields["supportRemark"], score, remark)
	}
}

// The rating comes first, the remark later, and neither takes the other away. A
// customer may think again.
func TestRate_RatingAndRemark(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		r.Open(c, "d1")
		run(r, rates(c, "r1", 1, 4, ""))
		wantRating(r, "4", "")
		wantText(r, written(r, "d1", "Оценка клиента", 1)[0].Text, "Оценка клиента: **4** из 5 ★★★★\n\n[//]: # (support-bot:r")
		run(r, rates(c, "r2", 2, 0, "быстро & *вежливо*\nспасибо"))
		wantRating(r, "4", "быстро & *вежливо*\nспасибо")
		wantText(r, written(r, "d1", "Отзыв клиента", 1)[0].Text, "Отзыв клиента:\n\n", `> быстро \& \*вежливо\*`, "\n> спасибо", "[//]: # (support-bot:r")
		run(r, rates(c, "r3", 3, 1, "передумал"))
		wantRating(r, "1", "передумал")
		wantText(r, written(r, "d1", "передумал", 1)[0].Text, "**1** из 5 ★\n", "> передумал")
		written(r, "d1", "Оценка клиента", 2)
	})
}

// Whatever is unknown or refused on the way, the rating is in the fields and in
// one comment.
func TestRate_Faults(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*wiringtest.Rig){
		"fields: took effect":   func(r *wiringtest.Rig) { fails(r, patchIssue, fault.CloseAfter, 1) },
		"fields: no effect":     func(r *wiringtest.Rig) { fails(r, patchIssue, fault.CloseBefore, 1) },
		"fields: conflict":      func(r *wiringtest.Rig) { refuses(r, patchIssue, 409, 1) },
		"fields: too many":      func(r *wiringtest.Rig) { refuses(r, patchIssue, 429, 1) },
		"ticket not readable":   func(r *wiringtest.Rig) { refuses(r, "GET /v3/issues/*", 503, 1) },
		"comment: took effect":  func(r *wiringtest.Rig) { fails(r, postComment, fault.CloseAfter, 1) },
		"comment: no effect":    func(r *wiringtest.Rig) { fails(r, postComment, fault.CloseBefore, 1) },
		"comment: not answered": func(r *wiringtest.Rig) { refuses(r, postComment, 503, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			c := wiringtest.Telegrammer()
			r.Open(c, "d1")
			spoil(r)
			run(r, rates(c, "r1", 1, 5, "класс"))
			r.Want("r1", job.Queued)
			r.Later(15 * time.Minute)
			r.Want("r1", job.Completed)
			wantRating(r, "5", "класс")
			written(r, "d1", "Оценка клиента", 1)
		})
	}
}

// In a queue without our fields the comment says it.
func TestRate_NoFields(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t, func(cfg *wiringtest.Config) {
		cfg.Tracker.Queues = append(cfg.Tracker.Queues, sandbox.DefaultQueue("OPS"))
	})
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	if _, err := r.Agent.Move(k.Key, "OPS"); err != nil {
		t.Fatal(err)
	}
	run(r, rates(c, "r1", 1, 5, "класс"))
	wantState(r, "r1", job.Completed, 0)
	written(r, "d1", "**5** из 5", 1)
	if k := r.Ticket("d1"); k.Queue != "OPS" || len(k.Fields) != 0 {
		t.Errorf("ticket %+v", k)
	}
}
