package storm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

// statuses are what the agent sets and what the customer is told.
var statuses = map[string]string{"inProgress": "В работе", "resolved": "Решено"}

// agent edits a ticket. What the customer has to be told of it is written down.
func (c *customer) agent(ctx context.Context, key string, e tracker.Edit) error {
	k, err := c.w.agent.Do(key, e)
	if err != nil {
		return fmt.Errorf("the agent's edit of %s: %w", key, err)
	}
	if told := statuses[e.Status]; told != "" {
		subject, _, _ := strings.Cut(k.Summary, " ")
		c.writes(&Written{Token: subject, And: "статус «" + told + "»", Job: ticket.ChangeKey(k.ID, c.w.changed(key, e.Status)), Kind: "status"})
	}
	return ctx.Err()
}

// changed gives the id of the change that brought a ticket into a status.
func (w *world) changed(key, status string) (id string) {
	for _, c := range w.tracker.History(key) {
		for _, f := range c.Fields {
			if f.Key == "status" && f.To == status {
				id = c.ID
			}
		}
	}
	return id
}

func (c *customer) writes(d *Written) *Written {
	d.Chat, d.At = c.phone.address(), time.Now()
	c.written = append(c.written, d)
	return d
}

// comment writes a comment and gives its id.
func (c *customer) comment(key, text string, files ...tracker.NewFile) (issue, id string, err error) {
	k, err := c.w.agent.Do(key, tracker.Edit{Comments: []tracker.NewComment{{Text: text, Files: files}}})
	if err != nil {
		return "", "", fmt.Errorf("the agent's comment on %s: %w", key, err)
	}
	for _, m := range k.Comments {
		if strings.Contains(m.Text, text) {
			id = m.ID
		}
	}
	return k.ID, id, nil
}

// inside writes a note for colleagues; now and then it becomes a reply later.
func (c *customer) inside(ctx context.Context, key string) error {
	note := c.token("I")
	issue, id, err := c.comment(key, note+" коллеги, посмотрите")
	if err != nil {
		return err
	}
	c.writes(&Written{Token: note, Kind: "inside"})
	if !c.chance(25) {
		return nil
	}
	c.pause(ctx)
	answer := c.token("A")
	if err := c.w.agent.EditComment(key, id, "/reply "+answer+" посмотрели"); err != nil {
		return fmt.Errorf("the agent's edit of a comment: %w", err)
	}
	c.writes(&Written{Token: answer, Kind: "answer", Job: ticket.AnswerKey(issue, id), Loose: true})
	return ctx.Err()
}

// answered writes a reply and lets the customer read it; some are mended later, some
// have a file.
func (c *customer) answered(ctx context.Context, key string) error {
	answer := c.token("A")
	var files []tracker.NewFile
	if c.chance(25) {
		files = append(files, tracker.NewFile{Name: c.token("F") + ".txt", Data: []byte("1. Включить")})
	}
	issue, id, err := c.comment(key, "/reply "+answer+" проверьте **кабель**", files...)
	if err != nil {
		return err
	}
	job := ticket.AnswerKey(issue, id)
	first := c.writes(&Written{Token: answer, Kind: "answer", Job: job})
	for _, f := range files {
		c.writes(&Written{Token: f.Name, Kind: "file", Job: job})
	}
	if _, err := c.waits(ctx, 0, answerWait, answer); err != nil {
		return err
	}
	if !c.chance(20) {
		return nil
	}
	c.pause(ctx)
	mended := c.token("A")
	if err := c.w.agent.EditComment(key, id, "/reply "+mended+" проверьте розетку"); err != nil {
		return fmt.Errorf("the agent's edit of a comment: %w", err)
	}
	first.Replaced = true
	c.writes(&Written{Token: mended, Kind: "answer", Job: job, Loose: true})
	return ctx.Err()
}

// read waits until everything that the customer said is in the ticket: an agent resolves
// nothing before that.
func (c *customer) read(ctx context.Context, key string, said []string) error {
	return c.until(ctx, answerWait, func() bool {
		k, _ := c.w.tracker.Ticket(key)
		var text strings.Builder
		for _, m := range k.Comments {
			text.WriteString(m.Text)
		}
		for _, token := range said {
			if !strings.Contains(text.String(), token) {
				return false
			}
		}
		return true
	})
}
