package sandbox

import (
	"slices"
	"unicode/utf16"

	"supportbot/shared/sandbox/telegram"
)

// entityTree is a text of Telegram's with its entities
// (core.telegram.org/bots/api#messageentity).
func entityTree(text string, entities []telegram.Entity) []node {
	units := utf16of(text)
	var sound []telegram.Entity
	for _, e := range entities {
		if e.Offset >= 0 && e.Length > 0 && e.Offset <= len(units) && e.Length <= len(units)-e.Offset {
			sound = append(sound, e)
		}
	}
	slices.SortStableFunc(sound, func(a, b telegram.Entity) int {
		if a.Offset != b.Offset {
			return a.Offset - b.Offset
		}
		return b.Length - a.Length // the outer one first
	})
	return entityNodes(units, 0, len(units), sound)
}

// entityNodes renders units from begin to end; entities are all that begin there.
func entityNodes(units []uint16, begin, end int, entities []telegram.Entity) []node {
	var nodes []node
	plain := func(to int) {
		if to > begin {
			nodes = append(nodes, words(string(utf16.Decode(units[begin:to]))))
		}
		begin = max(begin, to)
	}
	for len(entities) > 0 {
		e := entities[0]
		entities = entities[1:]
		start, stop := e.Offset, min(e.Offset+e.Length, end)
		if start < begin || stop <= start { // overlaps without being nested: none of Telegram's
			continue
		}
		plain(start)
		n := 0
		for n < len(entities) && entities[n].Offset < stop {
			n++
		}
		nodes = append(nodes, entityNode(e, string(utf16.Decode(units[start:stop])), entityNodes(units, start, stop, entities[:n])))
		entities, begin = entities[n:], stop
	}
	plain(end)
	return nodes
}

func entityNode(e telegram.Entity, text string, inside []node) node {
	switch e.Type {
	case "bold":
		return tag("b", inside...)
	case "italic":
		return tag("i", inside...)
	case "underline":
		return tag("u", inside...)
	case "strikethrough":
		return tag("s", inside...)
	case "spoiler":
		return tag("spoiler", inside...)
	case "code":
		return tag("code", inside...)
	case "pre":
		return tag("pre", inside...)
	case "blockquote", "expandable_blockquote":
		return tag("quote", inside...)
	case "text_link":
		return link(e.URL, inside...)
	case "url":
		if safeURL(text) == "" {
			return link("https://"+text, inside...)
		}
		return link(text, inside...)
	case "email":
		return link("mailto:"+text, inside...)
	case "phone_number":
		return link("tel:"+text, inside...)
	case "text_mention", "mention", "bot_command", "hashtag", "cashtag":
		return tag("mark", inside...)
	}
	return tag("span", inside...)
}
