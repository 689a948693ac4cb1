package telegram

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tag is an open tag of the HTML that a bot sends.
type tag struct {
	name     string
	argument string // of the attribute that matters
	expanded bool   // blockquote: expandable
	offset   int    // UTF-16 code units into the text
	start    int    // bytes into the text
}

// htmlParser turns HTML as bots may write it into text and entities
// (core.telegram.org/bots/api#html-style). Positions in errors are bytes.
type htmlParser struct {
	in       string
	i        int
	out      strings.Builder
	offset   int // of out, UTF-16 code units
	open     []tag
	entities []Entity
}

func parseHTML(in string) (string, []Entity, error) {
	p := &htmlParser{in: in}
	for p.i < len(p.in) {
		switch p.in[p.i] {
		case '<':
			if err := p.tag(); err != nil {
				return "", nil, err
			}
		case '&':
			r, n := entityAt(p.in[p.i:])
			if n == 0 {
				r, n = '&', 1
			}
			p.add(r)
			p.i += n
		default:
			r, n := utf8.DecodeRuneInString(p.in[p.i:])
			p.add(r)
			p.i += n
		}
	}
	if n := len(p.open); n > 0 {
		return "", nil, fmt.Errorf("Can't find end tag corresponding to start tag %q", p.open[n-1].name)
	}
	for i, e := range p.entities {
		if e.Type == "code" {
			p.entities[i].Language = "" // it belongs to "pre" alone
		}
	}
	return p.out.String(), p.entities, nil
}

func (p *htmlParser) add(r rune) {
	p.out.WriteRune(r)
	p.offset += units(string(r))
}

// entityAt reads a character reference at the beginning of s; n is its length, 0
// when there is none. Of the named ones only four are supported.
func entityAt(s string) (r rune, n int) {
	end := 1
	for end < len(s) && (isAlnum(s[end]) || end == 1 && s[end] == '#') {
		end++
	}
	name := s[1:end]
	if number, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if strings.HasPrefix(number, "x") {
			number, base = number[1:], 16
		}
		code, err := strconv.ParseUint(number, base, 32)
		if err != nil || code == 0 || code >= 0x10ffff {
			return 0, 0
		}
		r = rune(code)
	} else {
		switch name {
		case "lt":
			r = '<'
		case "gt":
			r = '>'
		case "amp":
			r = '&'
		case "quot":
			r = '"'
		default:
			return 0, 0
		}
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	return r, end
}

// tag reads a tag of either kind.
func (p *htmlParser) tag() error {
	begin := p.i
	p.i++
	if p.at() == '/' {
		return p.endTag(begin)
	}
	name := strings.ToLower(p.while(func(c byte) bool { return !isSpace(c) && c != '>' }))
	if p.i == len(p.in) {
		return fmt.Errorf("Unclosed start tag at byte offset %d", begin)
	}
	if !supported(name) {
		return fmt.Errorf("Unsupported start tag %q at byte offset %d", name, begin)
	}
	t := tag{name: name, offset: p.offset, start: p.out.Len()}
	if err := p.attributes(&t, begin); err != nil {
		return err
	}
	if name == "span" && t.argument != "spoiler" {
		return fmt.Errorf(`Tag "span" must have class "tg-spoiler" at byte offset %d`, begin)
	}
	p.open = append(p.open, t)
	return nil
}

func supported(name string) bool {
	switch name {
	case "a", "b", "strong", "i", "em", "s", "strike", "del", "u", "ins", "tg-spoiler", "tg-emoji", "tg-time",
		"span", "pre", "code", "blockquote":
		return true
	}
	return false
}

// attributes reads up to the end of the start tag.
func (p *htmlParser) attributes(t *tag, begin int) error {
	unclosed := fmt.Errorf("Unclosed start tag at byte offset %d", begin)
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
			return fmt.Errorf("Empty attribute name in the tag %q at byte offset %d", t.name, begin)
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
			return "", fmt.Errorf("Unexpected end of name token at byte offset %d", begin)
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
		return fmt.Errorf("Unexpected end tag at byte offset %d", begin)
	}
	p.i++
	name := strings.ToLower(p.while(func(c byte) bool { return !isSpace(c) && c != '>' }))
	p.while(isSpace)
	if p.at() != '>' {
		return fmt.Errorf("Unclosed end tag at byte offset %d", begin)
	}
	p.i++
	t := p.open[len(p.open)-1]
	if name != "" && name != t.name {
		return fmt.Errorf(`Unmatched end tag at byte offset %d, expected "</%s>", found "</%s>"`, begin, t.name, name)
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

func (p *htmlParser) at() byte {
	if p.i < len(p.in) {
		return p.in[p.i]
	}
	return 0
}

func (p *htmlParser) while(ok func(byte) bool) string {
	begin := p.i
	for p.i < len(p.in) && ok(p.in[p.i]) {
		p.i++
	}
	return p.in[begin:p.i]
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0 || c == '\v'
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
