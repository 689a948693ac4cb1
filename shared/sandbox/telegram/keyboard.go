package telegram

import (
	"encoding/json"
	"slices"
	"strings"
)

// Limits of keyboards. The documentation gives that of callback_data; the others
// are the server's.
const (
	maxData       = 64 // bytes
	maxButtons    = 100
	maxRowButtons = 8
)

// Button is one button of an inline keyboard.
type Button struct {
	Text  string          `json:"text"`
	Data  string          `json:"callback_data,omitempty"`
	URL   string          `json:"url,omitempty"`
	Style string          `json:"style,omitempty"`
	Icon  string          `json:"icon_custom_emoji_id,omitempty"`
	App   json.RawMessage `json:"web_app,omitempty"`
	Copy  json.RawMessage `json:"copy_text,omitempty"`
	Here  *string         `json:"switch_inline_query_current_chat,omitempty"`
}

// markup is the keyboard of a message that the bot sends.
type markup struct {
	inline  [][]Button // nil: none
	below   [][]string // the ordinary keyboard's labels
	replace bool       // below replaces the ordinary keyboard (by nothing when empty)
}

// markup reads reply_markup; only an inline keyboard where nothing else will do.
func (c *call) markup(onlyInline bool) (markup, *refusal) {
	text := c.text("reply_markup")
	if text == "" {
		return markup{}, nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil {
		return markup{}, bad("object expected as reply markup")
	}
	switch {
	case fields["inline_keyboard"] != nil:
		inline, r := inlineKeyboard(fields["inline_keyboard"])
		return markup{inline: inline}, r
	case onlyInline && len(fields) > 0:
		return markup{}, bad("inline keyboard expected")
	case fields["keyboard"] != nil:
		below, r := ordinaryKeyboard(fields["keyboard"])
		return markup{below: below, replace: true}, r
	case string(fields["remove_keyboard"]) == "true":
		return markup{replace: true}, nil
	}
	return markup{}, nil // force_reply, or nothing
}

func inlineKeyboard(text json.RawMessage) ([][]Button, *refusal) {
	var rows [][]json.RawMessage
	if json.Unmarshal(text, &rows) != nil {
		return nil, bad(`can't parse reply keyboard markup JSON object: Field "inline_keyboard" must be of type Array`)
	}
	var keyboard [][]Button
	total := 0
	for _, row := range rows {
		var buttons []Button
		for _, raw := range row {
			b, r := inlineButton(raw)
			if r != nil {
				return nil, r
			}
			buttons = append(buttons, b)
		}
		total += len(buttons)
		if len(buttons) > maxRowButtons || total > maxButtons {
			return nil, bad("reply markup is too long")
		}
		if len(buttons) > 0 {
			keyboard = append(keyboard, buttons)
		}
	}
	return keyboard, nil
}

// inlineButton: a label and exactly one thing that it does.
func inlineButton(raw json.RawMessage) (Button, *refusal) {
	const cannot = "can't parse inline keyboard button: "
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return Button{}, bad(cannot + "InlineKeyboardButton must be an Object")
	}
	var b Button
	if fields["text"] == nil {
		return b, bad(cannot + `Can't find field "text"`)
	}
	if json.Unmarshal(raw, &b) != nil {
		return b, bad(cannot + "Field has a wrong type")
	}
	b.Text = strings.TrimSpace(b.Text)
	if b.Text == "" {
		return b, bad("inline keyboard button text is empty")
	}
	actions := 0
	for _, there := range []bool{b.Data != "", b.URL != "", b.App != nil, b.Copy != nil, b.Here != nil} {
		if there {
			actions++
		}
	}
	switch {
	case actions == 0:
		return b, bad(cannot + "Text buttons are unallowed in the inline keyboard")
	case actions > 1:
		return b, bad(cannot + "exactly one of the optional fields must be used")
	case len(b.Data) > maxData:
		return b, bad("BUTTON_DATA_INVALID")
	case b.Style != "" && !slices.Contains([]string{"danger", "success", "primary"}, b.Style):
		return b, bad(cannot + "invalid button style specified")
	}
	if b.URL != "" {
		checked, problem := checkURL(b.URL)
		if problem != "" {
			return b, badf("inline keyboard button URL '%s' is invalid: %s", b.URL, problem)
		}
		b.URL = checked
	}
	return b, nil
}

// ordinaryKeyboard: a button is its label or an object with a label.
func ordinaryKeyboard(text json.RawMessage) ([][]string, *refusal) {
	const cannot = "can't parse keyboard button: "
	var rows [][]json.RawMessage
	if json.Unmarshal(text, &rows) != nil {
		return nil, bad(`can't parse reply keyboard markup JSON object: Field "keyboard" must be of type Array`)
	}
	var keyboard [][]string
	for _, row := range rows {
		var labels []string
		for _, raw := range row {
			var label string
			var b struct{ Text *string }
			switch {
			case json.Unmarshal(raw, &label) == nil:
			case json.Unmarshal(raw, &b) != nil:
				return nil, bad(cannot + "KeyboardButton must be a String or an Object")
			case b.Text == nil:
				return nil, bad(cannot + `Can't find field "text"`)
			default:
				label = *b.Text
			}
			if strings.TrimSpace(label) == "" {
				return nil, bad("keyboard button text must be non-empty")
			}
			labels = append(labels, label)
		}
		if len(labels) > 0 {
			keyboard = append(keyboard, labels)
		}
	}
	return keyboard, nil
}

// has finds a button by its data.
func has(keyboard [][]Button, data string) bool {
	for _, row := range keyboard {
		for _, b := range row {
			if b.Data != "" && b.Data == data {
				return true
			}
		}
	}
	return false
}

func sameKeyboard(a, b [][]Button) bool { return string(marshal(a)) == string(marshal(b)) }
