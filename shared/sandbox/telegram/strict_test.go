package telegram_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/telegram"
)

func bold(offset, length int) telegram.Entity {
	return telegram.Entity{Type: "bold", Offset: offset, Length: length}
}

func TestSendMessage_HTML(t *testing.T) {
	t.Parallel()
	type entities = []telegram.Entity
	for name, tt := range map[string]struct {
		html, text string
		entities   entities
		refused    string // instead
	}{
		"plain":            {html: "a &lt;b&gt; &amp;amp; &quot;&#128512;&#x44F; &nbsp; &", text: `a <b> &amp; "😀я &nbsp; &`},
		"units":            {html: "😀<b>я😀</b>", text: "😀я😀", entities: entities{bold(2, 3)}},
		"nested":           {html: "<b>a<i>b</i></b>", text: "ab", entities: entities{bold(0, 2), {Type: "italic", Offset: 1, Length: 1}}},
		"synonyms":         {html: "<strong>a</strong><em>b</em><del>c</del><ins>d</ins>", text: "abcd", entities: entities{bold(0, 1), {Type: "italic", Offset: 1, Length: 1}, {Type: "strikethrough", Offset: 2, Length: 1}, {Type: "underline", Offset: 3, Length: 1}}},
		"code":             {html: `<pre><code class="language-go">x</code></pre>`, text: "x", entities: entities{{Type: "pre", Offset: 0, Length: 1, Language: "go"}}},
		"language outside": {html: `<code class="language-go">x</code>`, text: "x", entities: entities{{Type: "code", Offset: 0, Length: 1}}},
		"link":             {html: `<a href="https://a.example/?x=1&amp;y=2">x</a>`, text: "x", entities: entities{{Type: "text_link", Offset: 0, Length: 1, URL: "https://a.example/?x=1&y=2"}}},
		"link to nothing":  {html: `<a href="javascript:alert(1)">x</a>`, text: "x"},
		"spoiler":          {html: `<span class="tg-spoiler">x</span><tg-spoiler>y</tg-spoiler>`, text: "xy", entities: entities{{Type: "spoiler", Offset: 0, Length: 1}, {Type: "spoiler", Offset: 1, Length: 1}}},
		"quotation":        {html: "<blockquote>a</blockquote><blockquote expandable>b</blockquote>", text: "ab", entities: entities{{Type: "blockquote", Offset: 0, Length: 1}, {Type: "expandable_blockquote", Offset: 1, Length: 1}}},
		"space goes":       {html: " \n x<b> y\n</b>\n", text: "x y", entities: entities{bold(1, 2)}},
		"formatted space":  {html: "  <pre>  x</pre>", text: "  x", entities: entities{{Type: "pre", Offset: 0, Length: 3}}},
		"controls":         {html: "a\tb\r\nc\u2028<b>d\x01</b>e", text: "a b\ncd e", entities: entities{bold(5, 2)}},
		"empty tag":        {html: "<b></b>x", text: "x"},
		"capitals":         {html: "<B>x</b>", text: "x", entities: entities{bold(0, 1)}},
		"found":            {html: "see https://a.example/x, /help", text: "see https://a.example/x, /help", entities: entities{{Type: "url", Offset: 4, Length: 19}, {Type: "bot_command", Offset: 25, Length: 5}}},
		"not in code":      {html: "<code>/help</code>", text: "/help", entities: entities{{Type: "code", Offset: 0, Length: 5}}},

		"unsupported":   {html: "я<p>x</p>", refused: `can't parse entities: Unsupported start tag "p" at byte offset 2`},
		"break":         {html: "a<br/>b", refused: `can't parse entities: Unsupported start tag "br/" at byte offset 1`},
		"less than":     {html: "1 < 2", refused: `can't parse entities: Unsupported start tag "" at byte offset 2`},
		"unclosed":      {html: "<b>x", refused: `can't parse entities: Can't find end tag corresponding to start tag "b"`},
		"crossed":       {html: "<b><i>x</b></i>", refused: `can't parse entities: Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`},
		"unopened":      {html: "x</b>", refused: "can't parse entities: Unexpected end tag at byte offset 1"},
		"half a tag":    {html: "<b", refused: "can't parse entities: Unclosed start tag at byte offset 0"},
		"half an end":   {html: "<b>x</b", refused: "can't parse entities: Unclosed end tag at byte offset 4"},
		"half a string": {html: `<a href="x>y`, refused: "can't parse entities: Unclosed start tag at byte offset 0"},
		"name token":    {html: "<a href=a/b>x</a>", refused: "can't parse entities: Unexpected end of name token at byte offset 8"},
		"span":          {html: "<span>x</span>", refused: `can't parse entities: Tag "span" must have class "tg-spoiler" at byte offset 0`},
		"no attribute":  {html: `<a ="x">y</a>`, refused: `can't parse entities: Empty attribute name in the tag "a" at byte offset 0`},
		"nothing left":  {html: "<b> </b>", refused: "text must be non-empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := b.started()
			a := b.call("sendMessage", fields{"chat_id": c.Chat(), "text": tt.html, "parse_mode": "HTML"})
			if tt.refused != "" {
				if want := "Bad Request: " + tt.refused; a.Description != want {
					t.Errorf("got %q, want %q", a.Description, want)
				}
				return
			}
			var got sent
			b.decode("sendMessage", a, &got)
			if diff := cmp.Diff(tt.text, got.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.entities, got.Entities); diff != "" {
				t.Errorf("entities (-want +got):\n%s", diff)
			}
		})
	}
}

