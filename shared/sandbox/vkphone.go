package sandbox

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"supportbot/shared/sandbox/crowd"
	"supportbot/shared/sandbox/vk"
)

// vkPhone is the phone in VK.
type vkPhone struct{ *vk.Server }

// firstVK is above what fits into 32 bits, as new ids are.
const firstVK = 1<<41 + 1000

func (p vkPhone) bot() string { return p.Name() }

func (p vkPhone) subscribe() (<-chan struct{}, func()) { return p.Subscribe() }

func (p vkPhone) people() []personView {
	var list []personView
	for _, u := range p.People() {
		list = append(list, p.person(u))
	}
	return list
}

func (p vkPhone) person(u vk.Person) personView {
	v := personView{
		ID: strconv.FormatInt(u.ID, 10), Name: strings.TrimSpace(u.FirstName + " " + u.LastName),
		Username: u.ScreenName, Language: "ru", State: open,
	}
	if u.English {
		v.Language = "en"
	}
	chat := p.Chat(u.ID)
	switch {
	case len(chat) == 0 && !u.MayWrite:
		v.State = unknown
	case !u.MayWrite:
		v.State = blocked
	}
	if len(chat) > 0 {
		last := chat[len(chat)-1]
		v.Last, v.At = head(last.Text), last.Time
	}
	return v
}

func (p vkPhone) addPerson(n newPerson) int64 {
	id := int64(firstVK)
	for _, u := range p.People() {
		if u.ID < crowd.First {
			id = max(id, u.ID+1)
		}
	}
	p.Customer(vk.User{
		ID: id, FirstName: n.FirstName, LastName: n.LastName, ScreenName: n.Username, English: n.Language == "en",
	})
	return id
}

func (p vkPhone) crowd() int { return p.CrowdSize() }

func (p vkPhone) grow(n int) (list []Newcomer) {
	for _, u := range p.Crowd(n) {
		person := p.person(vk.Person{User: u, MayWrite: true})
		list = append(list, Newcomer{ID: u.ID, Name: person.Name, Username: u.ScreenName, Language: person.Language})
	}
	return list
}

func (p vkPhone) search(words string, most int) (found []personView) {
	for _, u := range p.FindInCrowd(words, most) {
		if now, ok := p.Person(u.ID); ok {
			found = append(found, p.person(now))
		}
	}
	return found
}

func (p vkPhone) take(id int64) error {
	_, err := p.customer(id)
	return err
}

// customer gives the hand that holds the phone.
func (p vkPhone) customer(id int64) (*vk.Customer, error) {
	u, ok := p.Person(id)
	if !ok {
		return nil, fmt.Errorf("customer: %w", errNotFound)
	}
	return p.Customer(u.User), nil
}

func (p vkPhone) chat(id int64) (chatView, bool) {
	person, ok := p.Person(id)
	if !ok {
		return chatView{}, false
	}
	v := chatView{Person: p.person(person), Bot: p.bot()}
	if k := p.Keyboard(id); k != nil {
		v.Keyboard = vkButtons(k)
	}
	for _, m := range p.Chat(id) {
		v.messages = append(v.messages, p.view(id, m))
	}
	return v, true
}

func (p vkPhone) view(chat int64, m vk.Message) messageView {
	v := messageView{
		ID: strconv.FormatInt(m.ID, 10), Out: m.Out, Text: linkTree(m.Text), At: m.Time, Edited: m.Edited,
	}
	if m.ReplyTo != 0 {
		v.ReplyTo = strconv.FormatInt(m.ReplyTo, 10)
	}
	if !m.Out {
		v.Plain = m.Text
	}
	for n, f := range m.Files {
		kind := map[string]string{"photo": "image", "sticker": "image", "graffiti": "image", "audio_message": "audio"}[f.Kind]
		file := fileView{Kind: cmp.Or(kind, "file"), What: f.Kind, Name: f.Name, Size: int64(f.Size)}
		if f.URL == "" {
			v.Others = append(v.Others, f.Kind)
			continue
		}
		file.URL = fileURL("vk", chat, m.ID, n)
		v.Files = append(v.Files, file)
	}
	if g := m.Geo; g != nil {
		v.Location = &locationView{g.Latitude, g.Longitude, strings.TrimSpace(g.Title + " " + g.Address)}
	}
	if m.Forwarded > 0 {
		v.Others = append(v.Others, "forwarded")
	}
	if m.Keyboard != nil && m.Keyboard.Inline {
		v.Buttons = vkButtons(m.Keyboard)
	}
	return v
}

