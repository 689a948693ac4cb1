package telegram

import (
	"strconv"
	"strings"
)

// tag is an open tag of the HTML that a bot sends.
type tag struct {
	name     string
	argument string // of the attribute that matters
	expanded bool   // blockquote: expandable
	offset   int    // UTF-16 code units into the text
	start    int    // bytes into the text
}

// attributes reads up to the end of the start tag.
func (p *htmlParser) attributes(t *tag, begin int) error {
	unclosed := unreadable("Unclosed start tag at byte offset %d", begin)
	for {
		p.while(isSpace)
		if p.at() == '>' {
			p.i++
			return nil
		}
		name := p.while(func(c byte) bool { return !isSpace(c) && c != '=' && c != '>' })
		if p.i == len(p.in) {
			return unclosed
		}
		if name == "" {
			return unreadable("Empty attribute name in the tag %q at byte offset %d", t.name, begin)
		}
		p.while(isSpace)
		if p.at() != '=' {
			t.set(name, "")
			continue
		}
		p.i++
		p.while(isSpace)
		value, err := p.attributeValue()
		if err != nil {
			return err
		}
		if p.i == len(p.in) {
			return unclosed
		}
		t.set(name, value)
	}
}

func (p *htmlParser) attributeValue() (string, error) {
	quote := p.at()
	if quote != '"' && quote != '\'' {
		begin := p.i
		value := strings.ToLower(p.while(func(c byte) bool { return isAlnum(c) || c == '.' || c == '-' }))
		if c := p.at(); p.i < len(p.in) && !isSpace(c) && c != '>' {
			return "", unreadable("Unexpected end of name token at byte offset %d", begin)
		}
		return value, nil
	}
	var b strings.Builder
	for p.i++; p.i < len(p.in) && p.in[p.i] != quote; {
		if r, n := entityAt(p.in[p.i:]); p.in[p.i] == '&' && n > 0 {
			b.WriteRune(r)
			p.i += n
			continue
		}
		b.WriteByte(p.in[p.i])
		p.i++
	}
	p.i = min(p.i+1, len(p.in))
	return b.String(), nil
}

// set keeps the attribute if it is the one that the tag is about.
func (t *tag) set(name, value string) {
	switch t.name + " " + strings.ToLower(name) {
	case "a href", "tg-emoji emoji-id", "tg-time unix":
		t.argument = value
	case "code class":
		if language, ok := strings.CutPrefix(value, "language-"); ok {
			t.argument = language
		}
	case "span class":
		t.argument, _ = strings.CutPrefix(value, "tg-")
	case "blockquote expandable":
		t.expanded = true
	}
}

func (p *htmlParser) endTag(begin int) error {
	if len(p.open) == 0 {
		return unreadable("Unexpected end tag at byte offset %d", begin)
	}
	p.i++
	name := strings.ToLower(p.while(func(c byte) bool { return !isSpace(c) && c != '>' }))
	p.while(isSpace)
	if p.at() != '>' {
		return unreadable("Unclosed end tag at byte offset %d", begin)
	}
	p.i++
	t := p.open[len(p.open)-1]
	if name != "" && name != t.name {
		return unreadable(`Unmatched end tag at byte offset %d, expected "</%s>", found "</%s>"`, begin, t.name, name)
	}
	p.open = p.open[:len(p.open)-1]
	if p.offset > t.offset {
		p.close(t)
	}
	return nil
}

// close adds the entity of a tag whose end was reached.
func (p *htmlParser) close(t tag) {
	e := Entity{Offset: t.offset, Length: p.offset - t.offset}
	switch t.name {
	case "b", "strong":
		e.Type = "bold"
	case "i", "em":
		e.Type = "italic"
	case "s", "strike", "del":
		e.Type = "strikethrough"
	case "u", "ins":
		e.Type = "underline"
	case "tg-spoiler", "span":
		e.Type = "spoiler"
	case "blockquote":
		e.Type = "blockquote"
		if t.expanded {
			e.Type = "expandable_blockquote"
		}
	case "tg-emoji":
		e.Type, e.Emoji = "custom_emoji", t.argument
	case "tg-time":
		e.Type = "date_time"
		e.UnixTime, _ = strconv.ParseInt(t.argument, 10, 64)
	case "code":
		p.code(e, t.argument)
		return
	case "pre":
		p.pre(e)
		return
	case "a":
		p.link(e, t)
		return
	}
	p.entities = append(p.entities, e)
}

// code: inside a "pre" it only names the language.
func (p *htmlParser) code(e Entity, language string) {
	e.Type, e.Language = "code", language
	p.entities = append(p.entities, e)
}

// pre swallows a "code" of the same extent with its language.
func (p *htmlParser) pre(e Entity) {
	e.Type = "pre"
	if n := len(p.entities); n > 0 {
		inner := p.entities[n-1]
		if inner.Type == "code" && inner.Offset == e.Offset && inner.Length == e.Length {
			e.Language = inner.Language
			p.entities = p.entities[:n-1]
		}
	}
	p.entities = append(p.entities, e)
}

// link: without an address the text itself is one; what is none is plain text.
func (p *htmlParser) link(e Entity, t tag) {
	address := t.argument
	if address == "" {
		address = p.out.String()[t.start:]
	}
	if user, ok := strings.CutPrefix(address, "tg://user?id="); ok {
		if id, err := strconv.ParseInt(user, 10, 64); err == nil {
			e.Type, e.User = "text_mention", &User{ID: id}
			p.entities = append(p.entities, e)
			return
		}
	}
	if checked, problem := checkURL(address); problem == "" {
		e.Type, e.URL = "text_link", checked
		p.entities = append(p.entities, e)
	}
}
