package vk

import (
	"encoding/json"
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
	if c.Location = m.Geo.location(); c.Location == nil && m.Geo.told() {
		c.Unsupported = append(c.Unsupported, "location")
	}
	if m.Reply != nil {
		b.quote(&c, "reply", *m.Reply, 0)
	}
	for _, f := range m.Forwarded {
		b.quote(&c, "forward", f, 0)
	}
	return c
}

// told reports whether VK says anything of a place.
func (g *geo) told() bool { return g != nil && len(g.Coordinates) > 0 }

// location gives the point; nil where there is none that can be read.
func (g *geo) location() *messenger.Location {
	var at struct{ Latitude, Longitude *float64 }
	if !g.told() || json.Unmarshal(g.Coordinates, &at) != nil || at.Latitude == nil || at.Longitude == nil {
		return nil
	}
	return &messenger.Location{Latitude: *at.Latitude, Longitude: *at.Longitude, Title: g.Place.Title, Address: g.Place.Address}
}

// quote adds a message inside another one, and those inside it after it.
func (b *Bot) quote(c *messenger.Content, kind string, m message, depth int) {
	if depth >= depthMost || len(c.Quotes) >= quotesMost {
		c.Unsupported = append(c.Unsupported, "more forwarded messages")
		return
	}
	media := translate(m.Attachments)
	lines := media.notes
	if l := m.Geo.location(); l != nil {
		lines = append(lines, fmt.Sprintf("location: %g, %g %s", l.Latitude, l.Longitude, l.Title))
	}
	if m.Text != "" {
		lines = append([]string{m.Text}, lines...)
	}
	if m.FromID != 0 || len(lines) > 0 || len(media.files) > 0 { // else VK's way to say that there is none
		c.Quotes = append(c.Quotes, messenger.Quote{
			Kind: kind, Author: b.author(m.FromID), Text: strings.TrimSpace(strings.Join(lines, "\n")), Attachments: media.files,
		})
	}
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
