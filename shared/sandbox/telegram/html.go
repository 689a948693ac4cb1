package telegram

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

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
		return "", nil, unreadable("Can't find end tag corresponding to start tag %q", p.open[n-1].name)
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
		return unreadable("Unclosed start tag at byte offset %d", begin)
	}
	if !supported(name) {
		return unreadable("Unsupported start tag %q at byte offset %d", name, begin)
	}
	t := tag{name: name, offset: p.offset, start: p.out.Len()}
	if err := p.attributes(&t, begin); err != nil {
		return err
	}
	if name == "span" && t.argument != "spoiler" {
		return unreadable(`Tag "span" must have class "tg-spoiler" at byte offset %d`, begin)
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

// unreadable is an error in the original's words, which begin with a capital.
func unreadable(format string, args ...any) error { return fmt.Errorf(format, args...) }

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0 || c == '\v'
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
