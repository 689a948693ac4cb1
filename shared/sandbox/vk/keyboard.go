package vk

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Keyboard is buttons, as messages carry them.
type Keyboard struct {
	OneTime bool       `json:"one_time"`
	Inline  bool       `json:"inline"`
	Buttons [][]Button `json:"buttons"`
	Author  int64      `json:"author_id,omitempty"`
}

// Button is one button.
type Button struct {
	Action Action `json:"action"`
	Color  string `json:"color,omitempty"`
}

// Action is what a button does.
type Action struct {
	Type    string `json:"type"`
	Label   string `json:"label,omitempty"`
	Payload string `json:"payload,omitempty"`
	Link    string `json:"link,omitempty"`
	Hash    string `json:"hash,omitempty"`
	AppID   int64  `json:"app_id,omitempty"`
	OwnerID int64  `json:"owner_id,omitempty"`
}

// Bounds of keyboards (dev.vk.com/api/bots/development/keyboard).
const (
	columns      = 5
	inlineRows   = 6
	inlineMost   = 10
	ordinaryRows = 10
	ordinaryMost = 40
	labelMost    = 40
	payloadMost  = 255
)

// parseKeyboard reads the keyboard parameter of a message. An empty text is no
// keyboard; a keyboard without buttons hides the one that is shown.
func (s *Server) parseKeyboard(text string) (*Keyboard, *apiError) {
	if text == "" {
		return nil, nil
	}
	if !s.settings.bots {
		return nil, failed(912, "This is a chat bot feature, change this status in settings")
	}
	var k Keyboard
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return nil, failed(911, "Keyboard format is invalid: keyboard is not an object of the right form")
	}
	if why := k.wrong(); why != "" {
		return nil, failed(911, "Keyboard format is invalid: "+why)
	}
	k.Author = -s.cfg.GroupID
	return &k, nil
}

// wrong says what is wrong with a keyboard, or "".
func (k *Keyboard) wrong() string {
	rows, most := ordinaryRows, ordinaryMost
	if k.Inline {
		rows, most = inlineRows, inlineMost
	}
	switch {
	case k.Buttons == nil:
		return "buttons is required"
	case k.Inline && k.OneTime:
		return "one_time is not allowed with inline"
	case len(k.Buttons) > rows:
		return fmt.Sprintf("more than %d rows", rows)
	}
	count := 0
	for i, row := range k.Buttons {
		switch {
		case len(row) == 0:
			return fmt.Sprintf("row %d is empty", i)
		case len(row) > columns:
			return fmt.Sprintf("row %d has more than %d buttons", i, columns)
		}
		for j, b := range row {
			if why := b.wrong(); why != "" {
				return fmt.Sprintf("button %d of row %d: %s", j, i, why)
			}
		}
		count += len(row)
	}
	if count > most {
		return fmt.Sprintf("more than %d buttons", most)
	}
	return ""
}

func (b Button) wrong() string {
	a := b.Action
	labelled := a.Type == "text" || a.Type == "callback" || a.Type == "open_link" || a.Type == "open_app"
	coloured := a.Type == "text" || a.Type == "callback"
	switch {
	case !labelled && a.Type != "location" && a.Type != "vkpay":
		return "unknown type of action"
	case labelled && a.Label == "":
		return "label is required"
	case utf8.RuneCountInString(a.Label) > labelMost:
		return fmt.Sprintf("label is longer than %d", labelMost)
	case utf8.RuneCountInString(a.Payload) > payloadMost:
		return fmt.Sprintf("payload is longer than %d", payloadMost)
	case a.Payload != "" && !json.Valid([]byte(a.Payload)):
		return "payload is not JSON"
	case a.Type == "open_link" && a.Link == "":
		return "link is required"
	case b.Color != "" && !coloured:
		return "color is not allowed for this action"
	}
	switch b.Color {
	case "", "primary", "secondary", "negative", "positive":
		return ""
	}
	return "unknown color"
}