func vkButtons(k *vk.Keyboard) [][]buttonView {
	var rows [][]buttonView
	for _, row := range k.Buttons {
		var buttons []buttonView
		for _, b := range row {
			v := buttonView{Label: b.Action.Label, Kind: "other", Color: b.Color}
			switch b.Action.Type {
			case "callback":
				v.Kind = "press"
			case "text":
				v.Kind = "text"
			case "open_link":
				v.Kind, v.URL = "link", safeURL(b.Action.Link)
			}
			buttons = append(buttons, v)
		}
		rows = append(rows, buttons)
	}
	return rows
}

func (p vkPhone) send(id int64, m outgoing) ([]int64, error) {
	c, err := p.customer(id)
	if err != nil {
		return nil, err
	}
	content := vk.Content{Text: m.text, ReplyTo: m.replyTo}
	if l := m.location; l != nil {
		content.Geo = &vk.Geo{Latitude: l.Latitude, Longitude: l.Longitude, Title: l.Title}
	}
	if m.contact != nil {
		return nil, fmt.Errorf("%w contact: VK has none", errInvalid)
	}
	for _, f := range m.files {
		content.Attachments = append(content.Attachments, p.attachment(id, m.as, f))
	}
	return []int64{c.Send(content)}, nil
}

func (p vkPhone) attachment(owner int64, as string, f upload) vk.Attachment {
	switch {
	case as == "voice":
		return p.Voice(owner, f.data, "")
	case as == "sticker":
		return p.Sticker(f.data)
	case as == "photo", as == "" && strings.HasPrefix(f.mime, "image/"):
		return p.Photo(owner, f.data)
	}
	return p.Doc(owner, f.name, f.data)
}

// edit changes the text. VK drops what an edit does not name, so the files are
// named again.
func (p vkPhone) edit(id, message int64, text string) error {
	c, err := p.customer(id)
	if err != nil {
		return err
	}
	content := vk.Content{Text: text}
	kinds := map[string]string{"photo": "photo", "audio_message": "voice", "sticker": "sticker", "doc": "document"}
	for _, m := range p.Chat(id) {
		if m.ID != message {
			continue
		}
		content.Geo = m.Geo
		for _, f := range m.Files {
			content.Attachments = append(content.Attachments, p.attachment(id, kinds[f.Kind], upload{name: f.Name, data: f.Data}))
		}
	}
	if c.Edit(message, content) != nil {
		return fmt.Errorf("message: %w", errNotFound)
	}
	return nil
}

func (p vkPhone) remove(id, message int64) error {
	c, err := p.customer(id)
	if err == nil {
		c.Delete(message)
	}
	return err
}

func (p vkPhone) press(id, message int64, where place) (answers, error) {
	c, err := p.customer(id)
	if err != nil {
		return nil, err
	}
	noButton := fmt.Errorf("button: %w", errNotFound)
	k, message := p.keyboard(id, message)
	if k == nil {
		return nil, noButton
	}
	b, ok := at(k.Buttons, where)
	switch {
	case ok && b.Action.Type == "callback":
		in, _, err := c.Press(message, b.Action.Label)
		if err != nil {
			return nil, noButton
		}
		return await(in, func(a vk.Answer) answerView { return answerView{Text: a.Text, URL: safeURL(a.Link)} }), nil
	case ok && b.Action.Type == "text":
		if _, err := c.Tap(b.Action.Label); err == nil {
			return nil, nil
		}
	}
	return nil, noButton
}

// keyboard gives the keyboard of a message, or for 0 the one below the input
// field with the newest message that carries one.
func (p vkPhone) keyboard(id, message int64) (*vk.Keyboard, int64) {
	var found *vk.Keyboard
	if message == 0 {
		found = p.Keyboard(id)
	}
	for _, m := range p.Chat(id) {
		switch {
		case m.Keyboard == nil:
		case m.ID == message:
			return m.Keyboard, m.ID
		case found != nil && !m.Keyboard.Inline:
			message = m.ID
		}
	}
	return found, message
}

func (p vkPhone) start(id int64, payload string) error {
	c, err := p.customer(id)
	if err == nil {
		c.Start(payload)
	}
	return err
}

func (p vkPhone) block(id int64, on bool) error {
	c, err := p.customer(id)
	switch {
	case err != nil:
		return err
	case on:
		c.Deny()
	default:
		c.Allow("sandbox")
	}
	return nil
}

func (p vkPhone) file(id, message int64, n int) (download, error) {
	for _, m := range p.Chat(id) {
		if m.ID == message && n >= 0 && n < len(m.Files) && m.Files[n].URL != "" {
			return download{name: m.Files[n].Name, body: bytes.NewReader(m.Files[n].Data)}, nil
		}
	}
	return download{}, fmt.Errorf("file: %w", errNotFound)
}
