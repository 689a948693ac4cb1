package privacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/person"
	"supportbot/shared/tracker"
)

// While Tracker is away an export waits for the tickets as long as somebody may still look
// at the chat; then it comes without them, and says so.
const (
	exportWait  = 5 * time.Minute
	exportAgain = 20 * time.Second
)

// FileName is what the exported file is called.
const FileName = "my-data.json"

// exporting is what the export records with its stage.
type exporting struct {
	Said sending `json:"said"`
}

// export sends a customer a file with all that is known of them.
func (s *Service) export(ctx context.Context, r *job.Run) (job.Outcome, error) {
	var in person.Export
	var p exporting
	if err := errors.Join(r.Decode(&in), r.DecodeStage(&p)); err != nil {
		return job.Outcome{}, err
	}
	d, err := s.Dossier(ctx, in.Person)
	if errors.Is(err, job.ErrNotFound) {
		return job.Outcome{Result: "nobody"}, nil
	}
	text := "export"
	var away *tracker.Error
	switch {
	case errors.As(err, &away) && r.Age < exportWait:
		return job.Outcome{}, job.Later(exportAgain, err)
	case errors.As(err, &away):
		text = "export.partial"
	case err != nil:
		return job.Outcome{}, err
	}
	raw, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return job.Outcome{}, job.Review(fmt.Errorf("encode what is known: %w", err))
	}
	return job.Outcome{}, s.say(ctx, r, letter{stageSend, in.Address, &p.Said, &p, func(sender Sender) messenger.Outgoing {
		return messenger.Outgoing{Part: sender.Plain(book.Text(d.Person.Locale, text))[0], File: file(raw)}
	}})
}

func file(raw []byte) *messenger.File {
	return &messenger.File{Name: FileName, MIME: "application/json", Size: int64(len(raw)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(raw)), nil
	}}
}

// Dossier gives all that the platform knows of a person. job.ErrNotFound: nobody has
// the id; *tracker.Error: the tickets cannot be read now, and all else is there.
func (s *Service) Dossier(ctx context.Context, id int64) (person.Dossier, error) {
	d, err := s.d.People.Dossier(ctx, id)
	if err != nil {
		return d, err
	}
	for i := range d.Chats {
		kept, err := s.d.Conversations.Kept(ctx, d.Chats[i].Address)
		if err != nil {
			return d, err
		}
		d.Chats[i].Dialog = presentable(kept)
	}
	for i := range d.Requests {
		d.Requests[i].Content = presentable(d.Requests[i].Content)
	}
	d.Tickets, err = s.tickets(ctx, d.Chats)
	return d, err
}

func (s *Service) tickets(ctx context.Context, chats []person.Chat) ([]person.Ticket, error) {
	all := []person.Ticket{}
	for _, c := range chats {
		for i, err := range s.d.Tracker.Of(ctx, s.d.Queues, fieldsOf(c.Address)) {
			if err != nil {
				return nil, fmt.Errorf("find tickets: %w", err)
			}
			if owner, ok := news.CustomerOf(i); ok && owner.Address == c.Address {
				all = append(all, person.Ticket{Key: i.Key, Title: i.Summary, Status: i.Status.Display, Created: i.CreatedAt, Updated: i.UpdatedAt})
			}
		}
	}
	return all, nil
}

// presentable leaves out of JSON what can carry an access key: where files are fetched
// from (messenger.Attachment). What cannot be read is left out whole.
func presentable(raw json.RawMessage) json.RawMessage {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // ids are above 2^53
	if len(raw) == 0 || dec.Decode(&v) != nil {
		return nil
	}
	out, err := json.Marshal(unreferenced(v))
	if err != nil {
		return nil
	}
	return out
}

func unreferenced(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, text := v["ref"].(string); text { // a ticket's is an object
			delete(v, "ref")
		}
		for name, inner := range v {
			v[name] = unreferenced(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = unreferenced(inner)
		}
	}
	return v
}
