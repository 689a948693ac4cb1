package ticketing

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"supportbot/shared/job"
	"supportbot/shared/markup"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// rate puts the customer's rating into the ticket's fields, and says it in a
// comment, which agents see without looking for fields.
func (s *Service) rate(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in ticket.Rate
	if err := r.Decode(&in); err != nil {
		return job.Outcome{}, err
	}
	issue, err := s.issue(ctx, r, in.Customer.Address, in.Ref)
	if err != nil {
		return job.Outcome{}, err
	}
	if r.Stage == "" || r.Begun(stageFields) { // setting fields twice is setting them once
		if err := s.setRating(ctx, r, issue, in); err != nil {
			return job.Outcome{}, err
		}
	}
	return job.Outcome{}, s.write(ctx, r, robots, stageComment, issue, tracker.NewComment{Text: s.rating(in)}, nil)
}

func (s *Service) setRating(ctx context.Context, r *job.Run, issue string, in ticket.Rate) error {
	fields := map[tracker.Field]string{}
	if in.Score > 0 {
		fields[tracker.FieldRating] = strconv.Itoa(in.Score)
	}
	if in.Remark != "" {
		fields[tracker.FieldRemark] = in.Remark
	}
	if err := r.Begin(ctx, stageFields, nil); err != nil {
		return err
	}
	err := s.d.Tracker.SetFields(ctx, issue, fields)
	if err != nil && tracker.KindOf(err) != tracker.Invalid { // a queue without our fields: the comment says it
		return decide(ctx, r, fmt.Errorf("set rating: %w", err))
	}
	return r.Done(ctx, stageFields, nil)
}

func (s *Service) rating(in ticket.Rate) string {
	var lines []string
	if in.Score > 0 {
		lines = append(lines, s.text("rating", "score", strconv.Itoa(in.Score), "stars", strings.Repeat("★", in.Score)))
	}
	if in.Remark != "" {
		lines = append(lines, s.text("remark"), "", quote(markup.Escape(in.Remark)))
	}
	return strings.Join(lines, "\n")
}
