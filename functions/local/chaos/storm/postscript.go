package storm

import (
	"strings"
	"time"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/vk"
)

// postscripts is how many customers write one at the most.
const postscripts = 5

// postscript lets some customers add a message to their ticket that VK fails to bring. In
// the storm a wipe may excuse that such messages are lost, at any time: these are written
// when no wipe is near. While one is, it is not ok, and nothing is written yet.
func (w *world) postscript() (written int, ok bool) {
	b := &Books{}
	w.adversary.tell(b)
	if within(b.Wipes, time.Now(), blind+settling, 0) {
		return 0, false
	}
	for _, c := range w.customers {
		if written < postscripts && c.talks() && strings.HasPrefix(c.phone.address(), "vk:") {
			w.faults[1].First(fault.Fault{Method: vk.CallbackMethod, Kind: fault.Drop, Times: 1})
			token := c.token("M")
			c.bursts[token] = c.serial
			c.phone.write(canary + " " + token + " и последнее")
			written++
		}
	}
	return written, true
}

// talks reports whether all that a customer writes goes into a ticket: there is one, it
// is not resolved, and there was no other form.
func (c *customer) talks() bool {
	if len(c.forms) != 1 {
		return false
	}
	key := c.w.keyOf(c.forms[0].Subject)
	k, ok := c.w.tracker.Ticket(key)
	return key != "" && ok && k.Status != "resolved"
}
