package ticketing

import (
	"context"
	"errors"

	"supportbot/shared/job"
	"supportbot/shared/markup"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// note leaves a comment of the robot's. On a ticket that was deleted there is
// nobody to read it.
func (s *Service) note(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Note
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	if in.Ref.Issue == "" {
		return job.Outcome{}, job.Review(errors.New("a note without an issue"))
	}
	text := s.text("note."+string(in.Note), "detail", markup.Escape(in.Detail))
	err := s.write(ctx, r, robots, stageComment, in.Ref.Issue, tracker.NewComment{Text: text}, nil)
	if tracker.KindOf(err) == tracker.NotFound {
		return job.Outcome{Result: "gone"}, nil
	}
	return job.Outcome{}, err
}
