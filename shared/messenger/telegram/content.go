package telegram

import (
	"slices"

	"supportbot/shared/messenger"
)

// content translates what a message carries.
func (b *Bot) content(m message) messenger.Content {
	text, entities := m.words()
	c := messenger.Content{
		Text: text, Markdown: formatted(text, entities),
		Attachments: m.media.files(m.MessageID), Notes: m.notes(),
	}
	if text == "" && len(m.later.RichMessage) > 0 {
		rich := decodeRich(m.later.RichMessage)
		c.Text = rich.text()
		c.Attachments = append(c.Attachments, rich.files(m.MessageID)...)
	}
	switch {
	case m.Venue != nil:
		c.Location = &messenger.Location{
			Latitude: m.Venue.Location.Latitude, Longitude: m.Venue.Location.Longitude,
			Title: m.Venue.Title, Address: m.Venue.Address,
		}
	case m.Location != nil:
		c.Location = &messenger.Location{Latitude: m.Location.Latitude, Longitude: m.Location.Longitude}
	}
	if m.Contact != nil {
		c.Contact = &messenger.Contact{
			Name: joined(" ", m.Contact.FirstName, m.Contact.LastName), Phone: m.Contact.PhoneNumber,
		}
	}
	c.Unsupported = m.unsupported(c.Empty())
	if m.forwarded() && !c.Empty() {
		c = inQuote(c, m.forwardedFrom())
	}
	c.Quotes = append(c.Quotes, b.replies(m)...)
	return c
}

// unsupported names what the message carries though nothing here can carry it: a
// story and the like, and in a message that is empty but for them also fields
// that Telegram thought of later.
func (m message) unsupported(empty bool) []string {
	var names []string
	for _, field := range m.fields {
		known := slices.Contains(envelopeFields, field) || slices.Contains(contentFields, field)
		if slices.Contains(lostFields, field) || empty && !known {
			names = append(names, field)
		}
	}
	return names
}

// service reports whether the message says that something happened, and nothing
// that somebody said.
func (m message) service() bool {
	return slices.ContainsFunc(m.fields, func(field string) bool { return slices.Contains(serviceFields, field) })
}
