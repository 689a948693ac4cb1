package conversation

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"supportbot/shared/messenger"
)

// clean takes NUL characters and broken UTF-8 out of everything that a customer
// can write, and mends a time that JSON cannot express: the stores refuse them,
// and one such message would block all that come after it.
func clean(ev messenger.Event, now time.Time) messenger.Event {
	if _, err := ev.Time.MarshalJSON(); err != nil {
		ev.Time = now
	}
	ev.Key, ev.MessageID, ev.Album = name(ev.Key), name(ev.MessageID), name(ev.Album)
	ev.User.ID = name(ev.User.ID)
	ev.User.Name, ev.User.Username = printable(ev.User.Name), printable(ev.User.Username)
	ev.Command, ev.Argument = printable(ev.Command), printable(ev.Argument)
	c := &ev.Content
	c.Text, c.Markdown = printable(c.Text), printable(c.Markdown)
	c.Attachments = cleanFiles(c.Attachments)
	c.Quotes = each(c.Quotes, func(q *messenger.Quote) {
		q.Author, q.Text, q.Attachments = printable(q.Author), printable(q.Text), cleanFiles(q.Attachments)
	})
	word := func(s *string) { *s = printable(*s) }
	c.Notes, c.Unsupported = each(c.Notes, word), each(c.Unsupported, word)
	if c.Location != nil {
		l := *c.Location
		l.Title, l.Address = printable(l.Title), printable(l.Address)
		c.Location = &l
	}
	if c.Contact != nil {
		c.Contact = &messenger.Contact{Name: printable(c.Contact.Name), Phone: printable(c.Contact.Phone)}
	}
	if ev.Press != nil {
		p := *ev.Press
		p.Data = printable(p.Data)
		ev.Press = &p
	}
	return ev
}

func cleanFiles(files []messenger.Attachment) []messenger.Attachment {
	return each(files, func(a *messenger.Attachment) {
		a.Ref, a.Name, a.MIME = printable(a.Ref), printable(a.Name), printable(a.MIME)
	})
}

func each[T any](list []T, change func(*T)) []T {
	if list == nil {
		return nil
	}
	out := append([]T(nil), list...)
	for i := range out {
		change(&out[i])
	}
	return out
}

// nameMost is the longest name of a messenger's that is kept as it is. Names become
// keys, and an index does not take any length.
const nameMost = 200

// name keeps what names something, or its digest.
func name(s string) string {
	if s = printable(s); len(s) <= nameMost {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func printable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "")
}
