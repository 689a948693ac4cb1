package sandbox_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"supportbot/shared/sandbox/vk"
)

var messengers = []string{"telegram", "vk"}

func TestPeople_HaveLargeIDs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, messenger := range messengers {
		b.must("POST", "chats/"+messenger, map[string]string{"first_name": " Аня ", "username": "@anya", "language": "en"})
		ids := b.people(messenger)
		if len(ids) != 3 {
			t.Fatalf("%s: got %d people, want two and the new one", messenger, len(ids))
		}
		for _, id := range ids {
			if n, err := strconv.ParseInt(id, 10, 64); err != nil || n <= 1<<40 {
				t.Errorf("%s: got id %s, want one above 2^40", messenger, id)
			}
		}
		if got := b.chat(messenger, ids[2]).Head.Person.Name; got != "Аня" {
			t.Errorf("%s: got name %q", messenger, got)
		}
	}
}

func TestSend_EveryKind(t *testing.T) {
	t.Parallel()
	const ogg = "OggS\x00\x02"
	for name, c := range map[string]struct {
		form func() *form
		as   map[string]string // messenger: "what:name|..." of all messages, " " between messages
	}{
		"text": {func() *form { return newForm("text", "Привет <b>") }, map[string]string{"telegram": "Привет <b>", "vk": "Привет <b>"}},
		"photo": {
			func() *form { return newForm("text", "вот").file("a.png", "image/png", "\x89PNG\r\n\x1a\n") },
			map[string]string{"telegram": "вот photo:", "vk": "вот photo:photo.jpg"},
		},
		"photo as a file": {
			func() *form { return newForm("as", "document").file("a.png", "image/png", "\x89PNG\r\n\x1a\n") },
			map[string]string{"telegram": "document:a.png", "vk": "doc:a.png"},
		},
		"voice": {
			func() *form { return newForm("as", "voice").file("v.ogg", "audio/ogg", ogg) },
			map[string]string{"telegram": "voice:", "vk": "audio_message:voice.ogg"},
		},
		"album": {
			func() *form {
				return newForm("text", "две").file("1.txt", "text/plain", "1").file("2.txt", "text/plain", "2")
			},
			map[string]string{"telegram": "две document:1.txt album; document:2.txt album", "vk": "две doc:1.txt doc:2.txt"},
		},
		"location": {
			func() *form { return newForm("location", `{"latitude":55.7,"longitude":37.6}`) },
			map[string]string{"telegram": "place", "vk": "place"},
		},
	} {
		for _, messenger := range messengers {
			t.Run(name+" in "+messenger, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := b.people(messenger)[0]
				b.must("POST", "chats/"+messenger+"/"+id+"/messages", c.form())
				if got, want := describe(b.chat(messenger, id).Put), c.as[messenger]; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		}
	}
}

func describe(messages []message) string {
	var all []string
	for _, m := range messages {
		var parts []string
		if m.Plain != "" {
			parts = append(parts, m.Plain)
		}
		for _, f := range m.Files {
			parts = append(parts, f.What+":"+f.Name)
		}
		if m.Location != nil {
			parts = append(parts, "place")
		}
		if m.Album != "" {
			parts = append(parts, "album")
		}
		all = append(all, strings.Join(parts, " "))
	}
	return strings.Join(all, "; ")
}

func TestSend_Refused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.people("vk")[0]
	path := "chats/vk/" + id + "/messages"
	many := newForm()
	for n := range 11 {
		many.file(fmt.Sprint(n), "text/plain", "x")
	}
	for name, c := range map[string]struct {
		method, path string
		body         any
		want         int
	}{
		"nothing":             {"POST", path, newForm("text", " \n "), http.StatusBadRequest},
		"no form":             {"POST", path, map[string]string{"text": "x"}, http.StatusBadRequest},
		"eleven files":        {"POST", path, many, http.StatusBadRequest},
		"unknown kind":        {"POST", path, newForm("text", "x", "as", "video_note"), http.StatusBadRequest},
		"bad reply":           {"POST", path, newForm("text", "x", "reply_to", "one"), http.StatusBadRequest},
		"bad place":           {"POST", path, newForm("location", "["), http.StatusBadRequest},
		"contact in VK":       {"POST", path, newForm("contact", `{"name":"a","phone":"+7"}`), http.StatusBadRequest},
		"unknown customer":    {"POST", "chats/vk/1/messages", newForm("text", "x"), http.StatusNotFound},
		"unknown messenger":   {"POST", "chats/max/1/messages", newForm("text", "x"), http.StatusNotFound},
		"chat is a word":      {"POST", "chats/vk/one/messages", newForm("text", "x"), http.StatusNotFound},
		"edit of another's":   {"PATCH", path + "/7", map[string]string{"text": "x"}, http.StatusNotFound},
		"edit to nothing":     {"PATCH", path + "/7", map[string]string{"text": ""}, http.StatusBadRequest},
		"nobody":              {"POST", "chats/vk", map[string]string{"first_name": " "}, http.StatusBadRequest},
		"unknown field":       {"POST", "chats/vk", map[string]string{"name": "x"}, http.StatusBadRequest},
		"two objects":         {"POST", "chats/vk", `{"first_name":"a"}{}`, http.StatusBadRequest},
		"large JSON":          {"POST", "chats/vk", `{"first_name":"` + strings.Repeat("x", 2<<20) + `"}`, http.StatusRequestEntityTooLarge},
		"payload with spaces": {"POST", "chats/vk/" + id + "/start", map[string]string{"payload": "a b"}, http.StatusBadRequest},
		"unknown button":      {"POST", "chats/vk/" + id + "/press", map[string]any{"message": "1", "row": -1}, http.StatusNotFound},
		"unknown path":        {"POST", "chats", nil, http.StatusNotFound},
	} {
		r := b.do(c.method, c.path, c.body)
		var p struct {
			Error struct{ Code, Message string }
		}
		r.into(t, &p)
		if r.status != c.want || p.Error.Code == "" || p.Error.Message == "" {
			t.Errorf("%s: got %d %s, want %d with a code and a message", name, r.status, r.body, c.want)
		}
	}
	if n := len(b.chat("vk", id).Put); n != 0 {
		t.Errorf("got %d messages, want none", n)
	}
}