// Of more than a hundred entities the rest is plain text.
func TestSendMessage_ManyEntities(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	m := b.send(c, strings.Repeat("<b>x</b> ", 101), fields{"parse_mode": "HTML"})
	if got := len(m.Entities); got != 100 || len(m.Text) != 201 {
		t.Errorf("got %d entities of %d characters, want 100 of 201", got, len(m.Text))
	}
}

func keyboard(rows string) json.RawMessage {
	return json.RawMessage(`{"inline_keyboard":` + rows + `}`)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	button := func(data string) json.RawMessage {
		return keyboard(`[[{"text":"a","callback_data":"` + data + `"}]]`)
	}
	for name, tt := range map[string]struct {
		method string
		params fields // chat_id is a customer's unless given; MINE, THEIRS, FILE are messages
		code   int
		want   string
	}{
		"no method":         {"sendShout", fields{}, 404, "Not Found: method not found"},
		"no chat":           {"sendMessage", fields{"chat_id": "", "text": "x"}, 400, "Bad Request: chat_id is empty"},
		"unknown chat":      {"sendMessage", fields{"chat_id": 12, "text": "x"}, 400, "Bad Request: chat not found"},
		"chat by name":      {"sendMessage", fields{"chat_id": "@anna", "text": "x"}, 400, "Bad Request: chat not found"},
		"never started":     {"sendMessage", fields{"chat_id": 1 << 50, "text": "x"}, 403, "Forbidden: bot can't initiate conversation with a user"},
		"no text":           {"sendMessage", fields{}, 400, "Bad Request: message text is empty"},
		"empty text":        {"sendMessage", fields{"text": ""}, 400, "Bad Request: message text is empty"},
		"blank text":        {"sendMessage", fields{"text": " \n "}, 400, "Bad Request: text must be non-empty"},
		"nothing seen":      {"sendMessage", fields{"text": "\u200b\u2060 \ufeff\u2800"}, 400, "Bad Request: text must be non-empty"},
		"long text":         {"sendMessage", fields{"text": strings.Repeat("x", 4097)}, 400, "Bad Request: message is too long"},
		"long in units":     {"sendMessage", fields{"text": strings.Repeat("😀", 2048) + "x"}, 400, "Bad Request: message is too long"},
		"markdown":          {"sendMessage", fields{"text": "x", "parse_mode": "MarkdownX"}, 400, "Bad Request: unsupported parse_mode"},
		"entity outside":    {"sendMessage", fields{"text": "abc", "entities": []telegram.Entity{bold(1, 3)}}, 400, "Bad Request: can't parse entities: entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 4"},
		"entity halves":     {"sendMessage", fields{"text": "😀", "entities": []telegram.Entity{bold(0, 1)}}, 400, "Bad Request: can't parse entities: entity ends in a middle of a UTF-16 symbol at byte offset 1"},
		"entity unknown":    {"sendMessage", fields{"text": "x", "entities": []telegram.Entity{{Type: "blink", Length: 1}}}, 400, "Bad Request: can't parse MessageEntity: Unsupported type specified"},
		"entity link":       {"sendMessage", fields{"text": "x", "entities": []telegram.Entity{{Type: "text_link", Length: 1, URL: "not-a-url"}}}, 400, "Bad Request: entity URL 'not-a-url' is invalid: Wrong HTTP URL"},
		"reply to nothing":  {"sendMessage", fields{"text": "x", "reply_parameters": fields{"message_id": 99999}}, 400, "Bad Request: message to be replied not found"},
		"markup no object":  {"sendMessage", fields{"text": "x", "reply_markup": "[1]"}, 400, "Bad Request: object expected as reply markup"},
		"data too long":     {"sendMessage", fields{"text": "x", "reply_markup": button(strings.Repeat("x", 65))}, 400, "Bad Request: BUTTON_DATA_INVALID"},
		"data in bytes":     {"sendMessage", fields{"text": "x", "reply_markup": button(strings.Repeat("я", 33))}, 400, "Bad Request: BUTTON_DATA_INVALID"},
		"data empty":        {"sendMessage", fields{"text": "x", "reply_markup": button("")}, 400, "Bad Request: can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"},
		"button no text":    {"sendMessage", fields{"text": "x", "reply_markup": keyboard(`[[{"callback_data":"a"}]]`)}, 400, `Bad Request: can't parse inline keyboard button: Can't find field "text"`},
		"button no object":  {"sendMessage", fields{"text": "x", "reply_markup": keyboard(`[["a"]]`)}, 400, "Bad Request: can't parse inline keyboard button: InlineKeyboardButton must be an Object"},
		"rows no lists":     {"sendMessage", fields{"text": "x", "reply_markup": keyboard(`[{"text":"a"}]`)}, 400, `Bad Request: can't parse reply keyboard markup JSON object: Field "inline_keyboard" must be of type Array`},
		"two actions":       {"sendMessage", fields{"text": "x", "reply_markup": keyboard(`[[{"text":"a","callback_data":"a","url":"https://a.example"}]]`)}, 400, "Bad Request: can't parse inline keyboard button: exactly one of the optional fields must be used"},
		"button local link": {"sendMessage", fields{"text": "x", "reply_markup": keyboard(`[[{"text":"a","url":"http://localhost:8080/x"}]]`)}, 400, "Bad Request: inline keyboard button URL 'http://localhost:8080/x' is invalid: Wrong HTTP URL"},
		"button ftp":        {"sendMessage", fields{"text": "x", "reply_markup": keyboard(`[[{"text":"a","url":"ftp://a.example"}]]`)}, 400, "Bad Request: inline keyboard button URL 'ftp://a.example' is invalid: Unsupported URL protocol"},
		"wide row":          {"sendMessage", fields{"text": "x", "reply_markup": keyboard("[[" + strings.Repeat(`{"text":"a","callback_data":"a"},`, 8) + `{"text":"a","callback_data":"a"}]]`)}, 400, "Bad Request: reply markup is too long"},
		"many buttons":      {"sendMessage", fields{"text": "x", "reply_markup": keyboard("[" + strings.Repeat(`[{"text":"a","callback_data":"a"}],`, 100) + `[{"text":"a","callback_data":"a"}]]`)}, 400, "Bad Request: reply markup is too long"},
		"ordinary button":   {"sendMessage", fields{"text": "x", "reply_markup": fields{"keyboard": [][]any{{fields{"request_contact": true}}}}}, 400, `Bad Request: can't parse keyboard button: Can't find field "text"`},

		"edit nothing":      {"editMessageText", fields{"message_id": 99999, "text": "x"}, 400, "Bad Request: message to edit not found"},
		"edit no id":        {"editMessageText", fields{"text": "x"}, 400, "Bad Request: message identifier is not specified"},
		"edit theirs":       {"editMessageText", fields{"message_id": "THEIRS", "text": "x"}, 400, "Bad Request: message can't be edited"},
		"edit same":         {"editMessageText", fields{"message_id": "MINE", "text": " mine "}, 400, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"},
		"edit file's text":  {"editMessageText", fields{"message_id": "FILE", "text": "x"}, 400, "Bad Request: there is no text in the message to edit"},
		"edit text's file":  {"editMessageCaption", fields{"message_id": "MINE", "caption": "x"}, 400, "Bad Request: there is no caption in the message to edit"},
		"edit long caption": {"editMessageCaption", fields{"message_id": "FILE", "caption": strings.Repeat("x", 1025)}, 400, "Bad Request: message caption is too long"},
		"edit long text":    {"editMessageText", fields{"message_id": "MINE", "text": strings.Repeat("x", 4097)}, 400, "Bad Request: message is too long"},
		"edit bad html":     {"editMessageText", fields{"message_id": "MINE", "text": "<b>", "parse_mode": "HTML"}, 400, `Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"`},
		"edit keyboard":     {"editMessageReplyMarkup", fields{"message_id": "MINE", "reply_markup": fields{"remove_keyboard": true}}, 400, "Bad Request: inline keyboard expected"},
		"delete nothing":    {"deleteMessage", fields{"message_id": 99999}, 400, "Bad Request: message to delete not found"},
		"action":            {"sendChatAction", fields{"action": "dancing"}, 400, "Bad Request: wrong parameter action in request"},
		"answer nothing":    {"answerCallbackQuery", fields{"callback_query_id": "77"}, 400, "Bad Request: query is too old and response timeout expired or query ID is invalid"},

		"no photo":         {"sendPhoto", fields{}, 400, "Bad Request: there is no photo in the request"},
		"photo unknown":    {"sendPhoto", fields{"photo": "AgACAgIAAxkNone"}, 400, "Bad Request: wrong file identifier/HTTP URL specified"},
		"photo elsewhere":  {"sendDocument", fields{"document": "attach://other"}, 400, "Bad Request: there is no document in the request"},
		"no file":          {"getFile", fields{}, 400, "Bad Request: file_id not specified"},
		"file unknown":     {"getFile", fields{"file_id": "x"}, 400, "Bad Request: invalid file_id"},
		"no album":         {"sendMediaGroup", fields{"media": []any{}}, 400, "Bad Request: there are no messages to send"},
		"large album":      {"sendMediaGroup", fields{"media": make([]fields, 11)}, 400, "Bad Request: too many messages to send as an album"},
		"location outside": {"sendLocation", fields{"latitude": 91, "longitude": 0}, 400, "Bad Request: wrong latitude or longitude specified"},
		"contact no phone": {"sendContact", fields{"first_name": "A"}, 400, "Bad Request: phone number is empty"},
		"command":          {"setMyCommands", fields{"commands": []fields{{"command": "Bad!", "description": "x"}}}, 400, "Bad Request: BOT_COMMAND_INVALID"},
		"command in words": {"setMyCommands", fields{"commands": []fields{{"command": "a", "description": ""}}}, 400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID"},
		"language":         {"setMyDescription", fields{"description": "x", "language_code": "russian"}, 400, "Bad Request: invalid language code specified"},
		"long description": {"setMyShortDescription", fields{"short_description": strings.Repeat("x", 121)}, 400, "Bad Request: text is too long"},
		"plain webhook":    {"setWebhook", fields{"url": "http://bot.example/"}, 400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook"},
		"webhook port":     {"setWebhook", fields{"url": "https://bot.example:8080/"}, 400, "Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443"},
		"webhook nowhere":  {"setWebhook", fields{"url": "bot"}, 400, "Bad Request: bad webhook: invalid webhook URL specified"},
		"webhook secret":   {"setWebhook", fields{"url": "https://bot.example/", "secret_token": "a b"}, 400, "Bad Request: secret token contains unallowed characters"},
		"long secret":      {"setWebhook", fields{"url": "https://bot.example/", "secret_token": strings.Repeat("a", 257)}, 400, "Bad Request: secret token is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := b.started()
			b.Customer(telegram.User{ID: 1 << 50})
			ids := map[any]int64{"THEIRS": c.Write("theirs"), "MINE": b.send(c, "mine", nil).ID}
			var file sent
			b.decode("sendDocument", b.upload("sendDocument", "document", "a.txt", []byte("x"), map[string]string{"chat_id": id(c)}), &file)
			ids["FILE"] = file.ID
			before := b.Chat(c.Chat())
			params := fields{"chat_id": c.Chat()}
			for key, value := range tt.params {
				params[key] = value
			}
			if own := ids[params["message_id"]]; own != 0 {
				params["message_id"] = own
			}
			got := b.call(tt.method, params)
			if got.Code != tt.code || got.Description != tt.want {
				t.Errorf("got %d %q, want %d %q", got.Code, got.Description, tt.code, tt.want)
			}
			if diff := cmp.Diff(before, b.Chat(c.Chat())); diff != "" {
				t.Errorf("a refused call changed the chat:\n%s", diff)
			}
			calls := b.calls.Since(0)
			if last := calls[len(calls)-1]; last.Effect || last.Status != tt.code {
				t.Errorf("the log says status %d, effect %v", last.Status, last.Effect)
			}
		})
	}
}

// What is just within the limits has to pass.
func TestAccepted(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]fields{
		"long text":     {"text": strings.Repeat("x", 4096)},
		"long in units": {"text": strings.Repeat("😀", 2048)},
		"markup around": {"text": "<b>" + strings.Repeat("x", 4096) + "</b>", "parse_mode": "HTML"},
		"long data":     {"text": "x", "reply_markup": keyboard(`[[{"text":"a","callback_data":"` + strings.Repeat("я", 32) + `"}]]`)},
		"link button":   {"text": "x", "reply_markup": keyboard(`[[{"text":"a","url":"https://a.example/x"}]]`)},
		"ip button":     {"text": "x", "reply_markup": keyboard(`[[{"text":"a","url":"http://127.0.0.1:8080/console"}]]`)},
		"old reply":     {"text": "x", "reply_to_message_id": 99999, "allow_sending_without_reply": true},
		"nulls":         {"text": "x", "entities": nil, "reply_markup": nil},
		"preview":       {"text": "x", "link_preview_options": fields{"is_disabled": true}},
		"string id":     {"text": "x", "chat_id": "SAME"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := b.started()
			if params["chat_id"] == "SAME" {
				params["chat_id"] = id(c)
			}
			m := b.send(c, params["text"].(string), params)
			seen := b.Chat(c.Chat())
			if len(seen) != 1 || seen[0].ID != m.ID || !seen[0].Out || seen[0].Text != m.Text {
				t.Errorf("got %+v", seen)
			}
		})
	}
}
