package delivery

import (
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// noteKind is how a delivery ended.
type noteKind string

const (
	sent        noteKind = "sent"
	resent      noteKind = "resent"
	undelivered noteKind = "undelivered"
	refused     noteKind = "refused"
)

// told makes the outcome of a delivery about an issue, with what the agent has to
// be told.
func told(r *job.Run, a messenger.Address, issue, comment string, p progress, extra ...job.New) func(noteKind) job.Outcome {
	return func(k noteKind) job.Outcome {
		o := job.Outcome{Result: result{Outcome: string(k), Messages: p.Sent, Resent: p.Resent}, Then: extra}
		switch k {
		case resent:
			o.Then = append(o.Then, Note(r.Key, a, issue, comment, ticket.NoteResent, ""))
		case undelivered:
			o.Then = append(o.Then, Note(r.Key, a, issue, comment, ticket.NoteUndelivered, ""))
		case refused:
			o.Then = append(o.Then, Note(r.Key, a, issue, comment, ticket.NoteRefused, string(a.Messenger)))
		}
		return o
	}
}

// untold is told for messages that are about no comment of an agent's.
func untold(p progress) func(noteKind) job.Outcome {
	return func(k noteKind) job.Outcome {
		return job.Outcome{Result: result{Outcome: string(k), Messages: p.Sent, Resent: p.Resent}}
	}
}

// Note is a job that tells the agent about the delivery with the given key. It
// goes in the customer's inbound lane like everything that writes to the ticket.
func Note(delivery string, a messenger.Address, issue, comment string, kind ticket.NoteKind, detail string) job.New {
	return job.New{
		Queue: ticket.QueueTickets, Kind: ticket.KindNote, Key: "note:" + string(kind) + ":" + delivery,
		Lane:    job.Lane{Name: ticket.InboundLane(a)},
		Payload: ticket.Note{Ref: ticket.Ref{Issue: issue}, Note: kind, Comment: comment, Detail: detail},
	}
}
