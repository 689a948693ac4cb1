package telegram

import (
	"encoding/json"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"supportbot/shared/messenger"
)

// rich is a message of formatted blocks (core.telegram.org/bots/api#richmessage),
// in two views: its words and its files.
type rich struct {
	words  []any
	blocks []richBlock
}

type richBlock struct {
	media
	VoiceNote *tgbotapi.Voice `json:"voice_note"`
	Blocks    []richBlock     `json:"blocks"`
	Items     []richBlock     `json:"items"`
}

func decodeRich(raw json.RawMessage) rich {
	var words struct {
		Blocks []any `json:"blocks"`
	}
	var blocks struct {
		Blocks []richBlock `json:"blocks"`
	}
	if lenient(raw, &words) != nil || lenient(raw, &blocks) != nil {
		return rich{}
	}
	return rich{words.Blocks, blocks.Blocks}
}

func (r rich) files(number int) []messenger.Attachment {
	var files []messenger.Attachment
	for _, block := range r.blocks {
		if block.VoiceNote != nil {
			block.Voice = block.VoiceNote
		}
		files = append(files, block.media.files(number)...)
		files = append(files, rich{blocks: append(block.Blocks, block.Items...)}.files(number)...)
	}
	return files
}

// richDepth bounds how deep blocks and styles may be nested.
const richDepth = 64

// text gives the words without their styles, a line per block.
func (r rich) text() string {
	var lines []string
	for _, block := range r.words {
		lines = append(lines, blockText(block, richDepth)...)
	}
	return strings.Join(lines, "\n")
}

// blockText gives the lines of a block: its own words, then what is inside.
func blockText(v any, depth int) []string {
	block, ok := v.(map[string]any)
	if !ok || depth == 0 {
		return nil
	}
	var lines []string
	add := func(line string) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for _, name := range []string{"summary", "text", "expression"} {
		add(spanText(block[name], depth))
	}
	for _, name := range []string{"blocks", "items"} {
		inner, _ := block[name].([]any)
		for _, item := range inner {
			lines = append(lines, blockText(item, depth-1)...)
		}
	}
	rows, _ := block["cells"].([]any)
	for _, row := range rows {
		var cells []string
		list, _ := row.([]any)
		for _, cell := range list {
			cells = append(cells, spanText(cell, depth))
		}
		add(strings.Join(cells, " | "))
	}
	add(spanText(block["caption"], depth))
	add(spanText(block["credit"], depth))
	if label, _ := block["label"].(string); label != "" && len(lines) > 0 {
		lines[0] = label + " " + lines[0]
	}
	return lines
}

// spanText gives the words of a text, which is a string, a style around a text, or
// a list of texts.
func spanText(v any, depth int) string {
	if depth == 0 {
		return ""
	}
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, item := range v {
			b.WriteString(spanText(item, depth-1))
		}
		return b.String()
	case map[string]any:
		return spanText(v["text"], depth-1) + spanText(v["expression"], depth-1) + spanText(v["alternative_text"], depth-1)
	}
	return ""
}
