package notification

import (
	"errors"

	"supportbot/shared/broadcast"
	"supportbot/shared/broadcasting"
	"supportbot/shared/markup"
	"supportbot/shared/messenger"
)

// view is a content in one messenger and locale, as a person will see it.
type view struct {
	Messenger messenger.Name       `json:"messenger"`
	Locale    string               `json:"locale"`
	Text      string               `json:"text"`           // without markup
	HTML      string               `json:"html,omitempty"` // Telegram's subset, already escaped
	Buttons   [][]messenger.Button `json:"buttons,omitempty"`
	Error     string               `json:"error,omitempty"`
	Code      string               `json:"code,omitempty"` // of the error, as in Field

	pointer string // of what the error is about
}

func (a *API) render(s *broadcast.Spec, each func(view)) {
	for _, m := range []messenger.Name{messenger.Telegram, messenger.VK} {
		sender, ok := a.d.Senders(m, a.d.Bots[m])
		if !ok {
			continue
		}
		for _, locale := range a.d.Locales {
			text, has := s.Texts[locale]
			if !has {
				continue
			}
			r := broadcasting.Render(s.Kind, s.Content, locale, sender, a.d.Buttons)
			v := view{Messenger: m, Locale: locale, Text: r.Part.Text, Buttons: r.Keyboard, pointer: pointer("/texts", locale)}
			if r.Part.HTML {
				v.Text, v.HTML = r.Part.Plain, r.Part.Text
			}
			if r.Err != nil {
				v.fail(r.Err)
			} else if wrong := markup.Mistakes(text); len(wrong) > 0 {
				v.Error, v.Code = wrong[0], "bad_markup"
			}
			each(v)
		}
	}
}

// fail notes why the content cannot be sent in this messenger.
func (v *view) fail(err error) {
	v.Error, v.Code = err.Error()+" ("+string(v.Messenger)+")", "too_long"
	switch {
	case errors.Is(err, broadcasting.ErrEmpty):
		v.Code = "required"
	case errors.Is(err, broadcasting.ErrButtons):
		v.pointer, v.Code = "/buttons", "too_many"
	}
}
