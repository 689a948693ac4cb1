package vk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/vk"
)

// get reads JSON from an address.
func (b *bundle) get(address string, v any) {
	b.t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		b.t.Error(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		b.t.Error(err)
	}
}

func TestCustomer_EventsFollowTheSchema(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.connected()
	c := b.Customer(vk.User{ID: 1<<40 + 1, OldClient: true, English: true})
	me := c.Peer()
	c.Start("promo")
	id := c.Send(vk.Content{
		Text: "all of it", Geo: &vk.Geo{Latitude: 55.7, Longitude: 37.6, Title: "here"},
		Attachments: []vk.Attachment{
			b.Photo(me, []byte("jpg")), b.Doc(me, "a.pdf", []byte("pdf")), b.Voice(me, []byte("ogg"), "words"),
			b.Sticker([]byte("png")), b.Graffiti(me, []byte("png")), vk.Object("story", map[string]any{"id": 1}),
			vk.Object("link", map[string]any{"url": "https://a.b"}),
		},
		Forwarded: []vk.Forward{{From: 5, Text: "outer", Forwarded: []vk.Forward{{From: 6, Text: "inner"}}}},
	})
	if err := c.Edit(id, vk.Content{Text: "edited"}); err != nil {
		t.Fatal(err)
	}
	c.Deny()
	c.Allow("key")
	c.Blacklist(true)
	c.Blacklist(false)
	c.InChat(1).Write("in a chat")
	b.result("messages.send", fmt.Sprintf(`peer_id=%d&random_id=0&message=x&keyboard={"one_time":false,"inline":true,"buttons":[[{"action":{"type":"callback","label":"Go","payload":"{\"a\":1}"}}]]}`, me), new(int))
	if _, _, err := c.Press(3, "Go"); err != nil {
		t.Fatal(err)
	}
	var types []string
	for range 10 {
		types = append(types, (<-h.got).Type)
	}
	want := []string{
		"message_new", "message_new", "message_edit", "message_deny", "message_allow", "user_block", "user_unblock",
		"message_new", "message_reply", "message_event",
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	// Forwards deeper than one level are in the message, not in the event.
	var whole struct {
		Items []struct {
			Forwarded []struct {
				Forwarded []struct{ Text string } `json:"fwd_messages"`
			} `json:"fwd_messages"`
		}
	}
	b.result("messages.getById", fmt.Sprintf("peer_id=%d&cmids=%d", me, id), &whole)
	if len(whole.Items) != 1 || whole.Items[0].Forwarded[0].Forwarded[0].Text != "inner" {
		t.Errorf("got %+v, want the inner message", whole)
	}
}

func TestCustomer_PressIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := anna(b)
	b.result("messages.send", fmt.Sprintf(`peer_id=%d&random_id=0&message=x&keyboard={"inline":true,"buttons":[[{"action":{"type":"callback","label":"Go"}}]]}`, c.Peer()), new(int))
	if _, _, err := c.Press(1, "Stop"); err == nil {
		t.Error("a button that is not there was pressed")
	}
	answer := func(event string, user int64, data string) int {
		return b.call("messages.sendMessageEventAnswer", fmt.Sprintf("event_id=%s&user_id=%d&peer_id=%d&event_data=%s", event, user, c.Peer(), url.QueryEscape(data))).Error.Code
	}
	got, event, err := c.Press(1, "Go")
	if err != nil {
		t.Fatal(err)
	}
	const snackbar = `{"type":"show_snackbar","text":"done"}`
	for name, tt := range map[string]struct {
		event string
		user  int64
		data  string
	}{
		"another event": {"0", c.Peer(), snackbar}, "another user": {event, 5, snackbar},
		"no JSON": {event, c.Peer(), "x"}, "no type": {event, c.Peer(), "{}"},
		"long text": {event, c.Peer(), fmt.Sprintf(`{"type":"show_snackbar","text":"%091d"}`, 0)},
	} {
		if code := answer(tt.event, tt.user, tt.data); code != 100 {
			t.Errorf("%s: got code %d, want 100", name, code)
		}
	}
	if code := answer(event, c.Peer(), snackbar); code != 0 {
		t.Errorf("got code %d, want none", code)
	}
	if a := <-got; a.Text != "done" {
		t.Errorf("got %+v, want done", a)
	}
	if code := answer(event, c.Peer(), snackbar); code != 100 {
		t.Errorf("got code %d for a second answer, want 100", code)
	}
	_, event, err = c.Press(1, "Go")
	if err != nil {
		t.Fatal(err)
	}
	b.clock.move(2 * time.Minute)
	if code := answer(event, c.Peer(), snackbar); code != 100 {
		t.Errorf("got code %d for a late answer, want 100", code)
	}
}

