package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"supportbot/shared/sandbox/telegram"
)

// telegramPhone is the phone in Telegram.
type telegramPhone struct{ *telegram.Server }

// maxCaption is what fits below a file (core.telegram.org/bots/api#sendphoto),
// in UTF-16 code units; a client sends a longer text on its own.
const maxCaption = 1024

func (p telegramPhone) bot() string { return p.Bot().FirstName }

func (p telegramPhone) subscribe() (<-chan struct{}, func()) { return p.Subscribe() }

func (p telegramPhone) people() []personView {
	var list []personView
	for _, u := range p.People() {
		list = append(list, p.person(u))
	}
	return list
}

func (p telegramPhone) person(u telegram.Person) personView {
	v := personView{
		ID: strconv.FormatInt(u.ID, 10), Name: strings.TrimSpace(u.FirstName + " " + u.LastName),
		Username: u.Username, Language: u.Language, State: open,
	}
	chat := p.Chat(u.ID)
	switch {
	case u.Blocked:
		v.State = blocked
	case len(chat) == 0 && !u.Started:
		v.State = unknown
	}
	if len(chat) > 0 {
		last := chat[len(chat)-1]
		v.Last, v.At = head(last.Text), last.Time
	}
	return v
}

func (p telegramPhone) addPerson(n newPerson) int64 {
	return p.Customer(telegram.User{
		FirstName: n.FirstName, LastName: n.LastName, Username: n.Username, Language: n.Language,
	}).ID()
}

func (p telegramPhone) crowd() int { return p.CrowdSize() }

func (p telegramPhone) grow(n int) (list []Newcomer) {
	for _, u := range p.Crowd(n) {
		list = append(list, Newcomer{ID: u.ID, Name: u.FirstName + " " + u.LastName, Username: u.Username, Language: u.Language})
	}
	return list
}

func (p telegramPhone) search(words string, most int) (found []personView) {
	for _, u := range p.FindInCrowd(words, most) {
		if now, ok := p.Person(u.ID); ok {
			found = append(found, p.person(now))
		}
	}
	return found
}

func (p telegramPhone) take(id int64) error {
	_, err := p.customer(id)
	return err
}

// customer gives the hand that holds the phone.
func (p telegramPhone) customer(id int64) (*telegram.Customer, error) {
	u, ok := p.Person(id)
	if !ok {
		return nil, fmt.Errorf("customer: %w", errNotFound)
	}
	return p.Customer(u.User), nil
}

func (p telegramPhone) chat(id int64) (chatView, bool) {
	person, ok := p.Person(id)
	if !ok {
		return chatView{}, false
	}
	v := chatView{Person: p.person(person), Bot: p.bot()}
	for _, row := range p.Keyboard(id) {
		var labels []buttonView
		for _, label := range row {
			labels = append(labels, buttonView{Label: label, Kind: "text"})
		}
		v.Keyboard = append(v.Keyboard, labels)
	}
	for _, m := range p.Chat(id) {
		v.messages = append(v.messages, p.view(id, m))
	}
	return v, true
}

func (p telegramPhone) view(chat int64, m telegram.Message) messageView {
	v := messageView{
		ID: strconv.FormatInt(m.ID, 10), Out: m.Out, Text: entityTree(m.Text, m.Entities), At: m.Time,
		Edited: m.Edited, Forward: m.Forward, Album: m.Album,
	}
	if m.ReplyTo != 0 {
		v.ReplyTo = strconv.FormatInt(m.ReplyTo, 10)
	}
	if !m.Out {
		v.Plain = m.Text
	}
	if f := m.File; f != nil {
		kind := map[string]string{"photo": "image", "sticker": "image", "voice": "audio", "audio": "audio",
			"video": "video", "animation": "video", "video_note": "video"}[f.Kind]
		v.Files = []fileView{{
			Kind: cmp.Or(kind, "file"), What: f.Kind, Name: f.Name, Size: f.Size, URL: fileURL("telegram", chat, m.ID, 0),
		}}
	}
	if l := m.Location; l != nil {
		v.Location = &locationView{l.Latitude, l.Longitude, strings.TrimSpace(l.Title + " " + l.Address)}
	}
	if c := m.Contact; c != nil {
		v.Contact = &contactView{strings.TrimSpace(c.FirstName + " " + c.LastName), c.Phone}
	}
	for key := range m.Extra {
		v.Others = append(v.Others, key)
	}
	slices.Sort(v.Others)
	for _, row := range m.Keyboard {
		var buttons []buttonView
		for _, b := range row {
			buttons = append(buttons, telegramButton(b))
		}
		v.Buttons = append(v.Buttons, buttons)
	}
	return v
}

