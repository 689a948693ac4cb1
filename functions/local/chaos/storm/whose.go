package storm

import (
	"regexp"
	"slices"
)

// whose is in a token which a customer said, or an agent to them: who that is. For notes
// there is a balance of their own.
var whose = regexp.MustCompile(`^[SDMRAF](\d+)N`)

// apart: nobody reads what is somebody else's, neither in the messages that they have or
// were sent, nor by a ticket that is taken for theirs.
func (l *Balance) apart(b *Books) {
	owner := map[string]string{}
	for _, f := range b.Forms {
		owner[whose.FindStringSubmatch(f.Subject)[1]] = f.Chat
	}
	strange := func(text, chat string) (all []string) {
		for _, t := range tokens(text) {
			if of := whose.FindStringSubmatch(t); of != nil && owner[of[1]] != chat {
				all = append(all, t)
			}
		}
		return all
	}
	seen := map[copied]bool{}
	told := func(text, chat string) {
		for _, t := range strange(text, chat) {
			if of := (copied{chat, t}); !seen[of] {
				seen[of] = true
				l.wrong("%s, which is somebody else's, went to %s", t, chat)
			}
		}
	}
	for chat, all := range b.Chats {
		for _, m := range all {
			told(m.Text, chat)
		}
	}
	for _, c := range b.Calls {
		if c.Chat != "" {
			told(c.Text, c.Chat)
		}
	}
	for _, k := range b.Tickets {
		l.apartIn(b, k, strange)
	}
}

// apartIn: a ticket is of one customer. What they wrote when it was there is seen to by
// said.
func (l *Balance) apartIn(b *Books, k Ticket, strange func(text, chat string) []string) {
	texts := k.Summary
	for _, e := range k.Entries {
		texts += "\n" + e.Text
	}
	for _, t := range strange(texts, k.Chat) {
		if t[0] != 'M' && t[0] != 'R' {
			l.wrong("%s, which is somebody else's, is in %s of %s", t, k.Key, k.Chat)
		}
	}
	for _, data := range k.Files {
		if i := slices.IndexFunc(b.Said, func(s Said) bool { return s.File == data }); i >= 0 && b.Said[i].Chat != k.Chat {
			l.wrong("the file of %s, which is somebody else's, is in %s of %s", b.Said[i].Token, k.Key, k.Chat)
		}
	}
}
