package dialog_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

// TestWalk_NothingIsLost lets customers do what they like, except to give up what
// they wrote: each message is then in a job, waits in the state, or was refused
// in words. chat.handle checks every keyboard, job and text on the way.
func TestWalk_NothingIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			walk(t, rand.New(rand.NewPCG(seed, 7)))
		})
	}
}

func walk(t *testing.T, rnd *rand.Rand) {
	c := newChat(t)
	placed := map[string]bool{} // keys that jobs carry
	var sent []messenger.Event  // messages with content
	for range 120 {
		c.wait(time.Duration(rnd.Int64N(int64(4 * time.Minute))))
		c.shuffleTickets(rnd)
		ev, ok := c.anything(rnd, sent)
		if !ok {
			continue
		}
		r := c.handle(ev)
		for _, j := range r.Jobs {
			for _, key := range carried(t, j.Payload) {
				placed[key] = true
			}
		}
		if ev.Kind != messenger.EventMessage || ev.Command != "" {
			continue
		}
		if strings.Contains(c.said(), dialog.Text("ru", "form.full")) || strings.Contains(c.said(), dialog.Text("ru", "ask.full")) {
			continue
		}
		sent = append(sent, ev)
	}
	state := encode(t, c.s)
	for _, ev := range sent {
		if !placed[ev.Key] && !strings.Contains(state, `"`+ev.Key+`"`) {
			// The text of a one-line message may live on as a form's subject.
			if !placed[ev.Text] && !strings.Contains(state, ev.Text) {
				t.Errorf("message %s is nowhere", ev.Key)
			}
		}
	}
}

// shuffleTickets makes Tracker a moving thing, now and then out of reach.
func (c *chat) shuffleTickets(rnd *rand.Rand) {
	phases := []ticket.Phase{ticket.PhaseOpen, ticket.PhaseOpen, ticket.PhaseResolved, ticket.PhaseClosed}
	c.v.Tickets = dialog.Tickets{Known: rnd.IntN(5) > 0, At: c.v.Now}
	if !c.v.Tickets.Known {
		return
	}
	for i := range rnd.IntN(4) {
		s := summary(fmt.Sprintf("SUP-%d", i), phases[rnd.IntN(len(phases))], 0)
		s.UpdatedAt = c.v.Now.Add(-time.Duration(rnd.IntN(100)) * time.Hour)
		c.v.Tickets.List = append(c.v.Tickets.List, s)
	}
}

func (c *chat) anything(rnd *rand.Rand, sent []messenger.Event) (messenger.Event, bool) {
	switch n := rnd.IntN(20); {
	case n < 6:
		ev := c.message(fmt.Sprintf("unikat%dz", c.n))
		if rnd.IntN(4) == 0 {
			ev.Sequence -= 3 // overtaken
		}
		return ev, true
	case n < 8:
		ev := c.message("")
		ev.Album, ev.Attachments = fmt.Sprint("album", rnd.IntN(5)), []messenger.Attachment{photo("x.jpg")}
		return ev, true
	case n < 9 && len(sent) > 0:
		old := sent[rnd.IntN(len(sent))]
		return c.edited(old, old.Text+" edited"), true
	case n < 10:
		commands := []string{"/start", "/menu", "/new", "/tickets", "/help", "/lang", "/settings", "/data", "/forget", "/start billing", "/start x"}
		return c.message(commands[rnd.IntN(len(commands))]), true
	default:
		var all []string
		for _, row := range c.board {
			for _, b := range row {
				if !givesUp(b.Data) {
					all = append(all, b.Data)
				}
			}
		}
		if len(all) == 0 {
			return messenger.Event{}, false
		}
		return c.pressed(all[rnd.IntN(len(all))]), true
	}
}

func givesUp(data string) bool {
	// "back" writes the subject anew; who is forgotten loses what waits.
	return strings.HasSuffix(data, ":x") || strings.HasSuffix(data, ":b") || data == "e:yes"
}

func carried(t *testing.T, payload any) []string {
	var keys []string
	switch p := payload.(type) {
	case ticket.Create:
		keys = append(keys, p.Subject)
		for _, m := range p.Messages {
			keys = append(keys, m.Key)
		}
	case ticket.Comment:
		keys = append(keys, p.Message.Key)
	case ticket.Reopen:
		if p.Message != nil {
			keys = append(keys, p.Message.Key)
		}
	case ticket.Again:
		keys = append(keys, p.Event.Key)
	case ticket.Rate:
		keys = append(keys, p.Remark)
	case person.Export:
	default:
		t.Fatalf("payload %T", payload)
	}
	return keys
}

// FuzzPress: buttons can be forged.
func FuzzPress(f *testing.F) {
	for _, data := range []string{"m:new", "f:abcdefghjkmn:k:ok", "a:abcdefgh:t:dx", "v:h:dx:99999999999999999999", "t:add:i5", "r:dx:5", "s:l:en", ":::::", "r:\x00:5"} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		c := newChat(t, summary("SUP-1", ticket.PhaseOpen, 0), summary("SUP-2", ticket.PhaseOpen, 0))
		c.do("Сообщение")
		c.filled()
		c.do("press " + data)
		if len(c.last.Replies) < 2 {
			t.Errorf("a press of %q got no answer", data)
		}
	})
}
