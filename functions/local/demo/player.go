package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

// picture is the smallest file that passes for a photo.
var picture = []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9")

// onTelegram plays a customer of Telegram.
type onTelegram struct {
	server *telegram.Server
	c      *telegram.Customer
}

func (p *onTelegram) write(text string) { p.c.Write(text) }

func (p *onTelegram) photo(caption string) {
	p.c.Send(telegram.Content{Text: caption, File: &telegram.File{Kind: "photo", Name: "photo.jpg", MIME: "image/jpeg", Data: picture}})
}

func (p *onTelegram) press(ctx context.Context, label string) error {
	var id int64
	var data string
	err := p.server.Wait(ctx, p.c.Chat(), func(ms []telegram.Message) bool {
		for _, m := range ms {
			for _, row := range m.Keyboard {
				for _, b := range row {
					if b.Text == label {
						id, data = m.ID, b.Data
					}
				}
			}
		}
		return id != 0
	})
	if err != nil {
		return fmt.Errorf("find button %q: %w", label, err)
	}
	_, _, err = p.c.Press(id, data)
	return err
}

func (p *onTelegram) sees(ctx context.Context, text string) error {
	err := p.server.Wait(ctx, p.c.Chat(), func(ms []telegram.Message) bool {
		for _, m := range ms {
			if m.Out && strings.Contains(m.Text, text) {
				return true
			}
		}
		return false
	})
	if err != nil {
		return fmt.Errorf("see %q: %w", text, err)
	}
	return nil
}

func (p *onTelegram) gotFile(ctx context.Context) error {
	return p.server.Wait(ctx, p.c.Chat(), func(ms []telegram.Message) bool {
		return slices.ContainsFunc(ms, func(m telegram.Message) bool { return m.Out && m.File != nil })
	})
}

func (p *onTelegram) transcript() string {
	var b strings.Builder
	b.WriteString("Telegram, Иван\n")
	for _, m := range p.server.Chat(p.c.Chat()) {
		text := m.Text
		if m.HTML != "" {
			text = m.HTML
		}
		files := 0
		if m.File != nil {
			files = 1
		}
		var labels []string
		for _, row := range m.Keyboard {
			for _, k := range row {
				labels = append(labels, k.Text)
			}
		}
		b.WriteString(line(m.Out, text, files, labels))
	}
	return b.String() + "\n"
}

// onVK plays a customer of VK.
type onVK struct {
	server *vk.Server
	c      *vk.Customer
}

func (p *onVK) write(text string) { p.c.Write(text) }

func (p *onVK) photo(caption string) {
	p.c.Send(vk.Content{Text: caption, Attachments: []vk.Attachment{p.server.Photo(p.c.Peer(), picture)}})
}

func (p *onVK) press(ctx context.Context, label string) error {
	var id int64
	err := p.server.Wait(ctx, p.c.Peer(), func(ms []vk.Message) bool {
		for _, m := range ms {
			for _, l := range labelsOf(m) {
				if l == label {
					id = m.ID
				}
			}
		}
		return id != 0
	})
	if err != nil {
		return fmt.Errorf("find button %q: %w", label, err)
	}
	_, _, err = p.c.Press(id, label)
	return err
}

func (p *onVK) sees(ctx context.Context, text string) error {
	err := p.server.Wait(ctx, p.c.Peer(), func(ms []vk.Message) bool {
		for _, m := range ms {
			if m.Out && strings.Contains(m.Text, text) {
				return true
			}
		}
		return false
	})
	if err != nil {
		return fmt.Errorf("see %q: %w", text, err)
	}
	return nil
}

func (p *onVK) gotFile(ctx context.Context) error {
	return p.server.Wait(ctx, p.c.Peer(), func(ms []vk.Message) bool {
		return slices.ContainsFunc(ms, func(m vk.Message) bool { return m.Out && len(m.Files) > 0 })
	})
}

func (p *onVK) transcript() string {
	var b strings.Builder
	b.WriteString("ВКонтакте, Мария\n")
	for _, m := range p.server.Chat(p.c.Peer()) {
		b.WriteString(line(m.Out, m.Text, len(m.Files), labelsOf(m)))
	}
	return b.String() + "\n"
}

func labelsOf(m vk.Message) (labels []string) {
	if m.Keyboard == nil {
		return nil
	}
	for _, row := range m.Keyboard.Buttons {
		for _, b := range row {
			labels = append(labels, b.Action.Label)
		}
	}
	return labels
}
