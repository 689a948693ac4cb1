package telegram

import (
	"context"
	"io"
	"time"
)

// File is a file in a message. A customer sends one by giving Kind, Name, MIME
// and Data; a Size above Data's makes it as large as that, with zeros.
type File struct {
	Kind string `json:"kind"` // "photo", "document", "video", "audio", "voice", "animation", "sticker", "video_note"
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size"` // bytes
	ID   string `json:"id"`   // file_id
	Data []byte `json:"-"`
}

func (f *File) held(s *Server) *file {
	return s.keep(&file{kind: f.Kind, name: f.Name, mime: f.MIME, data: f.Data, size: f.Size})
}

// Message is a message as people see it in the chat.
type Message struct {
	ID       int64      `json:"id"`
	From     int64      `json:"from"`
	Out      bool       `json:"out"` // written by the bot
	Text     string     `json:"text,omitempty"`
	Entities []Entity   `json:"entities,omitempty"`
	HTML     string     `json:"html,omitempty"` // Text with its formatting
	Time     time.Time  `json:"time"`
	Edited   bool       `json:"edited,omitempty"`
	ReplyTo  int64      `json:"reply_to,omitempty"`
	Forward  string     `json:"forward,omitempty"` // whose message it was
	Album    string     `json:"album,omitempty"`
	File     *File      `json:"file,omitempty"`
	Keyboard [][]Button `json:"keyboard,omitempty"`
	Location *Location  `json:"location,omitempty"`
	Contact  *Contact   `json:"contact,omitempty"`

	Extra map[string]any `json:"extra,omitempty"` // fields of Telegram's that have no name here
}

// Chat gives a chat as its people see it now, oldest first.
func (s *Server) Chat(id int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.chats[id]
	if ch == nil {
		return nil
	}
	var seen []Message
	for _, m := range ch.messages {
		if !m.deleted {
			seen = append(seen, s.view(m))
		}
	}
	return seen
}

func (s *Server) view(m *message) Message {
	v := Message{
		ID: m.id, From: s.sender(m).ID, Out: m.from == nil, Text: m.text, Entities: m.entities,
		HTML: HTML(m.text, m.entities), Time: m.date, Edited: !m.edited.IsZero(), Album: m.album,
		Keyboard: m.inline, Location: m.location, Contact: m.contact,
		Extra: m.extra,
	}
	if m.reply != nil {
		v.ReplyTo = m.reply.id
	}
	if f := m.forward; f != nil {
		v.Forward = f.Name
		if f.User != nil {
			v.Forward = f.User.name()
		}
	}
	if f := m.media; f != nil {
		v.File = &File{Kind: f.kind, Name: f.name, MIME: f.mime, Size: f.size, ID: f.id, Data: f.data}
	}
	return v
}

// Open gives a file and a reader of its bytes.
func (s *Server) Open(fileID string) (File, io.Reader, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[fileID]
	if f == nil {
		return File{}, nil, false
	}
	return File{Kind: f.kind, Name: f.name, MIME: f.mime, Size: f.size, ID: f.id, Data: f.data}, f.reader(), true
}

// Keyboard gives the labels of the ordinary keyboard below the input field.
func (s *Server) Keyboard(id int64) [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.chats[id]; ch != nil {
		return ch.keyboard
	}
	return nil
}

// Subscribe gives a channel that gets a value after each change of any chat;
// changes in quick succession may share one. The caller calls cancel in the end.
func (s *Server) Subscribe() (changes <-chan struct{}, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := make(chan struct{}, 1)
	s.watchers[ch] = true
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, ch)
	}
}

// Wait blocks until ok holds for a chat, or ctx ends.
func (s *Server) Wait(ctx context.Context, id int64, ok func([]Message) bool) error {
	changes, cancel := s.Subscribe()
	defer cancel()
	for !ok(s.Chat(id)) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changes:
		}
	}
	return nil
}

// changed tells the watchers; callers hold s.mu.
func (s *Server) changed() {
	for ch := range s.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
