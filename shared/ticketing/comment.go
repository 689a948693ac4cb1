package ticketing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"supportbot/shared/job"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// comment adds a customer's message, or a whole album, to a ticket.
func (s *Service) comment(ctx context.Context, r *job.Run) (job.Outcome, error) {
	in, err := decodeComments(r)
	if err != nil {
		return job.Outcome{}, err
	}
	ms := make([]ticket.Message, len(in))
	for i, c := range in {
		ms[i] = c.Message
	}
	return job.Outcome{}, s.add(ctx, r, in[0].Customer, in[0].Ref, ms)
}

// add writes messages into a ticket as one comment with their files.
func (s *Service) add(ctx context.Context, r *job.Run, c ticket.Customer, ref ticket.Ref, ms []ticket.Message) error {
	if done(r, stageComment) {
		return nil
	}
	var p progress
	if err := r.DecodeStage(&p); err != nil {
		return err
	}
	issue, err := s.issue(ctx, r, c.Address, ref)
	if err != nil {
		return err
	}
	if !r.Begun(stageComment) { // else they may be in the ticket already
		if err := s.uploads(ctx, r, c.Address, ms, &p); err != nil {
			return err
		}
	}
	n := tracker.NewComment{Text: s.message(c, ms, p), Attachments: p.ids()}
	return s.write(ctx, r, customers, stageComment, issue, n, p)
}

// decodeComments reads a single comment, or the members of an album in the order
// in which they were sent.
func decodeComments(r *job.Run) ([]ticket.Comment, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(r.Payload), []byte("[")) {
		var c ticket.Comment
		err := r.Decode(&c)
		return []ticket.Comment{c}, err
	}
	var members []job.Member
	if err := r.Decode(&members); err != nil {
		return nil, err
	}
	var all []ticket.Comment
	for _, m := range members {
		var c ticket.Comment
		if err := json.Unmarshal(m.Payload, &c); err != nil {
			return nil, job.Review(fmt.Errorf("decode member of %s: %w", r.Kind, err))
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, job.Review(errors.New("an album without parts"))
	}
	slices.SortStableFunc(all, func(a, b ticket.Comment) int { return a.Message.At.Compare(b.Message.At) })
	return all, nil
}
