package vk

import (
	"fmt"
	"strings"

	"supportbot/shared/messenger"
)

// Bounds against messages that were built to be large.
const (
	quotesMost = 100
	depthMost  = 10
)

// content translates what a message carries.
func (b *Bot) content(m message) messenger.Content {
	media := translate(m.Attachments)
	c := messenger.Content{
		Text: m.Text, Attachments: media.files, Notes: media.notes, Unsupported: media.unsupported,
	}
	if m.Geo != nil {
		c.Location = &messenger.Location{
			Latitude: m.Geo.Coordinates.Latitude, Longitude: m.Geo.Coordinates.Longitude,
			Title: m.Geo.Place.Title, Address: m.Geo.Place.Address,
		}
	}
	if m.Reply != nil {
		b.quote(&c, "reply", *m.Reply, 0)
	}
	for _, f := range m.Forwarded {
		b.quote(&c, "forward", f, 0)
	}
	return c
}

// quote adds a message inside another one, and those inside it after it.
func (b *Bot) quote(c *messenger.Content, kind string, m message, depth int) {
	if depth >= depthMost || len(c.Quotes) >= quotesMost {
		c.Unsupported = append(c.Unsupported, "more forwarded messages")
		return
	}
	media := translate(m.Attachments)
	lines := media.notes
	if m.Geo != nil {
		at := m.Geo.Coordinates
		lines = append(lines, fmt.Sprintf("location: %g, %g %s", at.Latitude, at.Longitude, m.Geo.Place.Title))
	}
	if m.Text != "" {
		lines = append([]string{m.Text}, lines...)
	}
	c.Quotes = append(c.Quotes, messenger.Quote{
		Kind: kind, Author: b.author(m.FromID), Text: strings.TrimSpace(strings.Join(lines, "\n")), Attachments: media.files,
	})
	c.Unsupported = append(c.Unsupported, media.unsupported...)
	if m.Reply != nil {
		b.quote(c, kind, *m.Reply, depth+1)
	}
	for _, f := range m.Forwarded {
		b.quote(c, kind, f, depth+1)
	}
}

// author names who wrote a quoted message by their address on VK, which is all
// that VK tells. The community itself has no name here.
func (b *Bot) author(from int64) string {
	switch {
	case from == 0 || from == -b.group:
		return ""
	case from < 0:
		return "vk.com/club" + id(-from)
	}
	return "vk.com/id" + id(from)
}
