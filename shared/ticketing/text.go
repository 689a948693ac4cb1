package ticketing

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/markup"
	"supportbot/shared/messenger"
	"supportbot/shared/phrase"
	"supportbot/shared/ticket"
)

//go:embed texts/*.json
var files embed.FS

var book = phrase.Open(files, "texts")

// description is the body of a new ticket: what the customer wrote, and who and
// where they are.
func (s *Service) description(in ticket.Create, p progress) string {
	var b strings.Builder
	n := 0
	for _, m := range in.Messages {
		b.WriteString(s.body(m, p, &n))
	}
	if b.Len() == 0 {
		b.WriteString(s.text("no_description") + "\n\n")
	}
	c := in.Customer
	b.WriteString("---\n\n")
	b.WriteString(s.text("customer", "name", markup.Escape(who(c)), "messenger", s.text("messenger."+string(c.Address.Messenger))))
	return b.String()
}

// message is the body of a comment.
func (s *Service) message(c ticket.Customer, ms []ticket.Message, p progress) string {
	first := ms[0]
	head := "message"
	switch {
	case first.Edited:
		head = "edited"
	case first.Late:
		head = "late"
	}
	var b strings.Builder
	b.WriteString(s.text(head, "name", markup.Escape(who(c)), "time", s.clock(first.At)) + "\n\n")
	n := 0
	for _, m := range ms {
		b.WriteString(s.body(m, p, &n))
	}
	return b.String()
}

// body is one message's content as Markdown; n counts the attachments so far.
func (s *Service) body(m ticket.Message, p progress, n *int) string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\n\n") }
	switch {
	case m.Markdown != "":
		line(m.Markdown)
	case m.Text != "":
		line(markup.Escape(m.Text))
	}
	s.fileLines(m.Attachments, p, n, line)
	for _, q := range m.Quotes {
		line(s.text("quote."+q.Kind, "author", markup.Escape(q.Author)))
		if q.Text != "" {
			line(quote(markup.Escape(q.Text)))
		}
		s.fileLines(q.Attachments, p, n, line)
	}
	if l := m.Location; l != nil {
		line(s.text("location", "point", point(*l), "title", markup.Escape(strings.TrimSpace(l.Title+" "+l.Address))))
	}
	if c := m.Contact; c != nil {
		line(s.text("contact", "name", markup.Escape(c.Name), "phone", markup.Escape(c.Phone)))
	}
	for _, note := range m.Notes {
		line(markup.Escape(note))
	}
	for _, what := range m.Unsupported {
		line(s.text("unsupported", "what", markup.Escape(what)))
	}
	return b.String()
}

// fileLines names the files that could not be had.
func (s *Service) fileLines(all []messenger.Attachment, p progress, n *int, line func(string)) {
	for _, a := range all {
		if *n < len(p.Uploads) && p.Uploads[*n].Missing {
			line(s.text("missing", "file", markup.Escape(a.Name), "size", megabytes(a.Size)))
		}
		*n++
	}
}

func who(c ticket.Customer) string {
	name := c.User.Name
	if name == "" {
		name = c.User.ID
	}
	if c.User.Username != "" {
		name += " (@" + c.User.Username + ")"
	}
	return name
}

func (s *Service) clock(t time.Time) string {
	zone := s.d.Zone
	if zone == nil {
		zone = time.UTC
	}
	return t.In(zone).Format("02.01.2006 15:04:05")
}

func quote(markdown string) string { return "> " + strings.ReplaceAll(markdown, "\n", "\n> ") }

func point(l messenger.Location) string {
	f := func(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }
	return f(l.Latitude) + "," + f(l.Longitude)
}

func megabytes(n int64) string {
	if n <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.1f", float64(n)/(1<<20))
}
