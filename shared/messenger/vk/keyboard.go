package vk

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"supportbot/shared/messenger"
)

// Bounds of keyboards (dev.vk.com/api/bots/development/keyboard).
const (
	columns         = 5
	inlineRows      = 6
	inlineButtons   = 10
	ordinaryRows    = 10
	ordinaryButtons = 40
	labelMost       = 40
	payloadMost     = 255
)

// keyboard is buttons in VK's form. Colours are left to the client.
type keyboard struct {
	OneTime bool       `json:"one_time"`
	Inline  bool       `json:"inline"`
	Buttons [][]button `json:"buttons"`
}

type button struct {
	Action action `json:"action"`
}

type action struct {
	Type    string `json:"type"`
	Label   string `json:"label"`
	Payload string `json:"payload,omitempty"`
	Link    string `json:"link,omitempty"`
}

// payload is what a button of ours carries.
type payload struct {
	Data *string `json:"data"`
}

// buttonData reads the payload of a pressed button, which comes as an object or
// as a text with one in it; ours is false for a button that is not ours, and
// data is then the payload as it is.
func buttonData(raw json.RawMessage) (data string, ours bool) {
	raw = unquoted(raw)
	var p payload
	if json.Unmarshal(raw, &p) == nil && p.Data != nil {
		return *p.Data, true
	}
	return string(raw), false
}

// encodeKeyboard gives the keyboard parameter, "" for none. Callback buttons
// stand below the message; the text buttons of old clients stand below the input
// field until one is pressed, since such a client may know nothing else.
func encodeKeyboard(k messenger.Keyboard, textual bool) (string, error) {
	out := keyboard{OneTime: textual, Inline: !textual}
	count := 0
	for _, row := range k {
		var buttons []button
		for _, b := range row {
			encoded, err := encodeButton(b, textual)
			if err != nil {
				return "", err
			}
			buttons = append(buttons, encoded)
		}
		count += len(buttons)
		out.Buttons = slices.AppendSeq(out.Buttons, slices.Chunk(buttons, columns)) // no row is empty
	}
	if count == 0 {
		return "", nil
	}
	rows, most := inlineRows, inlineButtons
	if textual {
		rows, most = ordinaryRows, ordinaryButtons
	}
	if count > most {
		return "", fmt.Errorf("keyboard has %d buttons, VK shows %d", count, most)
	}
	out.Buttons = packed(out.Buttons, rows)
	encoded, err := json.Marshal(out)
	return string(encoded), err
}

// packed joins neighbouring rows, the shortest first, until there are few enough.
func packed(rows [][]button, most int) [][]button {
	for len(rows) > most {
		best := -1
		for i := range len(rows) - 1 {
			size := len(rows[i]) + len(rows[i+1])
			if size <= columns && (best < 0 || size < len(rows[best])+len(rows[best+1])) {
				best = i
			}
		}
		if best < 0 {
			break // VK will refuse it, and the text goes without
		}
		rows[best] = slices.Concat(rows[best], rows[best+1])
		rows = slices.Delete(rows, best+1, best+2)
	}
	return rows
}

func encodeButton(b messenger.Button, textual bool) (button, error) {
	if b.Label == "" || (b.URL == "") == (b.Data == "") {
		return button{}, errors.New("button needs a label and either data or a link")
	}
	a := action{Type: "callback", Label: shortened(b.Label, labelMost)}
	if b.URL != "" {
		a.Type, a.Link = "open_link", b.URL
		return button{a}, nil
	}
	if textual {
		a.Type = "text"
	}
	encoded, err := json.Marshal(payload{&b.Data})
	if err != nil || len(encoded) > payloadMost {
		return button{}, errors.New("button's data is too long")
	}
	a.Payload = string(encoded)
	return button{a}, nil
}

// shortened cuts a text to so many characters.
func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
