package telegram_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/telegram"
)

// Every kind of message has the fields that Telegram gives it; that they are as
// the description says is judged for each update that a test reads.
func TestCustomer_EveryKind(t *testing.T) {
	t.Parallel()
	file := func(kind, name, mime string) telegram.Content {
		return telegram.Content{Text: "cap", File: &telegram.File{Kind: kind, Name: name, MIME: mime, Data: []byte("data of " + kind)}}
	}
	for name, tt := range map[string]struct {
		content telegram.Content
		fields  []string // of the message, beside those that all have
	}{
		"text":      {telegram.Content{Text: "x"}, []string{"text"}},
		"formatted": {telegram.Content{Text: "x /help", Entities: []telegram.Entity{bold(0, 1)}}, []string{"entities", "text"}},
		"photo":     {file("photo", "x", ""), []string{"caption", "photo"}},
		"document":  {file("document", "отчёт.pdf", "application/pdf"), []string{"caption", "document"}},
		"video":     {file("video", "v.mp4", "video/mp4"), []string{"caption", "video"}},
		"audio":     {file("audio", "a.mp3", "audio/mpeg"), []string{"audio", "caption"}},
		"voice":     {file("voice", "", ""), []string{"caption", "voice"}},
		"animation": {file("animation", "g.mp4", "video/mp4"), []string{"animation", "caption", "document"}},
		"sticker":   {telegram.Content{File: &telegram.File{Kind: "sticker", Data: []byte("x")}}, []string{"sticker"}},
		"round":     {telegram.Content{File: &telegram.File{Kind: "video_note", Data: []byte("x")}}, []string{"video_note"}},
		"location":  {telegram.Content{Location: &telegram.Location{Latitude: 55.75, Longitude: 37.61}}, []string{"location"}},
		"venue":     {telegram.Content{Location: &telegram.Location{Latitude: 1, Longitude: 2, Title: "Office", Address: "Street 1"}}, []string{"location", "venue"}},
		"contact":   {telegram.Content{Contact: &telegram.Contact{Phone: "+70000000000", FirstName: "Пётр"}}, []string{"contact"}},
		"forward":   {telegram.Content{Text: "x", Forward: &telegram.Forward{User: &telegram.User{ID: 5, FirstName: "B"}}}, []string{"forward_origin", "text"}},
		"hidden":    {telegram.Content{Text: "x", Forward: &telegram.Forward{Name: "Somebody"}}, []string{"forward_origin", "text"}},
		"dice":      {telegram.Content{Extra: map[string]any{"dice": map[string]any{"emoji": "🎲", "value": 3}}}, []string{"dice"}},
		"story":     {telegram.Content{Extra: map[string]any{"story": map[string]any{"id": 1, "chat": map[string]any{"id": 5, "type": "private"}}}}, []string{"story"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := b.Customer(telegram.User{})
			if c.Chat() <= 1<<40 || c.Chat() != c.ID() {
				t.Errorf("got id %d, want one above 2^40", c.Chat())
			}
			c.Send(tt.content)
			list := b.updates(nil)
			if len(list) != 1 {
				t.Fatalf("got %d updates, want 1", len(list))
			}
			var u struct{ Message map[string]json.RawMessage }
			if err := json.Unmarshal(list[0].raw, &u); err != nil {
				t.Fatal(err)
			}
			var got []string
			for key := range u.Message {
				if !slices.Contains([]string{"message_id", "date", "chat", "from"}, key) {
					got = append(got, key)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.fields, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			// Who has written may be answered.
			b.send(c, "hello", nil)
		})
	}
}

func TestCustomer_Texts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	c.Start("promo_42")
	c.Start("")
	long := strings.Repeat("я😀", 2000)
	c.Write(long)
	c.Write("<&_*[ 😀")
	list := b.updates(nil)
	var whole strings.Builder
	for _, u := range list[2 : len(list)-1] {
		whole.WriteString(u.Message.Text)
	}
	if list[0].text() != "/start promo_42" || list[1].text() != "/start" || list[len(list)-1].text() != "<&_*[ 😀" {
		t.Errorf("got %v", texts(list))
	}
	want := []telegram.Entity{{Type: "bot_command", Offset: 0, Length: 6}}
	if diff := cmp.Diff(want, list[0].Message.Entities); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(list) != 5 || whole.String() != long {
		t.Errorf("a text of 6,000 units came as %d messages and whole: %v", len(list)-3, whole.String() == long)
	}
}

func TestCustomer_EntitiesFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	c.Write("see https://a.example/x?y=1, mail a.b@c.example, ask @anna_1 #тема and a/b 1/2")
	u := b.updates(nil)[0].Message
	got := map[string]string{}
	for _, e := range u.Entities {
		got[e.Type] += e.In(u.Text)
	}
	want := map[string]string{"url": "https://a.example/x?y=1", "email": "a.b@c.example", "mention": "@anna_1", "hashtag": "#тема"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCustomer_Album(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	album := b.NewAlbum()
	for i := range 3 {
		content := telegram.Content{Album: album, File: &telegram.File{Kind: "photo", Data: picture(t, 400, 300)}}
		if i == 0 {
			content.Text = "all three"
		}
		c.Send(content)
	}
	list := b.updates(nil)
	for _, u := range list {
		if u.Message.Album != album || len(u.Message.Photo) == 0 {
			t.Errorf("got %+v", u.Message)
		}
	}
	if len(list) != 3 || list[0].Message.Caption != "all three" || b.NewAlbum() == album {
		t.Errorf("got %d parts", len(list))
	}
}

func TestCustomer_Edit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	own := c.Send(telegram.Content{Text: "cap", File: &telegram.File{Kind: "document", Name: "a.txt", Data: []byte("x")}})
	bots := b.send(c, "the bot's", nil)
	b.clock.move(time.Minute)
	if err := c.Edit(own, telegram.Content{Text: "new cap"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Edit(bots.ID, telegram.Content{Text: "x"}); err == nil {
		t.Error("a customer has edited the bot's message")
	}
	list := b.updates(nil)
	if len(list) != 2 || list[1].Edited == nil || list[1].Edited.Caption != "new cap" || list[1].Edited.Document == nil || list[1].Edited.EditDate == 0 {
		t.Errorf("got %+v", list)
	}
	if got := b.Chat(c.Chat())[0]; !got.Edited || got.Text != "new cap" || got.File == nil {
		t.Errorf("got %+v", got)
	}
	c.Delete(own)
	if got := b.Chat(c.Chat()); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestCustomer_Block(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	c.Block()
	c.Block() // changes nothing
	c.Unblock()
	c.Block()
	c.Write("writing unblocks")
	b.send(c, "answer", nil)
	want := []string{"member kicked", "member member", "member kicked", "member member", "writing unblocks"}
	if diff := cmp.Diff(want, texts(b.updates(nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCustomer_Reply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	m := b.send(c, "question?", nil)
	first := c.Send(telegram.Content{Text: "answer", ReplyTo: m.ID})
	c.Send(telegram.Content{Text: "more", ReplyTo: first, Quote: "answer"})
	list := b.updates(nil)
	if got := list[0].Message.Reply; got == nil || got.ID != m.ID {
		t.Errorf("got %+v", got)
	}
	if strings.Count(string(list[1].raw), "reply_to_message") != 1 {
		t.Errorf("a reply carries more than one level: %s", list[1].raw)
	}
}

// With privacy mode the bot gets of a group what is meant for it.
func TestGroup_Privacy(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		readsAll bool
		want     []string
	}{
		"privacy": {false, []string{"member member", "/help", "/help@support_sandbox_bot", "hello @Support_sandbox_bot", "a reply"}},
		"admin":   {true, []string{"member member", "small talk", "/help", "/help@support_sandbox_bot", "/help@another_bot", "hello @Support_sandbox_bot", "a reply"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(c *telegram.Config) { c.ReadsGroups = tt.readsAll })
			c := b.started()
			g := c.In(c.Group("team"))
			m := b.send(g, "from the bot", nil)
			for _, text := range []string{"small talk", "/help", "/help@support_sandbox_bot", "/help@another_bot", "hello @Support_sandbox_bot"} {
				g.Write(text)
			}
			g.Send(telegram.Content{Text: "a reply", ReplyTo: m.ID})
			if diff := cmp.Diff(tt.want, texts(b.updates(nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			g.Kick()
			if a := b.call("sendMessage", fields{"chat_id": g.Chat(), "text": "x"}); a.Description != "Forbidden: bot was kicked from the group chat" {
				t.Errorf("got %+v", a)
			}
		})
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	for _, old := range []int64{c.Group("team"), c.Chat()} {
		moved := b.Migrate(old)
		a := b.call("sendMessage", fields{"chat_id": old, "text": "x"})
		if a.Code != 400 || a.Parameters.MigrateTo != moved || a.Description != "Bad Request: group chat was upgraded to a supergroup chat" {
			t.Errorf("got %+v, want %d", a, moved)
		}
		b.result("sendMessage", fields{"chat_id": moved, "text": "x"}, &sent{})
		list := b.Chat(moved)
		if last := list[len(list)-1]; !last.Out || last.Text != "x" {
			t.Errorf("got %+v", list)
		}
	}
	if got := b.updates(nil); len(got) != 5 { // added to the group, two service messages each
		t.Errorf("got %v", texts(got))
	}
}

func TestPress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	m := b.send(c, "menu", fields{"reply_markup": keyboard(`[[{"text":"a","callback_data":"go"}]]`)})
	answer, query, err := c.Press(m.ID, "go")
	if err != nil {
		t.Fatal(err)
	}
	got := b.updates(nil)[0].Callback
	if got == nil || got.ID != query || got.Data != "go" || got.Message.ID != m.ID || got.Message.Markup == nil {
		t.Fatalf("got %+v", got)
	}
	long := b.call("answerCallbackQuery", fields{"callback_query_id": query, "text": strings.Repeat("x", 201)})
	if long.Description != "Bad Request: MESSAGE_TOO_LONG" {
		t.Errorf("got %+v", long)
	}
	b.result("answerCallbackQuery", fields{"callback_query_id": query, "text": strings.Repeat("x", 200), "show_alert": true}, new(bool))
	if a := <-answer; len(a.Text) != 200 || !a.Alert {
		t.Errorf("got %+v", a)
	}
	const old = "Bad Request: query is too old and response timeout expired or query ID is invalid"
	if a := b.call("answerCallbackQuery", fields{"callback_query_id": query}); a.Description != old {
		t.Errorf("got %+v for the second answer", a)
	}
	if _, query, err = c.Press(m.ID, "go"); err != nil {
		t.Fatal(err)
	}
	b.clock.move(151 * time.Second)
	if a := b.call("answerCallbackQuery", fields{"callback_query_id": query}); a.Description != old {
		t.Errorf("got %+v for a late answer", a)
	}
	if _, _, err := c.Press(m.ID, "other"); err == nil {
		t.Error("a button was pressed that is not there")
	}
	if _, _, err := c.Press(m.ID+1, "go"); err == nil {
		t.Error("a button was pressed below a message that is not there")
	}
}

func TestTap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	b.send(c, "choose", fields{"reply_markup": fields{"keyboard": [][]any{{"one", fields{"text": "two"}}}, "resize_keyboard": true}})
	if _, err := c.Tap("two"); err != nil {
		t.Fatal(err)
	}
	b.send(c, "done", fields{"reply_markup": fields{"remove_keyboard": true}})
	if _, err := c.Tap("two"); err == nil {
		t.Error("the keyboard is still there")
	}
	if got := texts(b.updates(nil)); !slices.Equal(got, []string{"two"}) {
		t.Errorf("got %v", got)
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	changes, cancel := b.Subscribe()
	defer cancel()
	b.send(c, `<b>1 &lt; <i>2</i></b> <a href="https://a.example/?a=1&amp;b=2">x</a> <pre><code class="language-go">y</code></pre>`, fields{"parse_mode": "HTML"})
	<-changes
	want := `<b>1 &lt; <i>2</i></b> <a href="https://a.example/?a=1&amp;b=2">x</a> <pre data-language="go">y</pre>`
	if got := b.Chat(c.Chat())[0].HTML; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := b.Chat(1); got != nil {
		t.Errorf("got %v for nobody's chat", got)
	}
	c.Send(telegram.Content{File: &telegram.File{Kind: "document", Name: "a", Data: []byte("ab"), Size: 4}})
	if err := b.Wait(b.ctx, c.Chat(), func(list []telegram.Message) bool { return len(list) == 2 }); err != nil {
		t.Fatal(err)
	}
	f, r, ok := b.Open(b.Chat(c.Chat())[1].File.ID)
	data := make([]byte, 5)
	n, _ := r.Read(data)
	if !ok || f.Size != 4 || string(data[:n]) != "ab" {
		t.Errorf("got %v, %+v, %q", ok, f, data[:n])
	}
}
