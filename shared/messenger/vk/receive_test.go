package vk_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/vk"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// offline is an adapter whose API nobody answers.
func offline(tb testing.TB) *vk.Bot {
	tb.Helper()
	bot, err := vk.New(vk.Config{
		Token: env.NewSecret(token), GroupID: fmt.Sprint(group), Secrets: []env.Secret{env.NewSecret(secrets[0]), env.NewSecret(secrets[1])},
		Confirmation: confirmation, APIURL: "http://127.0.0.1:1", Now: func() time.Time { return noon },
	})
	if err != nil {
		tb.Fatal(err)
	}
	return bot
}

// posted is an event of VK's with the right secret.
func posted(kind, object string) string {
	return fmt.Sprintf(`{"type":%q,"event_id":"e1","group_id":%d,"v":"5.199","secret":%q,"object":%s}`, kind, group, secrets[1], object)
}

func receive(b *vk.Bot, body string) ([]messenger.Event, messenger.Reply, error) {
	return b.Receive(httptest.NewRequest(http.MethodPost, "/vk", strings.NewReader(body)))
}

func TestReceive_Replies(t *testing.T) {
	t.Parallel()
	text := func(status int, body string) messenger.Reply {
		return messenger.Reply{Status: status, ContentType: "text/plain", Body: body}
	}
	envelope := func(kind, secret string, group int64) string {
		return fmt.Sprintf(`{"type":%q,"event_id":"e1","group_id":%d,"secret":%q,"object":{}}`, kind, group, secret)
	}
	for name, tt := range map[string]struct {
		body string
		want messenger.Reply
		err  error
	}{
		"confirmation":                {envelope("confirmation", secrets[0], group), text(200, confirmation), nil},
		"confirmation, second secret": {envelope("confirmation", secrets[1], group), text(200, confirmation), nil},
		"confirmation, no secret":     {fmt.Sprintf(`{"type":"confirmation","group_id":%d}`, group), text(403, "forbidden"), messenger.ErrForbidden},
		"wrong secret":                {envelope("message_new", "guessed", group), text(403, "forbidden"), messenger.ErrForbidden},
		"empty secret":                {envelope("message_new", "", group), text(403, "forbidden"), messenger.ErrForbidden},
		"another community":           {envelope("message_new", secrets[0], 5), text(403, "forbidden"), messenger.ErrForbidden},
		"unknown type":                {envelope("like_add", secrets[0], group), text(200, "ok"), nil},
		"typing":                      {posted("message_typing_state", `{"from_id":1,"to_id":2,"state":"1"}`), text(200, "ok"), nil},
		"not JSON":                    {`{"type"`, text(200, "ok"), messenger.ErrMalformed},
		"empty":                       {``, text(200, "ok"), messenger.ErrMalformed},
		"object of another form":      {posted("message_new", `[1]`), text(200, "ok"), messenger.ErrMalformed},
		"message without a sender":    {posted("message_new", `{"message":{"text":"x"}}`), text(200, "ok"), messenger.ErrMalformed},
		"press without a user":        {posted("message_event", `{"peer_id":1}`), text(200, "ok"), messenger.ErrMalformed},
		"press in a group chat":       {posted("message_event", `{"user_id":5,"peer_id":2000000003,"event_id":"p","payload":{"data":"m:menu"}}`), text(200, "ok"), nil},
		"press of no event":           {strings.Replace(posted("message_event", `{"user_id":5,"peer_id":5,"event_id":"p","payload":{}}`), `"event_id":"e1",`, ``, 1), text(200, "ok"), messenger.ErrMalformed},
		"to another community":        {posted("message_new", `{"message":{"peer_id":-5,"from_id":5,"conversation_message_id":7,"text":"x"}}`), text(200, "ok"), nil},
		"too large":                   {posted("message_new", `"`+strings.Repeat("x", 1<<20)+`"`), text(413, "too large"), messenger.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, reply, err := receive(offline(t), tt.body)
			if len(events) != 0 {
				t.Errorf("got %d events, want none", len(events))
			}
			if diff := cmp.Diff(tt.want, reply); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
			if !errors.Is(err, tt.err) {
				t.Errorf("got error %v, want %v", err, tt.err)
			}
		})
	}
}

func TestReceive_OnlyPost(t *testing.T) {
	t.Parallel()
	_, reply, err := offline(t).Receive(httptest.NewRequest(http.MethodGet, "/vk", nil))
	if reply.Status != http.StatusMethodNotAllowed || !errors.Is(err, messenger.ErrMalformed) {
		t.Errorf("got %d, %v, want 405 and ErrMalformed", reply.Status, err)
	}
}