func TestEdit_KeepsFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, messenger := range messengers {
		id := b.people(messenger)[0]
		path := "chats/" + messenger + "/" + id + "/messages"
		var sent struct{ IDs []string }
		b.must("POST", path, newForm("text", "до").file("a.txt", "text/plain", "bytes")).into(t, &sent)
		b.must("PATCH", path+"/"+sent.IDs[0], map[string]string{"text": "после"})
		got := b.chat(messenger, id).Put[0]
		if got.Plain != "после" || !got.Edited || len(got.Files) != 1 || got.Files[0].Name != "a.txt" {
			t.Errorf("%s: got %+v, want the new text and the file", messenger, got)
		}
		b.must("DELETE", path+"/"+sent.IDs[0], nil)
		if n := len(b.chat(messenger, id).Put); n != 0 {
			t.Errorf("%s: got %d messages after the deletion", messenger, n)
		}
	}
}

func TestBlock_AndBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, messenger := range messengers {
		id := b.people(messenger)[0]
		path := "chats/" + messenger + "/" + id
		states := []string{b.chat(messenger, id).Head.Person.State}
		b.must("POST", path+"/start", map[string]string{"payload": "promo"})
		states = append(states, b.chat(messenger, id).Head.Person.State)
		for _, on := range []bool{true, false} {
			b.must("POST", path+"/block", map[string]bool{"on": on})
			states = append(states, b.chat(messenger, id).Head.Person.State)
		}
		if got, want := strings.Join(states, " "), "new open blocked open"; got != want {
			t.Errorf("%s: got %s, want %s", messenger, got, want)
		}
	}
}

func TestPress_WaitsForTheBot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.people("telegram")[0]
	path := "chats/telegram/" + id
	b.must("POST", path+"/start", map[string]string{})
	b.telegram("sendMessage", map[string]any{"chat_id": id, "text": "?", "reply_markup": map[string]any{
		"inline_keyboard": [][]any{{map[string]string{"text": "A", "callback_data": "a"}, map[string]string{"text": "B", "callback_data": "b"}}},
	}})
	question := b.chat("telegram", id).Put[1]

	answered := make(chan reply, 1)
	go func() {
		answered <- b.do("POST", path+"/press", map[string]any{"message": question.ID, "row": 0, "column": 1})
	}()
	var query map[string]any
	offset := 0.0
	for query == nil {
		for _, u := range b.telegram("getUpdates", map[string]any{"timeout": 5, "offset": offset})["result"].([]any) {
			update := u.(map[string]any)
			offset = update["update_id"].(float64) + 1
			query, _ = update["callback_query"].(map[string]any)
		}
	}
	if query["data"] != "b" {
		t.Errorf("got %v pressed, want b", query["data"])
	}
	b.telegram("answerCallbackQuery", map[string]any{"callback_query_id": query["id"], "text": "Готово", "show_alert": true})
	r := <-answered
	if got, want := strings.TrimSpace(string(r.body)), `{"answer":{"text":"Готово","alert":true}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPress_TextButtonsOfVK(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.people("vk")[0]
	b.must("POST", "chats/vk/"+id+"/start", map[string]string{})
	peer, _ := strconv.ParseInt(id, 10, 64)
	b.vkSend(peer, "меню", `{"buttons":[[{"action":{"type":"text","label":"Помощь","payload":"{}"}}]]}`)
	b.vkSend(peer, "выбор", `{"inline":true,"buttons":[[{"action":{"type":"text","label":"Да"}},{"action":{"type":"open_link","label":"Сайт","link":"javascript:alert(1)"}}]]}`)

	got := b.chat("vk", id).Put
	if want := `[[{"label":"Да","kind":"text"},{"label":"Сайт","kind":"link"}]]`; string(got[2].Buttons) != want {
		t.Errorf("got buttons %s, want %s: no link that runs", got[2].Buttons, want)
	}
	b.must("POST", "chats/vk/"+id+"/press", map[string]any{"message": got[2].ID})
	b.must("POST", "chats/vk/"+id+"/press", map[string]any{"message": ""})
	if got, want := describe(b.chat("vk", id).Put[3:]), "Да; Помощь"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// vkSend sends a message as the community.
func (b *bundle) vkSend(peer int64, text, keyboard string) {
	b.t.Helper()
	query := strings.NewReader(fmt.Sprintf("access_token=%s&v=%s&peer_id=%d&random_id=%d&message=%s&keyboard=%s",
		b.VKToken, vk.Version, peer, len(text), text, strings.ReplaceAll(keyboard, "&", "%26")))
	r, err := http.NewRequestWithContext(b.ctx, http.MethodPost, b.VKURL+"/method/messages.send", query)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if got := b.send(r); strings.Contains(string(got.body), `"error"`) {
		b.t.Fatalf("messages.send: %s", got.body)
	}
}
