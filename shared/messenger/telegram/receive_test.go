package telegram_test

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
	"supportbot/shared/messenger/telegram"
)

const user = int64(1<<40 + 5)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// offline is an adapter whose API nobody answers.
func offline(tb testing.TB) *telegram.Bot {
	tb.Helper()
	bot, err := telegram.New(telegram.Config{
		Token: env.NewSecret(token), Secrets: []env.Secret{env.NewSecret(secrets[0])}, Username: username,
		APIURL: "http://127.0.0.1:1", Now: func() time.Time { return noon },
	})
	if err != nil {
		tb.Fatal(err)
	}
	return bot
}

func receive(b *telegram.Bot, body string) ([]messenger.Event, messenger.Reply, error) {
	r := httptest.NewRequest(http.MethodPost, "/telegram", strings.NewReader(body))
	r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secrets[0])
	return b.Receive(r)
}

// said is an update with a customer's message that has more fields.
func said(more string) string { return updated("message", more) }

func updated(kind, more string) string {
	return fmt.Sprintf(`{"update_id":77,%q:{"message_id":9,"date":1772625600,"chat":{"id":%d,"type":"private","first_name":"Анна"},
		"from":{"id":%[2]d,"is_bot":false,"first_name":"Анна","last_name":"Ёж","username":"anna","language_code":"ru"}%s}}`, kind, user, more)
}

func event(change func(*messenger.Event)) []messenger.Event {
	e := messenger.Event{
		Key: "telegram:" + botID + ":77", Kind: messenger.EventMessage,
		Address: messenger.Address{Messenger: messenger.Telegram, Bot: botID, Chat: decimal(user)},
		User:    messenger.User{ID: decimal(user), Name: "Анна Ёж", Username: "anna", Locale: "ru"},
		Time:    noon, Sequence: 9, MessageID: "9",
	}
	change(&e)
	return []messenger.Event{e}
}

// files is an event with nothing but files.
func files(list ...messenger.Attachment) []messenger.Event {
	return event(func(e *messenger.Event) { e.Attachments = list })
}

func quotes(list ...messenger.Quote) []messenger.Event {
	return event(func(e *messenger.Event) { e.Quotes = list })
}

