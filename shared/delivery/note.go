package delivery

import (
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// ending is how a delivery ended; its result says so.
type ending string

const (
	sent        ending = "sent"
	resent      ending = "resent"      // some of it may have come twice
	undelivered ending = "undelivered" // the customer cannot be written to
	refused     ending = "refused"     // the messenger refuses it for good
	passedOver  ending = "skipped"     // nothing was to be sent; result.Why
)

// told makes the outcome of a reply's delivery, with what the agent has to be told.
func told(r *job.Run, in ticket.Answer, p progress) func(ending) job.Outcome {
	return func(e ending) job.Outcome {
		o := job.Outcome{Result: result{Outcome: e, Messages: p.Sent, Resent: p.Resent}}
		note := func(delivery string, kind ticket.NoteKind, detail string) {
			o.Then = append(o.Then, Note(delivery, in.Address, in.Issue, in.Comment, kind, detail))
		}
		for _, f := range p.Files[:p.Done] {
			if f.Refused {
				note(r.Key+":"+f.ID, ticket.NoteTooLarge, f.Name)
			}
		}
		switch e {
		case resent:
			note(r.Key, ticket.NoteResent, "")
		case undelivered:
			note(r.Key, ticket.NoteUndelivered, "")
		case refused:
			note(r.Key, ticket.NoteRefused, string(in.Address.Messenger))
		}
		return o
	}
}

// untold is told for messages that are about no comment of an agent's.
func untold(p progress) func(ending) job.Outcome {
	return func(e ending) job.Outcome {
		return job.Outcome{Result: result{Outcome: e, Messages: p.Sent, Resent: p.Resent}}
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
