package telegram_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"supportbot/shared/messenger"
	"supportbot/shared/messenger/messengertest"
	sandbox "supportbot/shared/sandbox/telegram"
)

// customer is a person on the fake, in the suite's words.
type customer struct {
	*sandbox.Customer
	h    *harness
	name string
}

var _ messengertest.Customer = (*customer)(nil)

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func number(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64)
	return n
}

func (c *customer) Chat() string { return decimal(c.Customer.Chat()) }
func (c *customer) User() string { return decimal(c.ID()) }
func (c *customer) Name() string { return c.name }

func (c *customer) Start(payload string) string { return decimal(c.Customer.Start(payload)) }
func (c *customer) Write(text string) string    { return decimal(c.Customer.Write(text)) }

func (c *customer) WriteBold(text, bold string) string {
	before, _, _ := strings.Cut(text, bold)
	return c.send(sandbox.Content{Text: text, Entities: []sandbox.Entity{
		{Type: "bold", Offset: units(before), Length: units(bold)},
	}})
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

func (c *customer) send(content sandbox.Content) string { return decimal(c.Customer.Send(content)) }

func attach(f messengertest.Picked) *sandbox.File {
	return &sandbox.File{Kind: string(f.Kind), Name: f.Name, MIME: f.MIME, Data: f.Data}
}

func (c *customer) Send(f messengertest.Picked, caption string) string {
	return c.send(sandbox.Content{Text: caption, File: attach(f)})
}

func (c *customer) Album(files []messengertest.Picked, caption string) {
	album := c.h.fake.NewAlbum()
	for i, f := range files {
		if i > 0 {
			caption = ""
		}
		c.send(sandbox.Content{Text: caption, File: attach(f), Album: album})
	}
}

func (c *customer) Locate(l messenger.Location) string {
	return c.send(sandbox.Content{Location: &sandbox.Location{
		Latitude: l.Latitude, Longitude: l.Longitude, Title: l.Title, Address: l.Address,
	}})
}

func (c *customer) Share(card messenger.Contact) string {
	return c.send(sandbox.Content{Contact: &sandbox.Contact{FirstName: card.Name, Phone: card.Phone}})
}

func (c *customer) Edit(id, text string) {
	if err := c.Customer.Edit(number(id), sandbox.Content{Text: text}); err != nil {
		c.h.t.Errorf("edit: %v", err)
	}
}

func (c *customer) Reply(id, text string) string {
	return c.send(sandbox.Content{Text: text, ReplyTo: number(id)})
}

func (c *customer) Forward(author, text string) string {
	return c.send(sandbox.Content{Text: text, Forward: &sandbox.Forward{Name: author}})
}

func (c *customer) Peculiar() string {
	chat := map[string]any{"id": c.Customer.Chat(), "type": "private"}
	return c.send(sandbox.Content{Extra: map[string]any{"story": map[string]any{"id": 1, "chat": chat}}})
}

func (c *customer) InGroup(text string) {
	c.In(c.Group("Соседи")).Write("@" + username + " " + text)
}

func (c *customer) Press(messageID, data string) <-chan string {
	text := make(chan string, 1)
	answer, _, err := c.Customer.Press(number(messageID), data)
	if err != nil {
		c.h.t.Errorf("press %q below message %s: %v", data, messageID, err)
		return text
	}
	go func() {
		select {
		case a := <-answer:
			text <- a.Text
		case <-c.h.ctx.Done():
		}
	}()
	return text
}

func (c *customer) PressLate(messageID, data string) messenger.Press {
	return messenger.Press{ID: "4611686018427387904", Chat: c.Chat(), User: c.User(), Data: data, MessageID: messageID}
}

func (c *customer) Seen() []messengertest.Seen {
	var seen []messengertest.Seen
	for _, m := range c.h.fake.Chat(c.Customer.Chat()) {
		if m.Out {
			seen = append(seen, see(m))
		}
	}
	return seen
}

func see(m sandbox.Message) messengertest.Seen {
	s := messengertest.Seen{ID: decimal(m.ID), Text: m.Text, Edited: m.Edited}
	code := utf16.Encode([]rune(m.Text))
	var bold []string
	for _, e := range m.Entities {
		if e.Type == "bold" {
			bold = append(bold, string(utf16.Decode(code[e.Offset:e.Offset+e.Length])))
		}
	}
	s.Bold = strings.Join(bold, "\n")
	for _, row := range m.Keyboard {
		var buttons []messenger.Button
		for _, b := range row {
			buttons = append(buttons, messenger.Button{Label: b.Text, Data: b.Data, URL: b.URL})
		}
		s.Keyboard = append(s.Keyboard, buttons)
	}
	if f := m.File; f != nil {
		s.File = &messengertest.SeenFile{Name: f.Name, Photo: f.Kind == "photo", Data: slices.Clone(f.Data)}
	}
	return s
}

func (c *customer) Delete(messageID string) { c.Customer.Delete(number(messageID)) }

func (c *customer) Wait(ctx context.Context, ok func([]messengertest.Seen) bool) error {
	return c.h.fake.Wait(ctx, c.Customer.Chat(), func([]sandbox.Message) bool { return ok(c.Seen()) })
}
