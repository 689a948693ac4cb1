package delivery

import (
	"encoding/json"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
)

// Review says whom to tell of a delivery that waits for a person: the agent whose
// reply it is.
func Review(j job.Job) []job.New {
	var in ticket.Answer
	if j.Kind != ticket.KindAnswer && j.Kind != ticket.KindEdit || json.Unmarshal(j.Payload, &in) != nil {
		return nil
	}
	return []job.New{Note(j.Key, in.Address, in.Issue, in.Comment, ticket.NoteReview, "")}
}
