package news

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// ReplyRule says which comments go to the customer: internal is the default.
type ReplyRule struct {
	Prefix string       // "/reply"; what a comment begins with to be a reply
	Robot  tracker.User // our own account: summoning it makes a reply, its comments never are
}

// Rule makes the ReplyRule when it is needed: our own id is asked of Tracker, and
// kept once it is known.
type Rule struct {
	Prefix string
	Myself func(ctx context.Context) (tracker.User, error)

	mu    sync.Mutex
	robot tracker.User
}

// Get gives the rule, or Tracker's error.
func (r *Rule) Get(ctx context.Context) (ReplyRule, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.robot.ID == "" {
		me, err := r.Myself(ctx)
		if err != nil {
			return ReplyRule{}, fmt.Errorf("ask who we are: %w", err)
		}
		r.robot = me
	}
	return ReplyRule{Prefix: r.Prefix, Robot: r.robot}, nil
}

// Reply gives the text for the customer, as Markdown; ok is false for comments
// that stay inside. The robot's own comments are known by their author and, in
// case its account was changed, by their marker. What came by mail nobody of ours
// need have written.
func (r ReplyRule) Reply(c tracker.Comment) (text string, ok bool) {
	if r.Robot.Is(c.Author) || c.Mail {
		return "", false
	}
	text = strings.TrimSpace(c.Text)
	if rest, found := r.cutPrefix(text); found { // nothing of ours begins so
		return rest, rest != "" || len(c.Attachments) > 0
	}
	if _, _, ours := ticket.Marked(text); ours {
		return "", false
	}
	for _, s := range c.Summonees {
		if r.Robot.Is(s) {
			return text, text != "" || len(c.Attachments) > 0
		}
	}
	return "", false
}

// cutPrefix takes the prefix off, in any case of letters. It counts only as a
// word of its own: "/replying" is no reply.
func (r ReplyRule) cutPrefix(text string) (string, bool) {
	n := len(r.Prefix)
	if n == 0 || len(text) < n || !strings.EqualFold(text[:n], r.Prefix) {
		return "", false
	}
	rest := text[n:]
	if next, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsSpace(next) && next != ':' && next != ',' {
		return "", false
	}
	rest = strings.TrimSpace(strings.TrimLeft(rest, ":,"))
	if first, _, _ := strings.Cut(rest, " "); first == ":" || first == "," { // "/reply : yes"
		rest = strings.TrimSpace(rest[1:])
	}
	return rest, true
}
