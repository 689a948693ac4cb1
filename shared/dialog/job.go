package dialog

import (
	"time"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
)

// The waits of an album: each part extends by albumWait, never beyond albumCap
// after the first. A part that met a 503 is repeated after the 5 s of our
// Retry-After, and one that is 8 s late still belongs to the others; an agent does
// not miss the seconds.
const (
	albumWait = 9 * time.Second
	albumCap  = 12 * time.Second
)

func (t *turn) customer() ticket.Customer {
	return ticket.Customer{Address: t.ev.Address, User: t.ev.User, Locale: t.locale}
}

// add makes a job of the conversation's inbound lane.
func (t *turn) add(kind, key string, sequence int64, payload any) *job.New {
	t.out.Jobs = append(t.out.Jobs, job.New{
		Queue:         ticket.QueueTickets,
		Kind:          kind,
		Key:           key,
		Lane:          job.Lane{Name: ticket.InboundLane(t.ev.Address)},
		Sequence:      sequence,
		Payload:       payload,
		CorrelationID: t.ev.Key,
	})
	return &t.out.Jobs[len(t.out.Jobs)-1]
}

// comment sends one message into a ticket. The parts of an album gather in one
// job; one that comes when that job has started makes its own.
func (t *turn) comment(p Part, ref ticket.Ref) {
	t.s.place(p, ref)
	j := t.add(ticket.KindComment, p.Key, p.Sequence, ticket.Comment{Customer: t.customer(), Ref: ref, Message: p.Message})
	j.Delay = t.v.Settle
	if p.Album != "" {
		j.Key = ticket.AlbumKey(t.ev.Address, p.Album)
		j.Gather = &job.Gather{Member: p.Key, Wait: albumWait, Cap: albumCap}
	}
}

// again puts the event aside until Tracker can be read.
func (t *turn) again() {
	j := t.add(ticket.KindAgain, "again:"+t.ev.Key, t.sequence(), ticket.Again{Event: t.ev})
	j.Delay = t.v.Settle
	t.acknowledge("ack.later")
}
