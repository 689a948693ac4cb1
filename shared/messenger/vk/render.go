package vk

import (
	"unicode/utf16"

	"supportbot/shared/markup"
	"supportbot/shared/messenger"
)

// Render implements messenger.Renderer.
func (b *Bot) Render(markdown string) []messenger.Part { return markup.VK(markdown, limits.Text) }

// Plain implements messenger.Renderer.
func (b *Bot) Plain(text string) []messenger.Part {
	return markup.Plain(markup.Inert(text), limits.Text)
}

// inert breaks mentions, which disable_mentions alone would leave as links. What
// Render and Plain gave stays as it is; a text that would become too long by it
// does too.
func inert(text string) string {
	broken := markup.Inert(text)
	if len(utf16.Encode([]rune(broken))) > limits.Text {
		return text
	}
	return broken
}
