package telegram

import (
	"net"
	"net/url"
	"regexp"
	"strings"
)

// The limits of texts after entities parsing. The documentation says
// "characters" and not which; UTF-16 code units are the stricter reading.
const (
	maxText    = 4096
	maxCaption = 1024
)

// maxEntities is how many entities of a bot's text are kept; the original drops
// the rest in silence.
const maxEntities = 100

// formatted gives the text of parameter name with its entities: from parse_mode,
// or else from the parameter entities.
func (s *Server) formatted(c *call, name, entities string) (string, []Entity, *refusal) {
	text := c.text(name)
	var list []Entity
	switch mode := strings.ToLower(c.text("parse_mode")); mode {
	case "":
		if _, err := c.object(entities, &list); err != nil {
			return "", nil, bad("can't parse entities JSON object")
		}
		if r := checkEntities(text, list); r != nil {
			return "", nil, r
		}
	case "html":
		var err error
		if text, list, err = parseHTML(text); err != nil {
			return "", nil, badf("can't parse entities: %v", err)
		}
	default:
		// Markdown and MarkdownV2 exist in the original; this platform sends HTML.
		return "", nil, bad("unsupported parse_mode")
	}
	if text == "" {
		return "", nil, nil
	}
	text, list = tidy(text, list)
	if len(list) > maxEntities {
		list = list[:maxEntities]
	}
	s.mention(list)
	return text, s.detect.add(text, list), nil
}

// mention completes the users of mentions; those whom the bot never met are
// no mention. Callers hold s.mu.
func (s *Server) mention(list []Entity) {
	for i, e := range list {
		if e.Type != "text_mention" || e.User == nil {
			continue
		}
		if u := s.users[e.User.ID]; u != nil {
			list[i].User = &u.User
		}
	}
}

// body is the text of a message: not empty, not too long.
func (s *Server) body(c *call) (string, []Entity, *refusal) {
	text, entities, r := s.formatted(c, "text", "entities")
	switch {
	case r != nil:
		return "", nil, r
	case !valid(text) && c.text("text") == "":
		return "", nil, bad("message text is empty")
	case !valid(text):
		return "", nil, bad("text must be non-empty")
	case units(text) > maxText:
		return "", nil, bad("message is too long")
	}
	return text, entities, nil
}

func (s *Server) caption(c *call) (string, []Entity, *refusal) {
	text, entities, r := s.formatted(c, "caption", "caption_entities")
	if r == nil && units(text) > maxCaption {
		r = bad("message caption is too long")
	}
	return text, entities, r
}

// checkURL gives an address as the original keeps it, or what is wrong with it.
func checkURL(address string) (checked, problem string) {
	if address == "" {
		return "", "URL is empty"
	}
	if !strings.Contains(address, ":") || !strings.Contains(address, "//") && !strings.HasPrefix(address, "tg:") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || strings.ContainsAny(address, " \n") {
		return "", "Wrong HTTP URL"
	}
	switch strings.ToLower(u.Scheme) {
	case "tg", "ton", "tonsite":
		return address, ""
	case "http", "https":
	default:
		return "", "Unsupported URL protocol"
	}
	host := u.Hostname()
	if host == "" {
		return "", "URL host is empty"
	}
	if !strings.Contains(strings.Trim(host, "."), ".") && net.ParseIP(host) == nil {
		return "", "Wrong HTTP URL"
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), ""
}

// detector finds the entities that the server itself finds in texts.
type detector struct{ kinds []find }

type find struct {
	kind    string
	pattern *regexp.Regexp // group 1 is the entity
}

func newDetector() detector {
	compile := func(kind, pattern string) find { return find{kind, regexp.MustCompile(pattern)} }
	return detector{kinds: []find{
		compile("url", `(?i)(?:^|[\s(\[«"'])(https?://[^\s<>«»"]*[^\s<>«»".,:;!?)\]'])`),
		compile("email", `(?:^|[\s(<«"',:;])([A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})`),
		compile("bot_command", `(?:^|[^\w/@<>])(/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?)(?:\b|$)`),
		compile("mention", `(?:^|[^\w@/.])(@[A-Za-z0-9_]{4,32})\b`),
		compile("hashtag", `(?:^|[^\p{L}\p{N}_#&])(#[\p{L}\p{N}_]*[\p{L}_][\p{L}\p{N}_]*)`),
	}}
}

// add puts what is found in a text beside the entities that it has already.
// Nothing is found inside code, links and other finds.
func (d detector) add(text string, entities []Entity) []Entity {
	list := entities
	for _, k := range d.kinds {
		for from := 0; from < len(text); {
			m := k.pattern.FindStringSubmatchIndex(text[from:])
			if m == nil {
				break
			}
			start, end := from+m[2], from+m[3]
			e := Entity{Type: k.kind, Offset: units(text[:start]), Length: units(text[start:end])}
			if !taken(list, e) {
				list = append(list, e)
			}
			from = end
		}
	}
	sortEntities(list)
	return list
}

func taken(list []Entity, e Entity) bool {
	for _, other := range list {
		if e.Offset >= other.end() || other.Offset >= e.end() {
			continue
		}
		if found(other.Type) || tagOf(other.Type) == "a" || other.Type == "code" || other.Type == "pre" {
			return true
		}
	}
	return false
}
