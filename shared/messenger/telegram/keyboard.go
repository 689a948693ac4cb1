package telegram

import (
	"encoding/json"
	"unicode/utf16"

	"supportbot/shared/messenger"
)

// dataMost is the length of a button's data: bytes, not characters.
const dataMost = 64

type button struct {
	Text string `json:"text"`
	Data string `json:"callback_data,omitempty"`
	URL  string `json:"url,omitempty"`
}

// encodeKeyboard gives a keyboard as Telegram wants it, "" for none. A button
// that Telegram would refuse would take the whole message with it; it is named
// here, before anything is sent.
func encodeKeyboard(k messenger.Keyboard) (string, error) {
	rows := make([][]button, 0, len(k))
	count := 0
	for _, row := range k {
		buttons := make([]button, 0, len(row))
		for _, b := range row {
			switch {
			case b.Label == "":
				return "", invalid("a button has no label")
			case (b.Data == "") == (b.URL == ""):
				return "", invalid("a button needs either data or an address")
			case len(b.Data) > dataMost:
				return "", invalid("a button's data is longer than 64 bytes")
			}
			buttons = append(buttons, button{Text: b.Label, Data: b.Data, URL: b.URL})
		}
		if len(buttons) > 0 { // an empty row is an error for Telegram
			rows = append(rows, buttons)
			count += len(buttons)
		}
	}
	switch {
	case count == 0:
		return "", nil
	case count > limits.Buttons:
		return "", invalid("there are more buttons than Telegram takes")
	}
	encoded, err := json.Marshal(map[string]any{"inline_keyboard": rows})
	if err != nil {
		return "", invalid("a button cannot be encoded")
	}
	return string(encoded), nil
}

// units counts UTF-16 code units, as Telegram does.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// shortened cuts a text to so many UTF-16 code units.
func shortened(s string, most int) string {
	if units(s) <= most {
		return s
	}
	n := 1 // for the ellipsis
	for i, r := range s {
		n += max(1, utf16.RuneLen(r))
		if n > most {
			return s[:i] + "…"
		}
	}
	return s
}
