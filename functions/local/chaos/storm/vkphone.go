package storm

import (
	"fmt"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/vk"
)

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
