package wiringtest

import (
	"strings"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/news"
	"supportbot/shared/person"
	sandbox "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

// EachMessenger gives the customer of each messenger, by the messenger's name.
func EachMessenger() map[string]ticket.Customer {
	return map[string]ticket.Customer{"telegram": Telegrammer(), "vk": VKontakter()}
}

// Create is the job that opens a ticket.
func Create(c ticket.Customer, draft string, ms ...ticket.Message) job.New {
	return job.New{
		Queue: ticket.QueueTickets, Kind: ticket.KindCreate, Key: ticket.DraftKey(draft),
		Lane: job.Lane{Name: ticket.InboundLane(c.Address)}, Sequence: 1,
		Payload: ticket.Create{Draft: draft, Customer: c, Category: "problem", Subject: "Не печатает", Messages: ms, At: time.Now()},
	}
}

// Inbound is a job in a customer's inbound lane.
func Inbound(c ticket.Customer, kind, key string, sequence int64, payload any) job.New {
	return job.New{
		Queue: ticket.QueueTickets, Kind: kind, Key: key,
		Lane: job.Lane{Name: ticket.InboundLane(c.Address)}, Sequence: sequence, Payload: payload,
	}
}

// Says is a customer's message to a ticket.
func Says(c ticket.Customer, key, draft, text string) job.New {
	return Inbound(c, ticket.KindComment, key, 10, ticket.Comment{
		Customer: c, Ref: ticket.Ref{Draft: draft},
		Message: ticket.Message{Key: key, At: time.Now(), Content: messenger.Content{Text: text}},
	})
}

// Open opens a ticket with the given draft and gives it. Its customer is known then.
func (r *Rig) Open(c ticket.Customer, draft string, ms ...ticket.Message) sandbox.Ticket {
	r.T.Helper()
	r.Met(c)
	r.Insert(Create(c, draft, ms...))
	r.Work()
	r.Want(ticket.DraftKey(draft), job.Completed)
	return r.Ticket(draft)
}

// Ticket gives the ticket of a draft as it is now.
func (r *Rig) Ticket(draft string) sandbox.Ticket {
	r.T.Helper()
	for _, k := range r.Tracker.Tickets() {
		if strings.HasSuffix(k.Unique, ":"+draft) {
			return k
		}
	}
	r.T.Fatalf("no ticket of draft %s", draft)
	return sandbox.Ticket{}
}

// Look looks at an issue, twice as always, and lets its deliveries run.
func (r *Rig) Look(issue, key string) {
	r.T.Helper()
	r.Insert(news.Job(ticket.Look{ID: issue}, key))
	r.Work()
	r.Later(10 * time.Second)
}

// Reply writes an agent's comment and looks at the ticket.
func (r *Rig) Reply(k sandbox.Ticket, text string, files ...sandbox.NewFile) sandbox.Comment {
	r.T.Helper()
	c := r.Comment(k, text, files...)
	r.Look(k.ID, "comment "+c.ID)
	return c
}

// Comment writes an agent's comment.
func (r *Rig) Comment(k sandbox.Ticket, text string, files ...sandbox.NewFile) sandbox.Comment {
	r.T.Helper()
	now, err := r.Agent.Do(k.ID, sandbox.Edit{Comments: []sandbox.NewComment{{Text: text, Files: files}}})
	if err != nil {
		r.T.Fatal(err)
	}
	return now.Comments[len(now.Comments)-1]
}

// Edit replaces the text of an agent's comment and looks at the ticket.
func (r *Rig) Edit(k sandbox.Ticket, comment, text, key string) {
	r.T.Helper()
	if err := r.Agent.EditComment(k.ID, comment, text); err != nil {
		r.T.Fatal(err)
	}
	r.Look(k.ID, key)
}

// Said is a message of the bot's in either messenger.
type Said struct {
	ID     int64
	Text   string
	HTML   string
	Files  []string
	Edited bool
	Labels []string
}

// Said gives what a customer got, oldest first.
func (r *Rig) Said(c ticket.Customer) (all []Said) {
	if c.Address.Messenger == messenger.VK {
		return r.saidInVK()
	}
	for _, m := range r.Telegram.Chat(TelegramID) {
		if !m.Out {
			continue
		}
		s := Said{ID: m.ID, Text: m.Text, HTML: m.HTML, Edited: m.Edited}
		if m.File != nil {
			s.Files = []string{m.File.Name}
		}
		for _, row := range m.Keyboard {
			for _, b := range row {
				s.Labels = append(s.Labels, b.Text)
			}
		}
		all = append(all, s)
	}
	return all
}

func (r *Rig) saidInVK() (all []Said) {
	for _, m := range r.VK.Chat(VKID) {
		if !m.Out {
			continue
		}
		s := Said{ID: m.ID, Text: m.Text, Edited: m.Edited}
		for _, f := range m.Files {
			s.Files = append(s.Files, f.Name)
		}
		if m.Keyboard != nil {
			for _, row := range m.Keyboard.Buttons {
				for _, b := range row {
					s.Labels = append(s.Labels, b.Action.Label)
				}
			}
		}
		all = append(all, s)
	}
	return all
}

// Count is in how many messages a customer got a text.
func (r *Rig) Count(c ticket.Customer, text string) (n int) {
	for _, m := range r.Said(c) {
		if strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}

// Comments gives the texts of a ticket's comments that contain text.
func Comments(k sandbox.Ticket, text string) (found []string) {
	for _, c := range k.Comments {
		if strings.Contains(c.Text, text) {
			found = append(found, c.Text)
		}
	}
	return found
}

// Met lets a customer be known, as they are who have written.
func (r *Rig) Met(c ticket.Customer) {
	r.T.Helper()
	v := person.Visit{Identity: person.Identity{Address: c.Address, User: c.User, SeenAt: time.Now()}}
	if _, _, err := r.DB.Record(r.Context(), v, nil); err != nil {
		r.T.Fatal(err)
	}
}