func TestReceive_Messages(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		more string
		want []messenger.Event
	}{
		"text": {`,"text":"<&_*[ 😀"`, event(func(e *messenger.Event) { e.Text = "<&_*[ 😀" })},
		"command": {`,"text":"/Start@Canary_Support_Bot  a b "`, event(func(e *messenger.Event) {
			e.Text, e.Command, e.Argument = "/Start@Canary_Support_Bot  a b ", "start", "a b"
		})},
		"another bot's": {`,"text":"/start@other_bot"`, event(func(e *messenger.Event) { e.Text = "/start@other_bot" })},
		"part of album": {`,"media_group_id":"g1","caption":"c","photo":[{"file_id":"a","width":1,"height":1}]`, event(func(e *messenger.Event) {
			e.Album, e.Text, e.Attachments = "g1", "c", []messenger.Attachment{photo("a", 0)}
		})},
		"photo":          {`,"photo":[{"file_id":"a","width":90,"height":60,"file_size":1},{"file_id":"b","width":900,"height":600,"file_size":2},{"file_id":"c","width":300,"height":200,"file_size":3}]`, files(photo("b", 2))},
		"document":       {`,"document":{"file_id":"a","file_name":"../Отчёт 1.pdf","mime_type":"application/pdf","file_size":3000000000}`, files(messenger.Attachment{Kind: messenger.Document, Ref: "a", Name: "Отчёт 1.pdf", MIME: "application/pdf", Size: 3_000_000_000})},
		"nameless":       {`,"document":{"file_id":"a"}`, files(messenger.Attachment{Kind: messenger.Document, Ref: "a", Name: "document_9"})},
		"voice":          {`,"voice":{"file_id":"a","duration":5,"mime_type":"audio/ogg","file_size":3}`, files(messenger.Attachment{Kind: messenger.Voice, Ref: "a", Name: "voice_9.ogg", MIME: "audio/ogg", Size: 3})},
		"audio":          {`,"audio":{"file_id":"a","performer":"P","title":"T/U","mime_type":"audio/mpeg"}`, files(messenger.Attachment{Kind: messenger.Audio, Ref: "a", Name: "P - T_U.mp3", MIME: "audio/mpeg"})},
		"video":          {`,"video":{"file_id":"a","file_name":"v.mov","mime_type":"video/quicktime","file_size":3}`, files(messenger.Attachment{Kind: messenger.Video, Ref: "a", Name: "v.mov", MIME: "video/quicktime", Size: 3})},
		"video note":     {`,"video_note":{"file_id":"a","length":240,"file_size":3}`, files(messenger.Attachment{Kind: messenger.VideoNote, Ref: "a", Name: "video_note_9.mp4", MIME: "video/mp4", Size: 3})},
		"animation":      {`,"animation":{"file_id":"a","file_name":"x.mp4","mime_type":"video/mp4"},"document":{"file_id":"a","file_name":"x.mp4"}`, files(messenger.Attachment{Kind: messenger.Animation, Ref: "a", Name: "x.mp4", MIME: "video/mp4"})},
		"sticker":        {`,"sticker":{"file_id":"a","type":"regular","emoji":"😀"}`, files(messenger.Attachment{Kind: messenger.Sticker, Ref: "a", Name: "sticker_9.webp", MIME: "image/webp"})},
		"moving sticker": {`,"sticker":{"file_id":"a","is_animated":true}`, files(messenger.Attachment{Kind: messenger.Sticker, Ref: "a", Name: "sticker_9.tgs", MIME: "application/x-tgsticker"})},
		"video sticker":  {`,"sticker":{"file_id":"a","is_video":true}`, files(messenger.Attachment{Kind: messenger.Sticker, Ref: "a", Name: "sticker_9.webm", MIME: "video/webm"})},
		"live photo":     {`,"live_photo":{"file_id":"b","mime_type":"video/mp4"},"photo":[{"file_id":"a","width":1,"height":1}]`, files(photo("a", 0), messenger.Attachment{Kind: messenger.Video, Ref: "b", Name: "video_9.mp4", MIME: "video/mp4"})},
		"location":       {`,"location":{"latitude":55.75,"longitude":-37.6}`, event(func(e *messenger.Event) { e.Location = &messenger.Location{Latitude: 55.75, Longitude: -37.6} })},
		"venue": {`,"location":{"latitude":1,"longitude":2},"venue":{"location":{"latitude":1,"longitude":2},"title":"T","address":"A"}`, event(func(e *messenger.Event) {
			e.Location = &messenger.Location{Latitude: 1, Longitude: 2, Title: "T", Address: "A"}
		})},
		"contact":   {`,"contact":{"phone_number":"+7999","first_name":"Иван","last_name":"П","user_id":3}`, event(func(e *messenger.Event) { e.Contact = &messenger.Contact{Name: "Иван П", Phone: "+7999"} })},
		"poll":      {`,"poll":{"id":"1","question":"Q?","options":[{"text":"A"},{"text":"B"}]}`, note("poll: Q? / A / B")},
		"dice":      {`,"dice":{"emoji":"🎯","value":5}`, note("dice: 5 🎯")},
		"game":      {`,"game":{"title":"G","description":"D","photo":[]}`, note("game: G")},
		"checklist": {`,"checklist":{"title":"C","tasks":[{"id":1,"text":"a","completion_date":5},{"id":2,"text":"b"}]}`, note("checklist: C / [x] a / [ ] b")},
		"story":     {`,"story":{"id":1}`, event(func(e *messenger.Event) { e.Unsupported = []string{"story"} })},
		"paid media": {`,"paid_media":{"star_count":1,"paid_media":[]},"caption":"c"`, event(func(e *messenger.Event) {
			e.Text, e.Unsupported = "c", []string{"paid_media"}
		})},
		"invoice":      {`,"invoice":{"title":"x"}`, event(func(e *messenger.Event) { e.Unsupported = []string{"invoice"} })},
		"not invented": {`,"hologram":{"file_id":"x"}`, event(func(e *messenger.Event) { e.Unsupported = []string{"hologram"} })},
		"a field of another form costs only itself": {`,"text":"x","photo":{"no":"list"},"sticker":7`, event(func(e *messenger.Event) { e.Text = "x" })},
		"joined":             {`,"new_chat_members":[{"id":1}]`, nil},
		"pinned":             {`,"pinned_message":{"message_id":1}`, nil},
		"nothing":            {``, nil},
		"forward":            {`,"text":"/start","forward_origin":{"type":"user","date":1,"sender_user":{"id":5,"first_name":"B","last_name":"C"}}`, quotes(messenger.Quote{Kind: "forward", Author: "B C", Text: "/start"})},
		"forward of hidden":  {`,"text":"t","forward_origin":{"type":"hidden_user","date":1,"sender_user_name":"H"}`, quotes(messenger.Quote{Kind: "forward", Author: "H", Text: "t"})},
		"forward of channel": {`,"caption":"t","photo":[{"file_id":"a","width":1,"height":1}],"forward_origin":{"type":"channel","date":1,"chat":{"id":-5,"title":"N"},"message_id":1,"author_signature":"S"}`, quotes(messenger.Quote{Kind: "forward", Author: "N, S", Text: "t", Attachments: []messenger.Attachment{photo("a", 0)}})},
		"forward of old":     {`,"text":"t","forward_from":{"id":5,"first_name":"B"},"forward_date":1`, quotes(messenger.Quote{Kind: "forward", Author: "B", Text: "t"})},
		"reply": {`,"text":"t","reply_to_message":{"message_id":1,"date":1,"chat":{"id":1},"from":{"id":5,"first_name":"B"},"text":"q"}`, event(func(e *messenger.Event) {
			e.Text, e.Quotes = "t", []messenger.Quote{{Kind: "reply", Author: "B", Text: "q"}}
		})},
		"reply to the bot": {`,"text":"t","reply_to_message":{"message_id":1,"date":1,"chat":{"id":1},"from":{"id":` + botID + `,"first_name":"B"},"caption":"q"}`, event(func(e *messenger.Event) { e.Text, e.Quotes = "t", []messenger.Quote{{Kind: "reply", Text: "q"}} })},
		"reply to a part": {`,"text":"t","quote":{"text":"p","position":3},"reply_to_message":{"message_id":1,"date":1,"chat":{"id":1},"from":{"id":5,"first_name":"B"},"text":"q p"}`, event(func(e *messenger.Event) {
			e.Text, e.Quotes = "t", []messenger.Quote{{Kind: "reply", Author: "B", Text: "p"}}
		})},
		"reply to a file": {`,"text":"t","reply_to_message":{"message_id":1,"date":1,"chat":{"id":1},"from":{"id":5,"first_name":"B"},"document":{"file_id":"a","file_name":"f.pdf"}}`, event(func(e *messenger.Event) {
			e.Text, e.Quotes = "t", []messenger.Quote{{Kind: "reply", Author: "B", Text: "[f.pdf]"}}
		})},
		"reply to other chat": {`,"text":"t","quote":{"text":"p","position":0},"external_reply":{"origin":{"type":"user","date":1,"sender_user":{"id":5,"first_name":"B"}},"document":{"file_id":"a","file_name":"f.pdf"}}`, event(func(e *messenger.Event) {
			e.Text = "t"
			e.Quotes = []messenger.Quote{{Kind: "reply", Author: "B", Text: "p", Attachments: []messenger.Attachment{{Kind: messenger.Document, Ref: "a", Name: "f.pdf"}}}}
		})},
		"rich message": {`,"rich_message":{"blocks":[{"type":"paragraph","text":["a ",{"type":"bold","text":"b"}]},{"type":"list","items":[{"label":"1.","blocks":[{"type":"paragraph","text":"c"}]}]}]}`, event(func(e *messenger.Event) { e.Text = "a b\n1. c" })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, reply, err := receive(offline(t), said(tt.more))
			if err != nil || reply.Status != http.StatusOK {
				t.Errorf("got %+v, %v, want 200", reply, err)
			}
			if diff := cmp.Diff(tt.want, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func photo(ref string, size int64) messenger.Attachment {
	return messenger.Attachment{Kind: messenger.Photo, Ref: ref, Name: "photo_9.jpg", MIME: "image/jpeg", Size: size}
}

func note(words string) []messenger.Event {
	return event(func(e *messenger.Event) { e.Notes = []string{words} })
}

// bare is an event that is no message.
func bare(kind messenger.Kind, change func(*messenger.Event)) []messenger.Event {
	return event(func(e *messenger.Event) {
		e.Kind, e.Sequence, e.MessageID = kind, 0, ""
		change(e)
	})
}

func TestReceive_OtherUpdates(t *testing.T) {
	t.Parallel()
	member := func(chat, status string) string {
		return updated("my_chat_member", `,"old_chat_member":{"status":"member"},"new_chat_member":{"status":"`+status+`","user":{"id":1}},"chat":{"id":`+decimal(user)+`,"type":"`+chat+`"}`)
	}
	press := func(more string) string { return updated("callback_query", `,"id":"p1","data":"yes:1"`+more) }
	pressed := func(message string) []messenger.Event {
		return bare(messenger.EventPress, func(e *messenger.Event) {
			e.Press = &messenger.Press{ID: "p1", Chat: decimal(user), User: decimal(user), Data: "yes:1", MessageID: message}
		})
	}
	below := fmt.Sprintf(`,"message":{"message_id":8,"date":%%d,"chat":{"id":%d,"type":"private"}}`, user)
	for name, tt := range map[string]struct {
		body string
		want []messenger.Event
	}{
		"edit": {updated("edited_message", `,"edit_date":1772625660,"text":"y"`), event(func(e *messenger.Event) {
			e.Kind, e.Text, e.Time = messenger.EventEdit, "y", noon.Add(time.Minute)
		})},
		"edited command is none": {updated("edited_message", `,"text":"/start"`), event(func(e *messenger.Event) { e.Kind, e.Text = messenger.EventEdit, "/start" })},
		"move of live location":  {updated("edited_message", `,"location":{"latitude":1,"longitude":2,"live_period":60}`), nil},
		"press":                  {press(fmt.Sprintf(below, 1)), pressed("8")},
		"press, old message":     {press(fmt.Sprintf(below, 0)), pressed("8")},
		"press, inline message":  {press(`,"inline_message_id":"i"`), nil},
		"press in a group":       {press(`,"message":{"message_id":8,"date":1,"chat":{"id":-5,"type":"group"}}`), nil},
		"blocked":                {member("private", "kicked"), bare(messenger.EventBlocked, func(*messenger.Event) {})},
		"unblocked":              {member("private", "member"), bare(messenger.EventUnblocked, func(*messenger.Event) {})},
		"added to a group":       {member("group", "member"), nil},
		"removed from a group":   {member("supergroup", "kicked"), nil},
		"channel post":           {updated("channel_post", `,"text":"x"`), nil},
		"business message":       {updated("business_message", `,"text":"x"`), nil},
		"reaction":               {updated("message_reaction", ``), nil},
		"not invented":           {updated("hologram", ``), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, reply, err := receive(offline(t), tt.body)
			if err != nil || reply.Status != http.StatusOK {
				t.Errorf("got %+v, %v, want 200", reply, err)
			}
			if diff := cmp.Diff(tt.want, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReceive_Groups(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		more string
		want int
	}{
		"not addressed":     {`,"text":"hello all"`, 0},
		"mentioned":         {`,"text":"hi @CANARY_support_bot","entities":[{"type":"mention","offset":3,"length":19}]`, 1},
		"another mentioned": {`,"text":"hi @canary_support_bo","entities":[{"type":"mention","offset":3,"length":18}]`, 0},
		"mentioned by name": {`,"text":"hi B","entities":[{"type":"text_mention","offset":3,"length":1,"user":{"id":` + botID + `}}]`, 1},
		"below a photo":     {`,"photo":[{"file_id":"a","width":1,"height":1}],"caption":"@canary_support_bot","caption_entities":[{"type":"mention","offset":0,"length":19}]`, 1},
		"command":           {`,"text":"/start"`, 1},
		"command for it":    {`,"text":"/start@canary_support_bot"`, 1},
		"for another":       {`,"text":"/start@other_bot"`, 0},
		"answered":          {`,"text":"x","reply_to_message":{"message_id":1,"date":1,"chat":{"id":-5},"from":{"id":` + botID + `,"is_bot":true}}`, 1},
		"another answered":  {`,"text":"x","reply_to_message":{"message_id":1,"date":1,"chat":{"id":-5},"from":{"id":5}}`, 0},
		"a bot":             {`,"text":"/start","from":{"id":5,"is_bot":true,"first_name":"B"}`, 0},
		"nobody":            {`,"text":"/start","from":null`, 0},
		"service message":   {`,"new_chat_members":[{"id":` + botID + `}]`, 0},
	} {
		for kind, want := range map[string]int{"group": tt.want, "supergroup": tt.want, "channel": 0} {
			t.Run(name+" in a "+kind, func(t *testing.T) {
				t.Parallel()
				events, _, err := receive(offline(t), said(`,"chat":{"id":-1001,"type":"`+kind+`","title":"x"}`+tt.more))
				if err != nil || len(events) != want {
					t.Fatalf("got %d events, %v, want %d", len(events), err, want)
				}
				for _, e := range events {
					if e.Kind != messenger.EventGroup || e.Address.Chat != "-1001" || e.User.ID != decimal(user) || !e.Empty() || e.Command != "" {
						t.Errorf("got %+v, want an event of the group without what was said", e)
					}
				}
			})
		}
	}
}

func TestReceive_Locales(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{"ru": "ru", "ru-RU": "ru", "RU": "ru", "be": "ru", "kk": "ru", "en": "en", "en-GB": "en", "de": "en", "": ""} {
		events, _, err := receive(offline(t), strings.Replace(said(`,"text":"x"`), `"language_code":"ru"`, `"language_code":"`+code+`"`, 1))
		if err != nil || len(events) != 1 || events[0].User.Locale != want {
			t.Errorf("%q: got %+v, %v, want locale %q", code, events, err, want)
		}
	}
}

func TestReceive_MalformedUpdates(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{`, `[]`, `"x"`, `{"message":{}}`, `{"update_id":0,"message":{}}`, `{"update_id":"x"}`, `{"update_id":1e30}`} {
		events, reply, err := receive(offline(t), body)
		if len(events) != 0 || reply.Status != http.StatusOK || !errors.Is(err, messenger.ErrMalformed) {
			t.Errorf("%s: got %d events, status %d, %v, want 200 and ErrMalformed", body, len(events), reply.Status, err)
		}
	}
}

func FuzzReceive(f *testing.F) {
	bot := offline(f)
	f.Add(said(`,"text":"a😀b","entities":[{"type":"bold","offset":1,"length":2},{"type":"pre","offset":0,"length":99}]`))
	f.Add(updated("callback_query", `,"id":"1","data":"x","message":{"chat":{"id":1,"type":"private"}}`))
	f.Add(updated("my_chat_member", `,"new_chat_member":{"status":"kicked"}`))
	f.Add(said(`,"rich_message":{"blocks":[{"items":[{"blocks":[[]],"cells":[[{}]]}]}]},"forward_origin":{},"external_reply":{}`))
	f.Fuzz(func(t *testing.T, body string) {
		events, reply, err := receive(bot, body)
		if reply.Status != http.StatusOK && reply.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("got status %d for %q", reply.Status, body)
		}
		if err != nil && len(events) > 0 {
			t.Errorf("got an error and events for %q", body)
		}
		for _, e := range events {
			if e.Key == "" || e.Kind == "" || e.Address.Chat == "" || e.User.ID == "" || e.Time.IsZero() {
				t.Errorf("got a half event %+v for %q", e, body)
			}
			if e.Kind == messenger.EventMessage && e.Empty() && len(e.Unsupported) == 0 {
				t.Errorf("got an event of nothing for %q", body)
			}
			for _, a := range e.Attachments {
				if a.Ref == "" || a.Name == "" || a.Kind == "" {
					t.Errorf("got a half attachment %+v for %q", a, body)
				}
			}
		}
	})
}
