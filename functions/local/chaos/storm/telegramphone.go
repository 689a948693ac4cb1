package storm

import (
	"fmt"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/telegram"
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
