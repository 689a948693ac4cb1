package ticketing

import (
	"encoding/json"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// Review says whom to tell of a job that waits for a person: the customer whose
// ticket could not be opened. Their messages are kept and wait with it.
func Review(j job.Job) []job.New {
	var in ticket.Create
	if j.Kind != ticket.KindCreate || json.Unmarshal(j.Payload, &in) != nil {
		return nil
	}
	text := book.Text(in.Customer.Locale, "review")
	return []job.New{notice(in.Customer, j.Key+":review", in.At.UnixMilli(), text, messenger.Keyboard{})}
}
