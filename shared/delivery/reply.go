package delivery

import (
	"context"
	"fmt"

	"supportbot/shared/job"
	"supportbot/shared/news"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// file is an attachment of a reply on its way to the customer.
type file struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	MIME    string `json:"mime,omitempty"`
	Size    int64  `json:"size"`
	Refused bool   `json:"refused,omitempty"` // it does not go out: the customer is told instead
}

// reply is an agent's comment as it is to be delivered.
type reply struct {
	ticket.Answer
	comment tracker.Comment
	text    string
	inside  bool         // the comment is no longer a reply
	had     *ticket.Sent // what the customer has of it; nil: nothing
}

// version is that of the comment which a delivery brings: the one that it began
// with.
func (rep reply) version(p progress) int64 {
	if len(p.Parts) > 0 {
		return p.Version
	}
	return rep.comment.Version
}

// read reads the comment again: since the job was made it may have been deleted,
// or made internal. why says why nothing is to be sent. A delivery that has begun
// goes on with what it began with.
func (s *Service) read(ctx context.Context, r *job.Run, in ticket.Answer) (rep reply, why string, err error) {
	rep.Answer = in
	if rep.had, err = s.d.Records.Sent(ctx, in.Issue, in.Comment); err != nil {
		return rep, "", err
	}
	rep.comment, err = s.d.Tracker.Comment(ctx, in.Issue, in.Comment)
	if tracker.KindOf(err) == tracker.NotFound {
		return rep, "deleted", nil
	}
	if err != nil {
		return rep, "", news.Decide(r, fmt.Errorf("read comment: %w", err))
	}
	rule, err := s.d.Rule.Get(ctx)
	if err != nil {
		return rep, "", news.Decide(r, err)
	}
	text, ok := rule.Reply(rep.comment)
	if !ok && r.Stage == "" {
		return rep, "internal", nil
	}
	rep.text, rep.inside = text, !ok
	return rep, "", nil
}

func fileIDs(had *ticket.Sent, files []file) []string {
	var ids []string
	if had != nil {
		ids = append(ids, had.Files...)
	}
	for _, f := range files {
		ids = append(ids, f.ID)
	}
	return ids
}
