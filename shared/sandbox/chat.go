package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// patience is how long the page waits for the bot's answer to a press. A client
// of Telegram's waits about as long.
const patience = 20 * time.Second

// previewMost is the length of a message's beginning in lists, in characters.
const previewMost = 80

// head is the beginning of a text, in one line.
func head(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= previewMost {
		return text
	}
	return string([]rune(text)[:previewMost]) + "…"
}

// peoplePane is the customers of one messenger.
func (s *Sandbox) peoplePane(messenger string) (pane, error) {
	p, ok := s.phones[messenger]
	if !ok {
		return pane{}, fmt.Errorf("messenger: %w", errNotFound)
	}
	v := pane{head: messengerView{ID: messenger, Bot: p.bot(), Crowd: p.crowd()}}
	for _, person := range p.people() {
		v.items = append(v.items, item{person.ID, person})
	}
	return v, nil
}

// chatPane is one customer's chat.
func (s *Sandbox) chatPane(messenger, id string) (pane, error) {
	p, ok := s.phones[messenger]
	if !ok {
		return pane{}, fmt.Errorf("messenger: %w", errNotFound)
	}
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return pane{}, fmt.Errorf("chat: %w", errNotFound)
	}
	chat, ok := p.chat(number)
	if !ok {
		return pane{}, fmt.Errorf("chat: %w", errNotFound)
	}
	chat.Person.Last, chat.Person.At = "", time.Time{} // the messages tell
	v := pane{head: chat}
	for _, m := range chat.messages {
		v.items = append(v.items, item{m.ID, m})
	}
	return v, nil
}

// target is what the path of an action names.
type target struct {
	phone   phone
	chat    int64
	message int64
}

func (s *Sandbox) target(r *http.Request) (target, error) {
	t := target{phone: s.phones[r.PathValue("messenger")]}
	if t.phone == nil {
		return t, fmt.Errorf("messenger: %w", errNotFound)
	}
	for name, id := range map[string]*int64{"chat": &t.chat, "message": &t.message} {
		text := r.PathValue(name)
		if text == "" {
			continue
		}
		var err error
		if *id, err = strconv.ParseInt(text, 10, 64); err != nil {
			return t, fmt.Errorf("%s: %w", name, errNotFound)
		}
	}
	return t, nil
}

// addPerson takes a newPerson and answers with the id.
func (s *Sandbox) addPerson(r *http.Request) (any, error) {
	t, err := s.target(r)
	if err != nil {
		return nil, err
	}
	var n newPerson
	if err := decode(r, &n); err != nil {
		return nil, err
	}
	n.FirstName, n.LastName = strings.TrimSpace(n.FirstName), strings.TrimSpace(n.LastName)
	n.Username = strings.TrimPrefix(strings.TrimSpace(n.Username), "@")
	if n.FirstName == "" || len(n.FirstName+n.LastName+n.Username) > 256 {
		return nil, fmt.Errorf("%w name: a first name is needed, and nothing too long", errInvalid)
	}
	id := t.phone.addPerson(n)
	s.changed()
	return map[string]string{"id": strconv.FormatInt(id, 10)}, nil
}

// sendMessage takes a form with text, reply_to, as and files "file"; or, with
// neither text nor files, the JSON of a location or contact.
func (s *Sandbox) sendMessage(r *http.Request) (any, error) {
	t, err := s.target(r)
	if err != nil {
		return nil, err
	}
	m, err := readOutgoing(r)
	if err != nil {
		return nil, err
	}
	sent, err := t.phone.send(t.chat, m)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(sent))
	for n, id := range sent {
		ids[n] = strconv.FormatInt(id, 10)
	}
	return map[string][]string{"ids": ids}, nil
}

func (s *Sandbox) editMessage(r *http.Request) (any, error) {
	t, err := s.target(r)
	if err != nil {
		return nil, err
	}
	var body struct {
		Text string `json:"text"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	if strings.TrimSpace(body.Text) == "" {
		return nil, fmt.Errorf("%w text: it is empty", errInvalid)
	}
	return nil, t.phone.edit(t.chat, t.message, body.Text)
}

func (s *Sandbox) deleteMessage(r *http.Request) (any, error) {
	t, err := s.target(r)
	if err != nil {
		return nil, err
	}
	return nil, t.phone.remove(t.chat, t.message)
}

// press takes {"message", "row", "column"}; an empty message is the keyboard
// below the input field. It answers when the bot did.
func (s *Sandbox) press(r *http.Request) (any, error) {
	t, err := s.target(r)
	if err != nil {
		return nil, err
	}
	var body struct {
		place
		Message string `json:"message"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	if body.Message != "" {
		if t.message, err = strconv.ParseInt(body.Message, 10, 64); err != nil {
			return nil, fmt.Errorf("message: %w", errNotFound)
		}
	}
	wait, err := t.phone.press(t.chat, t.message, body.place)
	if err != nil || wait == nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	a, ok := wait(ctx)
	return pressed{Silent: !ok, Answer: a}, nil
}

// pressed says how a press ended.
type pressed struct {
	Silent bool       `json:"silent,omitempty"` // the bot did not answer in time
	Answer answerView `json:"answer"`
}

// answers waits for the bot's answer to a press, until the context ends.
type answers func(context.Context) (answerView, bool)

// await makes answers of a server's channel.
func await[T any](in <-chan T, view func(T) answerView) answers {
	return func(ctx context.Context) (answerView, bool) {
		select {
		case a := <-in:
			return view(a), true
		case <-ctx.Done():
			return answerView{}, false
		}
	}
}

func (s *Sandbox) start(r *http.Request) (any, error) {
	t, err := s.target(r)
	if err != nil {
		return nil, err
	}
	var body struct {
		Payload string `json:"payload"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	if len(body.Payload) > 512 || strings.ContainsAny(body.Payload, " \n\t") {
		return nil, fmt.Errorf("%w payload: at most 512 bytes without spaces", errInvalid)
	}
	return nil, t.phone.start(t.chat, body.Payload)
}

func (s *Sandbox) block(r *http.Request) (any, error) {
	t, err := s.target(r)
	if err != nil {
		return nil, err
	}
	var body struct {
		On bool `json:"on"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	err = t.phone.block(t.chat, body.On)
	s.changed()
	return nil, err
}
