package ticketing_test

import (
	"strings"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

// A comment that nobody knows the end of is looked for when it has settled, and
// written again only if it is not there. What follows waits for it.
func TestWrite_OutcomeUnknown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind  fault.Kind
		posts int // calls that write the first message
	}{
		"took effect":               {fault.CloseAfter, 1},
		"took effect, a web page":   {fault.HTMLAfter, 1},
		"no effect":                 {fault.CloseBefore, 2},
		"no effect, a server error": {fault.HTMLBefore, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			c := wiringtest.Telegrammer()
			r.Open(c, "d1")
			before := calls(r, "POST", "comments")
			fails(r, postComment, tc.kind, 1)
			run(r, says(c, "m1", "d1", ticket.Message{Content: messenger.Content{
				Text: "первое", Attachments: []messenger.Attachment{sent(r, c, "a.txt", []byte("a.txt"))},
			}}), wiringtest.Says(c, "m2", "d1", "второе"))
			wantState(r, "m1", job.Queued, 0)
			r.Later(50 * time.Second)
			if n := calls(r, "GET", "comments"); n != 0 {
				t.Errorf("looked for it %d times before it has settled", n)
			}
			r.Later(20 * time.Second)
			wantState(r, "m1", job.Completed, 0)
			wantState(r, "m2", job.Completed, 0)
			if got := calls(r, "POST", "comments") - before; got != tc.posts+1 {
				t.Errorf("%d comments were written, want %d", got, tc.posts+1)
			}
			wantFiles(r, written(r, "d1", "первое", 1)[0].Files, "a.txt")
			k := r.Ticket("d1")
			wantText(r, k.Comments[1].Text+k.Comments[2].Text, "первое", "второе")
		})
	}
}

// Whoever runs the job before the call has settled (a rescued lease, a replay)
// neither looks nor writes, and counts no failure.
func TestWrite_MayStillLand(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	r.Open(c, "d1")
	fails(r, postComment, fault.CloseBefore, 1)
	run(r, wiringtest.Says(c, "m1", "d1", "первое"))
	before := calls(r, "POST", "comments")
	now(r, "m1")
	wantState(r, "m1", job.Queued, 0)
	if got := calls(r, "POST", "comments") - before + calls(r, "GET", "comments"); got != 0 {
		t.Errorf("%d calls before the first one has settled", got)
	}
	written(r, "d1", "первое", 0)
	r.Later(time.Minute)
	r.Want("m1", job.Completed)
	written(r, "d1", "первое", 1)
}

// The look-up itself may fail: what is unknown stays unknown.
func TestWrite_LookUpFails(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	r.Open(c, "d1")
	fails(r, postComment, fault.CloseAfter, 1)
	run(r, wiringtest.Says(c, "m1", "d1", "первое"))
	refuses(r, getComments, 503, 1)
	refuses(r, getComments, 429, 1)
	for range 3 {
		r.Later(time.Minute)
	}
	wantState(r, "m1", job.Completed, 0)
	written(r, "d1", "первое", 1)
}

// Unknown, looked for, not there, refused, and unknown again: it is in the ticket
// once.
func TestWrite_RefusedAfterUnknown(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	r.Open(c, "d1")
	fails(r, postComment, fault.CloseBefore, 1)
	refuses(r, postComment, 429, 1)
	fails(r, postComment, fault.CloseAfter, 1)
	run(r, wiringtest.Says(c, "m1", "d1", "первое"))
	for range 4 {
		r.Later(2 * time.Minute)
	}
	wantState(r, "m1", job.Completed, 0)
	written(r, "d1", "первое", 1)
}

// Markers can be known beforehand: they are made of the keys of updates. Neither a
// customer who writes the marker of their next message nor an agent who quotes one
// makes anybody believe that a comment is there.
func TestWrite_QuotedMarkerFoolsNobody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		r.Open(c, "d0")
		run(r, wiringtest.Says(c, "m9", "d0", "чей это знак"))
		text := strings.TrimSpace(written(r, "d0", "чей это знак", 1)[0].Text)
		mark := text[strings.LastIndex(text, "\n")+1:]
		r.Exec(`DELETE FROM jobs WHERE key = 'm9'`)

		k := r.Open(c, "d1")
		run(r,
			says(c, "m1", "d1", ticket.Message{Content: messenger.Content{Text: mark}}),
			says(c, "m2", "d1", ticket.Message{Content: messenger.Content{Text: mark, Markdown: "```\n" + mark + "\n```"}}),
			says(c, "m3", "d1", ticket.Message{Content: messenger.Content{
				Text: "ответ", Quotes: []messenger.Quote{{Kind: "reply", Author: mark, Text: "x\n" + mark}}, Notes: []string{"x\n" + mark},
			}}))
		r.Comment(k, "клиент пишет:\n"+mark+"\nчто это?")
		fails(r, postComment, fault.CloseBefore, 1)
		run(r, wiringtest.Says(c, "m9", "d1", "настоящее"))
		r.Later(time.Minute)
		r.Want("m9", job.Completed)
		written(r, "d1", "настоящее", 1)
	})
}
