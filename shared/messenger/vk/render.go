package vk

import (
	"regexp"
	"unicode/utf16"

	"supportbot/shared/messenger"
)

// mention is text that VK turns into a link to a person or a community, and tells
// them: "[id1|Name]", "@id1 (Name)", "*club1". disable_mentions only keeps VK from
// telling.
var mention = regexp.MustCompile(`([\[@*])((?:id|club|public|event|app)-?\d)`)

// inert breaks mentions by a character of no width. A text that would become too
// long by it stays as it is.
func inert(text string) string {
	broken := mention.ReplaceAllString(text, "$1\u200b$2")
	if len(utf16.Encode([]rune(broken))) > limits.Text {
		return text
	}
	return broken
}

// Render implements messenger.Renderer: VK has no markup.
func (b *Bot) Render(markdown string) []messenger.Part { return b.Plain(markdown) }

// Plain implements messenger.Renderer.
func (b *Bot) Plain(text string) []messenger.Part {
	var parts []messenger.Part
	for _, part := range split(inert(text), limits.Text) {
		parts = append(parts, messenger.Part{Text: part})
	}
	return parts
}
