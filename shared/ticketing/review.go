package ticketing

import (
	"encoding/json"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// Review says whom to tell of a job that waits for a person: the customer whose
// ticket could not be opened, or whose words are not in their ticket yet. What
// they write to a ticket that could not be opened waits with it, untold.
func Review(j job.Job) []job.New {
	phrase := "review.message"
	switch j.Kind {
	case ticket.KindCreate:
		phrase = "review"
	case ticket.KindComment, ticket.KindReopen, ticket.KindRate, ticket.KindAgain:
	default:
		return nil
	}
	c, ok := customer(j)
	if !ok {
		return nil
	}
	text := book.Text(c.Locale, phrase)
	return []job.New{notice(c, j.Key+":review", j.CreatedAt.UnixMilli(), text, messenger.Keyboard{})}
}

// customer reads whose request a job is, as far as it can be read.
func customer(j job.Job) (ticket.Customer, bool) {
	payload := j.Payload
	var album []job.Member
	if json.Unmarshal(payload, &album) == nil && len(album) > 0 {
		payload = album[0].Payload
	}
	var in struct {
		Customer ticket.Customer `json:"customer"`
		Event    messenger.Event `json:"event"` // of ticket.Again
	}
	if json.Unmarshal(payload, &in) != nil {
		return ticket.Customer{}, false
	}
	if j.Kind == ticket.KindAgain {
		in.Customer = ticket.Customer{Address: in.Event.Address, User: in.Event.User, Locale: in.Event.User.Locale}
	}
	return in.Customer, in.Customer.Address != messenger.Address{}
}
