package storm

import (
	"fmt"
	"strings"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

// phone is a customer's, in either messenger.
type phone interface {
	address() string // "telegram:3300000000001"
	write(text string)
	photo(caption string)
	// start opens the chat by a link to a category.
	start(payload string)
	// press presses the newest button whose label contains the text, and gives the id
	// of that; "" if there is none.
	press(label string) string
	// got gives the bot's messages, oldest first; said those of the customer.
	got() []Got
	said() []wrote
}

// wrote is a message of a customer's.
type wrote struct {
	ID   int64
	Text string
	At   time.Time
	File string // bytes
}

// picture is the smallest file that passes for a photo.
const picture = "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9"

// photo is another one for each caption.
func photo(caption string) []byte { return []byte(picture + caption) }

// Numbers of customers begin here: above what fits into 32 bits in Telegram, as real
// ones may be.
const (
	firstTelegram = 3_300_000_000_000
	firstVK       = 4_400_000
)

type onTelegram struct {
	s *telegram.Server
	c *telegram.Customer
}

func (w *world) onTelegram(n int) phone {
	return &onTelegram{w.telegram, w.telegram.Customer(telegram.User{
		ID: firstTelegram + int64(n), FirstName: canary + "Иван", Username: canary + "ivan", Language: "ru",
	})}
}

func (p *onTelegram) address() string { return fmt.Sprint(messenger.Telegram, ":", p.c.Chat()) }

func (p *onTelegram) write(text string) { p.c.Write(text) }

func (p *onTelegram) photo(caption string) {
	p.c.Send(telegram.Content{Text: caption, File: &telegram.File{Kind: "photo", Name: "photo.jpg", MIME: "image/jpeg", Data: photo(caption)}})
}

func (p *onTelegram) start(payload string) { p.c.Start(payload) }

func (p *onTelegram) press(label string) string {
	id, _, data := newest(p.got(), label)
	if id == 0 {
		return ""
	}
	_, press, _ := p.c.Press(id, data)
	return press
}

func (p *onTelegram) said() (all []wrote) {
	for _, m := range p.s.Chat(p.c.Chat()) {
		if m.Out {
			continue
		}
		w := wrote{ID: m.ID, Text: m.Text, At: m.Time}
		if m.File != nil {
			w.File = string(m.File.Data)
		}
		all = append(all, w)
	}
	return all
}

func (p *onTelegram) got() (all []Got) {
	for _, m := range p.s.Chat(p.c.Chat()) {
		if !m.Out {
			continue
		}
		g := Got{ID: m.ID, Text: m.Text, At: m.Time, label: map[string]string{}}
		for _, row := range m.Keyboard {
			for _, b := range row {
				g.label[b.Text] = b.Data
			}
		}
		if m.File != nil {
			g.Text += " " + m.File.Name
		}
		all = append(all, g)
	}
	return all
}

type onVK struct {
	s *vk.Server
	c *vk.Customer
}

func (w *world) onVK(n int) phone {
	return &onVK{w.vk, w.vk.Customer(vk.User{ID: firstVK + int64(n), FirstName: canary + "Мария", LastName: canary + "Соколова"})}
}

func (p *onVK) address() string { return fmt.Sprint(messenger.VK, ":", p.c.Peer()) }

func (p *onVK) write(text string) { p.c.Write(text) }

func (p *onVK) photo(caption string) {
	p.c.Send(vk.Content{Text: caption, Attachments: []vk.Attachment{p.s.Photo(p.c.Peer(), photo(caption))}})
}

func (p *onVK) start(payload string) { p.c.Start(payload) }

func (p *onVK) press(label string) string {
	id, label, _ := newest(p.got(), label)
	if id == 0 {
		return ""
	}
	_, press, _ := p.c.Press(id, label)
	return press
}

func (p *onVK) said() (all []wrote) {
	for _, m := range p.s.Chat(p.c.Peer()) {
		if m.Out {
			continue
		}
		w := wrote{ID: m.ID, Text: m.Text, At: m.Time}
		if len(m.Files) > 0 {
			w.File = string(m.Files[0].Data)
		}
		all = append(all, w)
	}
	return all
}

func (p *onVK) got() (all []Got) {
	for _, m := range p.s.Chat(p.c.Peer()) {
		if !m.Out {
			continue
		}
		g := Got{ID: m.ID, Text: m.Text, At: m.Time, label: map[string]string{}}
		if m.Keyboard != nil {
			for _, row := range m.Keyboard.Buttons {
				for _, b := range row {
					g.label[b.Action.Label] = b.Action.Label
				}
			}
		}
		for _, f := range m.Files {
			g.Text += " " + f.Name
		}
		all = append(all, g)
	}
	return all
}

// newest finds the newest button whose label contains a text.
func newest(all []Got, text string) (id int64, label, data string) {
	for i := len(all) - 1; i >= 0; i-- {
		for label, data := range all[i].label {
			if strings.Contains(label, text) {
				return all[i].ID, label, data
			}
		}
	}
	return 0, "", ""
}

// last is the number of the newest message.
func last(all []Got) int64 {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].ID
}
