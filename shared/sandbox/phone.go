package sandbox

import (
	"io"
	"time"
)

// phone is a messenger in the customers' hands. Errors are errNotFound or
// errInvalid, wrapped.
type phone interface {
	bot() string // name
	people() []personView
	addPerson(newPerson) (id int64)
	chat(id int64) (chatView, bool)
	send(id int64, m outgoing) (messages []int64, err error)
	edit(id, message int64, text string) error
	remove(id, message int64) error
	// press presses the button below a message, or of the keyboard below the
	// input field when message is 0. Where the bot is to answer, answers waits
	// for it, else it is nil.
	press(id, message int64, at place) (answers, error)
	start(id int64, payload string) error
	block(id int64, on bool) error
	crowd() int                                 // how many were made up
	grow(n int) []Newcomer                      // makes up so many more
	search(words string, most int) []personView // in the crowd
	take(id int64) error                        // puts somebody of the crowd among people
	file(id, message int64, n int) (download, error)
	subscribe() (changes <-chan struct{}, cancel func())
}

// place is where a button is in its keyboard, from 0.
type place struct {
	Row    int `json:"row"`
	Column int `json:"column"`
}

// newPerson is a customer to be added.
type newPerson struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
	Language  string `json:"language"` // "ru", "en"
}

// outgoing is what a customer sends: a text with files, or a place, or a card.
type outgoing struct {
	text     string
	replyTo  int64
	as       string // "", "photo", "document", "voice", "sticker"; "" goes by the file
	files    []upload
	location *locationView
	contact  *contactView
}

// upload is a file on its way from the page.
type upload struct {
	name, mime string
	data       []byte
}

// download is a file on its way to the page.
type download struct {
	name, mime string
	body       io.Reader
}

// personView is a customer, as the list of customers shows them.
type personView struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Username string    `json:"username,omitempty"`
	Language string    `json:"language,omitempty"`
	State    state     `json:"state"`
	Last     string    `json:"last,omitempty"` // beginning of the newest message
	At       time.Time `json:"at,omitempty"`   // of the newest message
}

// state is how a customer and the bot stand.
type state string

const (
	unknown state = "new" // has never written
	open    state = "open"
	blocked state = "blocked"
)

// chatView is a chat on the customer's phone.
type chatView struct {
	Person   personView     `json:"person"`
	Bot      string         `json:"bot"`
	Keyboard [][]buttonView `json:"keyboard,omitempty"` // below the input field

	messages []messageView
}

// messageView is a message on the customer's phone.
type messageView struct {
	ID       string         `json:"id"`
	Out      bool           `json:"out"` // written by the bot
	Text     []node         `json:"text,omitempty"`
	Plain    string         `json:"plain,omitempty"` // of the customer's own, to be edited
	At       time.Time      `json:"at"`
	Edited   bool           `json:"edited,omitempty"`
	ReplyTo  string         `json:"reply_to,omitempty"`
	Forward  string         `json:"forward,omitempty"` // whose message it was
	Album    string         `json:"album,omitempty"`
	Files    []fileView     `json:"files,omitempty"`
	Buttons  [][]buttonView `json:"buttons,omitempty"`
	Location *locationView  `json:"location,omitempty"`
	Contact  *contactView   `json:"contact,omitempty"`
	Others   []string       `json:"others,omitempty"` // kinds of content that the page only names
}

type buttonView struct {
	Label string `json:"label"`
	Kind  string `json:"kind"` // "press", "link", "text", "other"
	URL   string `json:"url,omitempty"`
	Color string `json:"color,omitempty"` // "primary", "positive", "negative"
}

type fileView struct {
	Kind string `json:"kind"` // "image", "audio", "video", "file"
	What string `json:"what"` // the messenger's own word
	Name string `json:"name,omitempty"`
	Size int64  `json:"size,omitempty"` // bytes
	URL  string `json:"url,omitempty"`  // relative to the page; "": no bytes
}

type locationView struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Title     string  `json:"title,omitempty"`
}

type contactView struct {
	Name  string `json:"name"`
	Phone string `json:"phone"`
}

// answerView is what the bot did about a press.
type answerView struct {
	Text  string `json:"text,omitempty"`
	Alert bool   `json:"alert,omitempty"` // stays until it is closed
	URL   string `json:"url,omitempty"`
}

// at gives the button at a place of a keyboard.
func at[T any](keyboard [][]T, p place) (b T, ok bool) {
	if p.Row < 0 || p.Row >= len(keyboard) || p.Column < 0 || p.Column >= len(keyboard[p.Row]) {
		return b, false
	}
	return keyboard[p.Row][p.Column], true
}
