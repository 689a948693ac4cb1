package platform_test

import (
	"fmt"
	"strings"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

// said is a message of the bot's, in either messenger.
type said struct {
	id      int64
	text    string
	html    string
	buttons []string
	data    map[string]string // label -> callback data (Telegram)
	links   map[string]string // label -> address (Telegram)
	files   []string
}

// customer is a person in a messenger, as a test plays them.
type customer interface {
	address() messenger.Address
	// write sends a text.
	write(text string) int64
	photo(caption string) int64
	// album sends so many photos at once.
	album(caption string, photos int)
	// start opens the chat by a link.
	start(payload string)
	edit(id int64, text string)
	block()
	// press presses the button with the label below the newest message that has it.
	press(label string)
	// sees waits for a message of the bot's that contains text.
	sees(text string) said
	// waits waits for a message of the bot's.
	waits(what string, ok func(said) bool) said
	// all gives the bot's messages so far.
	all() []said
	// updates is how many calls the messenger makes for so many photos at once.
	updates(photos int) int
}

// saw counts the bot's messages that contain text.
func saw(c customer, text string) (n int) {
	for _, m := range c.all() {
		if strings.Contains(m.text, text) {
			n++
		}
	}
	return n
}

// files counts the files that the bot sent.
func files(c customer) (n int) {
	for _, m := range c.all() {
		n += len(m.files)
	}
	return n
}

type telegramCustomer struct {
	w *world
	c *telegram.Customer
}

func (w *world) telegramCustomer(id int64) *telegramCustomer {
	return &telegramCustomer{w, w.telegram.Customer(telegram.User{ID: id, FirstName: "CANARY-Иван", Username: "CANARY_nick", Language: "ru"})}
}

func (c *telegramCustomer) address() messenger.Address {
	return messenger.Address{Messenger: messenger.Telegram, Bot: "1099511627777", Chat: fmt.Sprint(c.c.Chat())}
}

func (c *telegramCustomer) start(payload string) { c.c.Start(payload) }

func (c *telegramCustomer) block() { c.c.Block() }

func (c *telegramCustomer) edit(id int64, text string) {
	c.w.t.Helper()
	if err := c.c.Edit(id, telegram.Content{Text: text}); err != nil {
		c.w.t.Fatal(err)
	}
}

func (c *telegramCustomer) album(caption string, photos int) {
	album := c.w.telegram.NewAlbum()
	for i := range photos {
		part := telegram.Content{Album: album, File: &telegram.File{Kind: "photo", Name: "photo.jpg", MIME: "image/jpeg", Data: picture}}
		if i == 0 {
			part.Text = caption
		}
		c.c.Send(part)
	}
}

func (c *telegramCustomer) updates(photos int) int { return photos }

func (c *telegramCustomer) write(text string) int64 { return c.c.Write(text) }

func (c *telegramCustomer) photo(caption string) int64 {
	return c.c.Send(telegram.Content{Text: caption, File: &telegram.File{Kind: "photo", Name: "photo.jpg", MIME: "image/jpeg", Data: picture}})
}

func (c *telegramCustomer) press(label string) {
	c.w.t.Helper()
	m := c.waits("a button "+label, func(m said) bool { _, ok := m.data[label]; return ok })
	if _, _, err := c.c.Press(m.id, m.data[label]); err != nil {
		c.w.t.Fatalf("press %s: %v", label, err)
	}
}

func (c *telegramCustomer) sees(text string) said {
	c.w.t.Helper()
	return c.waits(text, func(m said) bool { return strings.Contains(m.text, text) })
}

func (c *telegramCustomer) waits(what string, ok func(said) bool) (found said) {
	c.w.t.Helper()
	err := c.w.telegram.Wait(c.w.ctx, c.c.Chat(), func(ms []telegram.Message) bool {
		for i := len(ms) - 1; i >= 0; i-- {
			if m := fromTelegram(ms[i]); ms[i].Out && ok(m) {
				found = m
				return true
			}
		}
		return false
	})
	if err != nil {
		c.w.t.Fatalf("customer waits for %s: %v; chat: %s", what, err, show(c.w.telegram.Chat(c.c.Chat())))
	}
	return found
}

func (c *telegramCustomer) all() (all []said) {
	for _, m := range c.w.telegram.Chat(c.c.Chat()) {
		if m.Out {
			all = append(all, fromTelegram(m))
		}
	}
	return all
}

func fromTelegram(m telegram.Message) said {
	s := said{id: m.ID, text: m.Text, html: m.HTML, data: map[string]string{}, links: map[string]string{}}
	for _, row := range m.Keyboard {
		for _, b := range row {
			s.buttons = append(s.buttons, b.Text)
			s.data[b.Text] = b.Data
			s.links[b.Text] = b.URL
		}
	}
	if m.File != nil {
		s.files = append(s.files, m.File.Name)
	}
	return s
}

type vkCustomer struct {
	w *world
	c *vk.Customer
}

func (w *world) vkCustomer(id int64) *vkCustomer {
	return &vkCustomer{w, w.vk.Customer(vk.User{ID: id, FirstName: "CANARY-Мария", LastName: "CANARY"})}
}

func (c *vkCustomer) address() messenger.Address {
	return messenger.Address{Messenger: messenger.VK, Bot: "209", Chat: fmt.Sprint(c.c.Peer())}
}

func (c *vkCustomer) start(payload string) { c.c.Start(payload) }

func (c *vkCustomer) block() { c.c.Deny() }

func (c *vkCustomer) edit(id int64, text string) {
	c.w.t.Helper()
	if err := c.c.Edit(id, vk.Content{Text: text}); err != nil {
		c.w.t.Fatal(err)
	}
}

// album: VK has none, it carries all photos in one message.
func (c *vkCustomer) album(caption string, photos int) {
	m := vk.Content{Text: caption}
	for range photos {
		m.Attachments = append(m.Attachments, c.w.vk.Photo(c.c.Peer(), picture))
	}
	c.c.Send(m)
}

func (c *vkCustomer) updates(int) int { return 1 }

func (c *vkCustomer) write(text string) int64 { return c.c.Write(text) }

func (c *vkCustomer) photo(caption string) int64 {
	return c.c.Send(vk.Content{Text: caption, Attachments: []vk.Attachment{c.w.vk.Photo(c.c.Peer(), picture)}})
}

func (c *vkCustomer) press(label string) {
	c.w.t.Helper()
	m := c.waits("a button "+label, func(m said) bool { _, ok := m.data[label]; return ok })
	if _, _, err := c.c.Press(m.id, label); err != nil {
		c.w.t.Fatalf("press %s: %v", label, err)
	}
}

func (c *vkCustomer) sees(text string) said {
	c.w.t.Helper()
	return c.waits(text, func(m said) bool { return strings.Contains(m.text, text) })
}

func (c *vkCustomer) waits(what string, ok func(said) bool) (found said) {
	c.w.t.Helper()
	err := c.w.vk.Wait(c.w.ctx, c.c.Peer(), func(ms []vk.Message) bool {
		for i := len(ms) - 1; i >= 0; i-- {
			if m := fromVK(ms[i]); ms[i].Out && ok(m) {
				found = m
				return true
			}
		}
		return false
	})
	if err != nil {
		c.w.t.Fatalf("customer waits for %s: %v; chat: %s", what, err, show(c.w.vk.Chat(c.c.Peer())))
	}
	return found
}

func (c *vkCustomer) all() (all []said) {
	for _, m := range c.w.vk.Chat(c.c.Peer()) {
		if m.Out {
			all = append(all, fromVK(m))
		}
	}
	return all
}

func fromVK(m vk.Message) said {
	s := said{id: m.ID, text: m.Text, data: map[string]string{}}
	if m.Keyboard != nil {
		for _, row := range m.Keyboard.Buttons {
			for _, b := range row {
				s.buttons = append(s.buttons, b.Action.Label)
				s.data[b.Action.Label] = b.Action.Label
			}
		}
	}
	for _, f := range m.Files {
		s.files = append(s.files, f.Name)
	}
	return s
}
