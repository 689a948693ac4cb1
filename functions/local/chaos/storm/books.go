package storm

import (
	"regexp"
	"strings"
	"time"
)

// Books are what the stand-ins have on record, what people meant to say, and which
// differences the platform admits. Who said what is known by tokens within the texts,
// like M12N7E: what it is, who said it, how much was said before.
//
//	S  subject of a form          D  description in a form
//	M  message to a ticket        R  remark with a rating
//	A  answer to a customer       I  note for colleagues
//	F  file of an answer          B  broadcast
type Books struct {
	Said    []Said           // what the platform took: its webhook said 200
	Forms   []Form           // what customers filled in
	Tickets []Ticket         // of the tracker
	Written []Written        // what agents wrote and did
	Chats   map[string][]Got // what customers have, by address
	Copies  []Copy           // of broadcasts, by our tables
	Sends   []Send           // calls that wrote to somebody
	Wipes   []time.Time      // when Redis was emptied
	Thaws   []time.Time      // when a frozen process went on
	Jobs    []Listed         // deliveries that are uncertain or wait for a person, by our tables
	Held    []string         // payloads of jobs in review, and of those that wait for one
	Spilled []string         // lines of logs and errors of jobs with what must not be there
}

// Said is a message of a customer's.
type Said struct {
	Token  string
	Chat   string
	Number int64 // the messenger's, in the order in which it was written
	At     time.Time
}

// Form is a form that a customer began.
type Form struct {
	Chat    string
	Subject string
	Parts   []string
}

// Ticket is a ticket with everything that was written in it, the description first.
type Ticket struct {
	Key     string
	Chat    string
	Summary string
	Entries []Entry
}

// Entry is a description or a comment.
type Entry struct {
	Text string
	At   time.Time
}

// late is in entries that say themselves that they came late.
const late = "пришло позже"

// Written is what an agent did that concerns a customer, or must not.
type Written struct {
	Kind     string // "answer", "file", "status", "inside"
	Token    string
	And      string // what the message has besides
	Chat     string
	Job      string // how the keys of its deliveries begin
	At       time.Time
	Replaced bool // by a newer version: the customer may have it no more
	Loose    bool // it has no place in the order of the others
}

// Copy is a recipient of a broadcast.
type Copy struct {
	Token   string
	Chat    string
	Outcome string // "": none yet
}

// Send is a call that wrote to a chat.
type Send struct {
	Chat string
	At   time.Time
}

// Listed is a delivery that may have come twice, or waits for a person.
type Listed struct {
	Key    string
	Review bool
	Resent bool
}

var token = regexp.MustCompile(`[SDMRAIFB]\d+N\d+E`)

// tokens lists what is found in a text.
func tokens(text string) []string { return token.FindAllString(text, -1) }

// index says where each token is.
type index map[string][]place

type place struct{ ticket, entry int }

func (b *Books) index() index {
	where := index{}
	for i, k := range b.Tickets {
		for _, t := range tokens(k.Summary) {
			where[t] = append(where[t], place{i, -1})
		}
		for j, e := range k.Entries {
			for _, t := range tokens(e.Text) {
				where[t] = append(where[t], place{i, j})
			}
		}
	}
	return where
}

// held reports whether a token is in a job that waits for a person.
func (b *Books) held(token string) bool {
	for _, payload := range b.Held {
		if strings.Contains(payload, token) {
			return true
		}
	}
	return false
}

// listed says what the platform admits of a delivery.
func (b *Books) listed(d Written) (l Listed) {
	for _, one := range b.Jobs {
		rest, ok := strings.CutPrefix(one.Key, d.Job)
		if ok && d.Job != "" && (rest == "" || rest[0] == ':' || strings.HasSuffix(d.Job, ":")) {
			l.Review, l.Resent = l.Review || one.Review, l.Resent || one.Resent
		}
	}
	return l
}

// questions are what the bot says about messages that it leaves with the customer, when
// it has forgotten what they were about.
var questions = []string{
	"Открытых обращений нет", "Обращение недавно решено", "К какому относится", "Форма устарела", "Сообщение не отправлено", "больше не действует",
}

// asked reports whether the customer was told, after a message, that it went nowhere;
// only a memory that was wiped excuses that.
func (b *Books) asked(s Said) bool {
	if len(b.Wipes) == 0 || s.At.Add(formLife).Before(b.Wipes[0]) {
		return false
	}
	for _, m := range b.Chats[s.Chat] {
		if m.At.Before(s.At.Add(-time.Second)) { // the messengers' times have no fractions
			continue
		}
		for _, q := range questions {
			if strings.Contains(m.Text, q) {
				return true
			}
		}
	}
	return false
}

// formLife is how long after a message its form may still be lost.
const formLife = 2 * time.Minute
