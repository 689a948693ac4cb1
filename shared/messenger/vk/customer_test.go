package vk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"supportbot/shared/messenger"
	"supportbot/shared/messenger/messengertest"
	sandbox "supportbot/shared/sandbox/vk"
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

func (c *customer) Chat() string { return decimal(c.Peer()) }
func (c *customer) User() string { return decimal(c.Peer()) }
func (c *customer) Name() string { return c.name }

func (c *customer) Start(payload string) string     { return decimal(c.Customer.Start(payload)) }
func (c *customer) Write(text string) string        { return decimal(c.Customer.Write(text)) }
func (c *customer) WriteBold(text, _ string) string { return c.Write(text) }

func (c *customer) Send(f messengertest.Picked, caption string) string {
	return decimal(c.Customer.Send(sandbox.Content{Text: caption, Attachments: []sandbox.Attachment{c.attach(f)}}))
}

func (c *customer) attach(f messengertest.Picked) sandbox.Attachment {
	switch f.Kind {
	case messenger.Photo:
		return c.h.fake.Photo(c.Peer(), f.Data)
	case messenger.Voice:
		return c.h.fake.Voice(c.Peer(), f.Data, "")
	case messenger.Sticker:
		return c.h.fake.Sticker(f.Data)
	}
	return c.h.fake.Doc(c.Peer(), f.Name, f.Data)
}

func (c *customer) Album(files []messengertest.Picked, caption string) {
	content := sandbox.Content{Text: caption}
	for _, f := range files {
		content.Attachments = append(content.Attachments, c.attach(f))
	}
	c.Customer.Send(content)
}

func (c *customer) Locate(l messenger.Location) string {
	return decimal(c.Customer.Send(sandbox.Content{Geo: &sandbox.Geo{
		Latitude: l.Latitude, Longitude: l.Longitude, Title: l.Title, Address: l.Address,
	}}))
}

// Share: VK has no cards, people write the number.
func (c *customer) Share(card messenger.Contact) string { return c.Write(card.Name + " " + card.Phone) }

func (c *customer) Edit(id, text string) {
	if err := c.Customer.Edit(number(id), sandbox.Content{Text: text}); err != nil {
		c.h.t.Errorf("edit: %v", err)
	}
}

func (c *customer) Reply(id, text string) string {
	return decimal(c.Customer.Send(sandbox.Content{Text: text, ReplyTo: number(id)}))
}

func (c *customer) Forward(_, text string) string {
	return decimal(c.Customer.Send(sandbox.Content{Forwarded: []sandbox.Forward{{From: 1<<40 + 7, Text: text}}}))
}

func (c *customer) Peculiar() string {
	story := sandbox.Object("story", map[string]any{"id": 1, "owner_id": c.Peer(), "date": 1})
	return decimal(c.Customer.Send(sandbox.Content{Attachments: []sandbox.Attachment{story}}))
}

func (c *customer) InGroup(text string) {
	c.InChat(1).Write(fmt.Sprintf("[club%d|@support] %s", group, text))
}

func (c *customer) Block()   { c.Deny() }
func (c *customer) Unblock() { c.Allow("") }

func (c *customer) Press(messageID, data string) <-chan string {
	text := make(chan string, 1)
	label := ""
	for _, m := range c.Seen() {
		for _, row := range m.Keyboard {
			for _, b := range row {
				if m.ID == messageID && b.Data == data {
					label = b.Label
				}
			}
		}
	}
	answer, _, err := c.Customer.Press(number(messageID), label)
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
	return messenger.Press{ID: "0", Chat: c.Chat(), User: c.User(), Data: data, MessageID: messageID}
}

func (c *customer) Seen() []messengertest.Seen {
	var seen []messengertest.Seen
	for _, m := range c.h.fake.Chat(c.Peer()) {
		if m.Out {
			seen = append(seen, see(m))
		}
	}
	return seen
}

func see(m sandbox.Message) messengertest.Seen {
	s := messengertest.Seen{ID: decimal(m.ID), Text: m.Text, Edited: m.Edited, Keyboard: keyboard(m.Keyboard)}
	for _, f := range m.Files {
		s.File = &messengertest.SeenFile{Name: f.Name, Photo: f.Kind == "photo", Data: f.Data}
	}
	return s
}

// keyboard gives the buttons as the adapter was given them.
func keyboard(k *sandbox.Keyboard) messenger.Keyboard {
	if k == nil {
		return nil
	}
	var out messenger.Keyboard
	for _, row := range k.Buttons {
		var buttons []messenger.Button
		for _, b := range row {
			var payload struct {
				Data string `json:"data"`
			}
			_ = json.Unmarshal([]byte(b.Action.Payload), &payload)
			buttons = append(buttons, messenger.Button{Label: b.Action.Label, Data: payload.Data, URL: b.Action.Link})
		}
		out = append(out, buttons)
	}
	return out
}

func (c *customer) Delete(messageID string) { c.Customer.Delete(number(messageID)) }

func (c *customer) Wait(ctx context.Context, ok func([]messengertest.Seen) bool) error {
	return c.h.fake.Wait(ctx, c.Peer(), func([]sandbox.Message) bool { return ok(c.Seen()) })
}