func telegramButton(b telegram.Button) buttonView {
	v := buttonView{Label: b.Text, Kind: "other"}
	v.Color = map[string]string{"primary": "primary", "success": "positive", "danger": "negative"}[b.Style]
	switch {
	case b.Data != "":
		v.Kind = "press"
	case b.URL != "":
		v.Kind, v.URL = "link", safeURL(b.URL)
	}
	return v
}

func (p telegramPhone) send(id int64, m outgoing) ([]int64, error) {
	c, err := p.customer(id)
	if err != nil {
		return nil, err
	}
	var sent []int64
	switch {
	case m.location != nil:
		l := telegram.Location{Latitude: m.location.Latitude, Longitude: m.location.Longitude, Title: m.location.Title}
		return append(sent, c.Send(telegram.Content{Location: &l, ReplyTo: m.replyTo})), nil
	case m.contact != nil:
		card := telegram.Contact{Phone: m.contact.Phone, FirstName: m.contact.Name, UserID: id}
		return append(sent, c.Send(telegram.Content{Contact: &card, ReplyTo: m.replyTo})), nil
	case len(m.files) == 0 && m.replyTo == 0:
		return append(sent, c.Write(m.text)), nil
	case len(m.files) == 0:
		return append(sent, c.Send(telegram.Content{Text: m.text, ReplyTo: m.replyTo})), nil
	}
	caption := m.text
	if len(utf16of(caption)) > maxCaption {
		caption = ""
	}
	album := ""
	if len(m.files) > 1 {
		album = p.NewAlbum()
	}
	for _, f := range m.files {
		sent = append(sent, c.Send(telegram.Content{Text: caption, File: telegramFile(m.as, f), ReplyTo: m.replyTo, Album: album}))
		caption = ""
	}
	if len(utf16of(m.text)) > maxCaption {
		sent = append(sent, c.Write(m.text))
	}
	return sent, nil
}

func telegramFile(as string, f upload) *telegram.File {
	kind := as
	if kind == "" {
		switch family, _, _ := strings.Cut(f.mime, "/"); family {
		case "image":
			kind = "photo"
		case "video", "audio":
			kind = family
		default:
			kind = "document"
		}
	}
	return &telegram.File{Kind: kind, Name: f.name, MIME: f.mime, Data: f.data, Size: int64(len(f.data))}
}

func (p telegramPhone) edit(id, message int64, text string) error {
	c, err := p.customer(id)
	if err != nil {
		return err
	}
	if c.Edit(message, telegram.Content{Text: text}) != nil {
		return fmt.Errorf("message: %w", errNotFound)
	}
	return nil
}

func (p telegramPhone) remove(id, message int64) error {
	c, err := p.customer(id)
	if err == nil {
		c.Delete(message)
	}
	return err
}

func (p telegramPhone) press(id, message int64, where place) (answers, error) {
	c, err := p.customer(id)
	if err != nil {
		return nil, err
	}
	noButton := fmt.Errorf("button: %w", errNotFound)
	if message == 0 {
		label, ok := at(p.Keyboard(id), where)
		if _, err := c.Tap(label); !ok || err != nil {
			return nil, noButton
		}
		return nil, nil
	}
	for _, m := range p.Chat(id) {
		if b, ok := at(m.Keyboard, where); m.ID == message && ok && b.Data != "" {
			in, _, err := c.Press(message, b.Data)
			if err != nil {
				return nil, noButton
			}
			return await(in, func(a telegram.Answer) answerView {
				return answerView{Text: a.Text, Alert: a.Alert, URL: safeURL(a.URL)}
			}), nil
		}
	}
	return nil, noButton
}

func (p telegramPhone) start(id int64, payload string) error {
	c, err := p.customer(id)
	if err == nil {
		c.Start(payload)
	}
	return err
}

func (p telegramPhone) block(id int64, on bool) error {
	c, err := p.customer(id)
	switch {
	case err != nil:
		return err
	case on:
		c.Block()
	default:
		c.Unblock()
	}
	return nil
}

func (p telegramPhone) file(id, message int64, n int) (download, error) {
	for _, m := range p.Chat(id) {
		if m.ID != message || m.File == nil || n != 0 {
			continue
		}
		if f, body, ok := p.Open(m.File.ID); ok {
			return download{f.Name, f.MIME, body}, nil
		}
	}
	return download{}, fmt.Errorf("file: %w", errNotFound)
}