func TestReceive_Events(t *testing.T) {
	t.Parallel()
	const user = int64(1<<40 + 5)
	// said is a message with more fields; new wraps it as message_new does.
	said := func(more string) string {
		return fmt.Sprintf(`{"id":9,"date":1772625600,"peer_id":%d,"from_id":%[1]d,"out":0,"version":9,"conversation_message_id":7%s}`, user, more)
	}
	fresh := func(more, client string) string {
		return posted("message_new", fmt.Sprintf(`{"message":%s,"client_info":%s}`, said(more), client))
	}
	const modern = `{"button_actions":["text","callback"],"keyboard":true,"inline_keyboard":true,"lang_id":0}`
	event := func(change func(*messenger.Event)) []messenger.Event {
		e := messenger.Event{
			Key: fmt.Sprintf("vk:%d:%d:7", group, user), Kind: messenger.EventMessage,
			Address: messenger.Address{Messenger: messenger.VK, Bot: fmt.Sprint(group), Chat: fmt.Sprint(user)},
			User:    messenger.User{ID: fmt.Sprint(user), Locale: "ru"}, Time: noon, Sequence: 7, MessageID: "7",
		}
		change(&e)
		return []messenger.Event{e}
	}
	// other is an event that is no message.
	other := func(kind messenger.Kind, change func(*messenger.Event)) []messenger.Event {
		return event(func(e *messenger.Event) {
			e.Key, e.Kind, e.Sequence, e.MessageID, e.User.Locale = fmt.Sprintf("vk:%d:e1", group), kind, 0, "", ""
			change(e)
		})
	}
	for name, tt := range map[string]struct {
		body string
		want []messenger.Event
	}{
		"text": {fresh(`,"text":"<&_*[ 😀"`, modern), event(func(e *messenger.Event) { e.Text = "<&_*[ 😀" })},
		"English": {
			fresh(`,"text":"x"`, strings.Replace(modern, `"lang_id":0`, `"lang_id":3`, 1)),
			event(func(e *messenger.Event) { e.Text, e.User.Locale = "x", "en" }),
		},
		"old client": {
			fresh(`,"text":"x"`, `{"button_actions":["text"],"inline_keyboard":true,"lang_id":0}`),
			event(func(e *messenger.Event) { e.Text, e.NoCallback = "x", true }),
		},
		"before 5.103": {
			posted("message_new", said(`,"text":"x"`)),
			event(func(e *messenger.Event) { e.Text, e.User.Locale = "x", "" }),
		},
		"command": {
			fresh(`,"text":"/Cancel@support  it all"`, modern),
			event(func(e *messenger.Event) {
				e.Text, e.Command, e.Argument = "/Cancel@support  it all", "cancel", "it all"
			}),
		},
		"a path is no command": {fresh(`,"text":"/usr/bin"`, modern), event(func(e *messenger.Event) { e.Text = "/usr/bin" })},
		"start button": {
			fresh(`,"text":"Начать","payload":"{\"command\":\"start\"}"`, modern),
			event(func(e *messenger.Event) { e.Text, e.Command = "Начать", "start" }),
		},
		"link with a ref": {
			fresh(`,"text":"Начать!","ref":"promo_1","ref_source":"x"`, modern),
			event(func(e *messenger.Event) { e.Text, e.Command, e.Argument = "Начать!", "start", "promo_1" }),
		},
		"link with a ref and a question": {
			fresh(`,"text":"It broke","ref":"promo_1"`, modern),
			event(func(e *messenger.Event) { e.Text, e.Argument = "It broke", "promo_1" }),
		},
		"link with a ref and a command": {
			fresh(`,"text":"/help me","ref":"promo_1"`, modern),
			event(func(e *messenger.Event) { e.Text, e.Command, e.Argument = "/help me", "help", "me" }),
		},
		"payload of somebody else": {
			fresh(`,"text":"x","payload":"{\"button\":1}"`, modern),
			event(func(e *messenger.Event) { e.Text = "x" }),
		},
		"text button": {
			fresh(`,"text":"Yes","payload":"{\"data\":\"yes:1\"}"`, modern),
			event(func(e *messenger.Event) {
				e.Kind, e.Press = messenger.EventPress, &messenger.Press{Chat: fmt.Sprint(user), User: fmt.Sprint(user), Data: "yes:1"}
			}),
		},
		"callback button": {
			posted("message_event", fmt.Sprintf(`{"user_id":%d,"peer_id":%[1]d,"event_id":"p1","payload":{"data":"yes:1"},"conversation_message_id":6}`, user)),
			other(messenger.EventPress, func(e *messenger.Event) {
				e.Press = &messenger.Press{ID: "p1", Chat: fmt.Sprint(user), User: fmt.Sprint(user), Data: "yes:1", MessageID: "6"}
			}),
		},
		"callback button, payload as text": {
			posted("message_event", fmt.Sprintf(`{"user_id":%d,"peer_id":%[1]d,"event_id":"p1","payload":"{\"data\":\"yes:1\"}"}`, user)),
			other(messenger.EventPress, func(e *messenger.Event) {
				e.Press = &messenger.Press{ID: "p1", Chat: fmt.Sprint(user), User: fmt.Sprint(user), Data: "yes:1"}
			}),
		},
		"edit": {
			posted("message_edit", said(`,"text":"y","update_time":1772625660`)),
			event(func(e *messenger.Event) {
				e.Kind, e.Text, e.User.Locale, e.Key = messenger.EventEdit, "y", "", e.Key+":1772625660:9"
				e.Time = noon.Add(time.Minute)
			}),
		},
		"allow":     {posted("message_allow", fmt.Sprintf(`{"user_id":%d,"key":""}`, user)), other(messenger.EventUnblocked, func(*messenger.Event) {})},
		"deny":      {posted("message_deny", fmt.Sprintf(`{"user_id":%d}`, user)), other(messenger.EventBlocked, func(*messenger.Event) {})},
		"blacklist": {posted("user_block", fmt.Sprintf(`{"user_id":%d,"admin_id":1}`, user)), other(messenger.EventBlocked, func(*messenger.Event) {})},
		"location": {
			fresh(`,"text":"","geo":{"type":"point","coordinates":{"latitude":55.75,"longitude":37.6},"place":{"title":"Москва"}}`, modern),
			event(func(e *messenger.Event) {
				e.Location = &messenger.Location{Latitude: 55.75, Longitude: 37.6, Title: "Москва"}
			}),
		},
		"an attachment of an unknown form costs only itself": {
			fresh(`,"text":"x","attachments":[7,{"type":"hologram","hologram":{}},{"type":"link","link":{"url":"https://a.b","title":"T"}}]`, modern),
			event(func(e *messenger.Event) {
				e.Text, e.Notes, e.Unsupported = "x", []string{"link: T https://a.b"}, []string{"attachment", "hologram"}
			}),
		},
		"fields of another type cost only themselves": {
			fresh(`,"text":"x","out":false,"version":"9","is_cropped":0,"ref":5,"geo":[],"reply_message":[],"action":[],"payload":[],
				"fwd_messages":[[],{"from_id":6,"date":"x","text":"y","geo":[],"attachments":{}}],
				"attachments":[{"type":"photo","photo":{"id":"x","sizes":[{"url":"https://a/b","width":1,"height":2}]}},{"type":"wall","wall":[]}]`, `[]`),
			event(func(e *messenger.Event) {
				e.Text, e.User.Locale, e.NoCallback, e.Unsupported = "x", "", true, []string{"wall"}
				e.Attachments = []messenger.Attachment{{Kind: messenger.Photo, Ref: "https://a/b", Name: "photo0.jpg", MIME: "image/jpeg"}}
				e.Quotes = []messenger.Quote{{Kind: "forward", Author: "vk.com/id6", Text: "y"}}
			}),
		},
		"files and forwards that are no list": {
			fresh(`,"text":"x","attachments":{},"fwd_messages":{}`, modern), event(func(e *messenger.Event) { e.Text = "x" }),
		},
		"a place that cannot be read": {
			fresh(`,"text":"x","geo":{"type":"point","coordinates":"55.75 37.6"}`, modern),
			event(func(e *messenger.Event) { e.Text, e.Unsupported = "x", []string{"location"} }),
		},
		"a number is enough to tell messages apart": {
			strings.Replace(fresh(`,"text":"x"`, modern), `"event_id":"e1"`, `"event_id":5`, 1), event(func(e *messenger.Event) { e.Text = "x" }),
		},
		"cropped and out of reach": {
			fresh(`,"text":"x","is_cropped":true`, modern),
			event(func(e *messenger.Event) { e.Text, e.Unsupported = "x", []string{"part of the message"} }),
		},
		"own message":            {posted("message_reply", said(`,"text":"x"`)), nil},
		"own edit":               {posted("message_edit", strings.Replace(said(`,"text":"x"`), `"out":0`, `"out":1`, 1)), nil},
		"of another community":   {posted("message_new", strings.Replace(said(`,"text":"x"`), fmt.Sprintf(`"from_id":%d`, user), `"from_id":-5`, 1)), nil},
		"somebody joined a chat": {fresh(`,"text":"","action":{"type":"chat_invite_user"}`, modern), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, reply, err := receive(offline(t), tt.body)
			if err != nil || reply.Body != "ok" {
				t.Errorf("got %+v, %v, want ok", reply, err)
			}
			if diff := cmp.Diff(tt.want, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReceive_Groups(t *testing.T) {
	t.Parallel()
	said := func(more string) string {
		return posted("message_new", fmt.Sprintf(`{"message":{"id":0,"date":1,"peer_id":2000000003,"from_id":5,"out":0,"conversation_message_id":7%s}}`, more))
	}
	for name, tt := range map[string]struct {
		more string
		want int
	}{
		"not addressed": {`,"text":"hello all"`, 0},
		"mentioned":     {fmt.Sprintf(`,"text":"[club%d|@support] hello"`, group), 1},
		"of another":    {fmt.Sprintf(`,"text":"[club%d1|@support] hello"`, group), 0},
		"answered":      {fmt.Sprintf(`,"text":"hello","reply_message":{"from_id":-%d,"text":"x"}`, group), 1},
		"pressed":       {`,"text":"hello","payload":"{\"data\":\"x\"}"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, _, err := receive(offline(t), said(tt.more))
			if err != nil || len(events) != tt.want {
				t.Fatalf("got %d events, %v, want %d", len(events), err, tt.want)
			}
			for _, e := range events {
				if e.Kind != messenger.EventGroup || e.Address.Chat != "2000000003" || e.User.ID != "5" || e.Text != "" {
					t.Errorf("got %+v, want an event of the group without what was said", e)
				}
			}
		})
	}
}

func FuzzReceive(f *testing.F) {
	bot := offline(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		events, reply, err := receive(bot, string(body))
		if reply.Status == 0 || reply.ContentType == "" {
			t.Errorf("got no reply for %q", body)
		}
		if err != nil && len(events) > 0 {
			t.Errorf("got an error and events for %q", body)
		}
		for _, e := range events {
			if e.Key == "" || e.Kind == "" || e.Address.Chat == "" || e.User.ID == "" || e.Time.IsZero() {
				t.Errorf("got a half event %+v for %q", e, body)
			}
			for _, a := range e.Attachments {
				if a.Ref == "" || a.Name == "" || a.Kind == "" {
					t.Errorf("got a half attachment %+v for %q", a, body)
				}
			}
		}
	})
}

// A message that VK has cut is asked for; whose it is stays what the event said, so
// that a repetition has the same key whether VK answers or not.
func TestReceive_Uncropped(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"response":{"count":1,"items":[{"date":1,"peer_id":6,"from_id":6,"conversation_message_id":8,"version":1,
			"out":false,"text":"whole","fwd_messages":[{"from_id":6,"text":"inner"}]}]}}`))
	}))
	t.Cleanup(server.Close)
	online, err := vk.New(vk.Config{
		Token: env.NewSecret(token), GroupID: fmt.Sprint(group), Secrets: []env.Secret{env.NewSecret(secrets[1])},
		Confirmation: confirmation, APIURL: server.URL, Now: func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	body := posted("message_edit", `{"date":1772625600,"update_time":1772625660,"peer_id":5,"from_id":5,"version":9,"conversation_message_id":7,"text":"part","is_cropped":true}`)
	whole, _, err := receive(online, body)
	if err != nil {
		t.Fatal(err)
	}
	part, _, err := receive(offline(t), body)
	if err != nil {
		t.Fatal(err)
	}
	if got := whole[0]; got.Text != "whole" || len(got.Quotes) != 1 || got.Quotes[0].Text != "inner" || got.Unsupported != nil {
		t.Errorf("got %+v, want the whole message", got.Content)
	}
	whole[0].Content, part[0].Content = messenger.Content{}, messenger.Content{}
	if diff := cmp.Diff(part, whole); diff != "" {
		t.Errorf("the event is another one when VK answers (-part +whole):\n%s", diff)
	}
}
