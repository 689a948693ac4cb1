package broadcasting

import (
	"errors"
	"sync"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
)

// message is what everybody of one locale gets in one messenger.
type message struct {
	part     messenger.Part
	keyboard messenger.Keyboard
	err      error // it cannot be sent in this messenger
}

// messages renders each locale once.
type messages struct {
	kind    broadcast.Kind
	content broadcast.Content
	sender  Sender
	buttons func(k broadcast.Kind, locale string) []messenger.Button

	mu   sync.Mutex
	made map[string]message
}

func (m *messages) in(locale string) message {
	m.mu.Lock()
	defer m.mu.Unlock()
	if made, ok := m.made[locale]; ok {
		return made
	}
	if m.made == nil {
		m.made = map[string]message{}
	}
	made := Render(m.kind, m.content, locale, m.sender, m.buttons)
	m.made[locale] = message{made.Part, made.Keyboard, made.Err}
	return m.made[locale]
}

// Rendered is a broadcast as somebody sees it in one messenger.
type Rendered struct {
	Locale   string
	Part     messenger.Part
	Keyboard messenger.Keyboard
	Err      error // it cannot be sent there: one of the errors below
}

// Why a content cannot be sent in a messenger.
var (
	ErrEmpty   = errors.New("the text is empty")
	ErrTooLong = errors.New("the text is too long for one message")
	ErrButtons = errors.New("there are too many buttons")
)

// Render makes what somebody who speaks locale gets in a messenger. A broadcast is
// one message: a text that would have to be split is an error.
func Render(k broadcast.Kind, c broadcast.Content, locale string, to Sender, own func(broadcast.Kind, string) []messenger.Button) Rendered {
	text, in := c.Text(locale)
	r := Rendered{Locale: in}
	parts := to.Render(text)
	switch len(parts) {
	case 0:
		r.Err = ErrEmpty
		return r
	case 1:
		r.Part = parts[0]
	default:
		r.Err = ErrTooLong
		return r
	}
	for _, b := range c.Buttons {
		label := b.Labels[in]
		if label == "" {
			label = b.Labels[c.Fallback]
		}
		r.Keyboard = append(r.Keyboard, []messenger.Button{{Label: label, URL: b.URL}})
	}
	for _, b := range own(k, locale) {
		r.Keyboard = append(r.Keyboard, []messenger.Button{b})
	}
	if most := to.Limits().Buttons; most > 0 && len(r.Keyboard) > most {
		r.Err = ErrButtons
	}
	return r
}