func TestUploads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := anna(b)
	var server struct {
		URL string `json:"upload_url"`
	}
	b.result("photos.getMessagesUploadServer", fmt.Sprintf("peer_id=%d", c.Peer()), &server)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	if got := b.upload(server.URL, "photo", "a.png", []byte("text")); got["photo"] != "[]" {
		t.Errorf("got %v for a text, want no photo", got)
	}
	if got := b.upload(server.URL, "file", "a.png", picture.Bytes()); got["error"] == nil {
		t.Errorf("got %v for the wrong field, want an error", got)
	}
	up := b.upload(server.URL, "photo", "a.png", picture.Bytes())
	save := fmt.Sprintf("server=%v&photo=%s&hash=%s", int64(up["server"].(float64)), url.QueryEscape(up["photo"].(string)), up["hash"])
	if code := b.call("photos.saveMessagesPhoto", "server=1&photo="+url.QueryEscape(up["photo"].(string))+"&hash=x").Error.Code; code != 121 {
		t.Errorf("got code %d for a wrong hash, want 121", code)
	}
	var photos []struct {
		ID      int64
		OwnerID int64  `json:"owner_id"`
		Key     string `json:"access_key"`
	}
	b.result("photos.saveMessagesPhoto", save, &photos)
	if code := b.call("photos.saveMessagesPhoto", save).Error.Code; code != 100 {
		t.Errorf("got code %d for saving twice, want 100", code)
	}
	b.result("docs.getMessagesUploadServer", fmt.Sprintf("type=doc&peer_id=%d", c.Peer()), &server)
	for _, name := range []string{"song.mp3", "setup.exe", "README"} {
		if got := b.upload(server.URL, "file", name, []byte("x")); got["error"] == nil {
			t.Errorf("got %v for %s, want an error", got, name)
		}
	}
	doc := b.upload(server.URL, "file", "a.txt", []byte("abc"))
	var saved struct {
		Doc struct {
			ID      int64
			OwnerID int64 `json:"owner_id"`
			Title   string
		}
	}
	b.result("docs.save", "title=b.txt&file="+url.QueryEscape(doc["file"].(string)), &saved)
	attachment := fmt.Sprintf("photo%d_%d_%s,doc%d_%d", photos[0].OwnerID, photos[0].ID, photos[0].Key, saved.Doc.OwnerID, saved.Doc.ID)
	b.result("messages.send", fmt.Sprintf("peer_id=%d&random_id=0&attachment=%s", c.Peer(), attachment), new(int))
	files := b.Chat(c.Peer())[0].Files
	if len(files) != 2 || !bytes.Equal(files[0].Data, picture.Bytes()) || files[1].Name != "b.txt" {
		t.Errorf("got %+v, want the picture and b.txt", files)
	}
	stranger := b.Customer(vk.User{ID: 5})
	if code := b.call("docs.getMessagesUploadServer", fmt.Sprintf("type=doc&peer_id=%d", stranger.Peer())).Error.Code; code != 901 {
		t.Errorf("got code %d for somebody who allows no messages, want 901", code)
	}
}

func TestSubscribe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	changes, cancel := b.Subscribe()
	c := anna(b)
	c.Write("x")
	<-changes
	cancel()
	c.Write("y")
	select {
	case <-changes:
		t.Error("got a change after the end of the subscription")
	default:
	}
	if err := b.Wait(b.ctx, c.Peer(), func(seen []vk.Message) bool { return len(seen) == 2 }); err != nil {
		t.Error(err)
	}
}
