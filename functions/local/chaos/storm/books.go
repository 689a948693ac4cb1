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
	Said    []Said           // what customers wrote, by the messengers' conversations
	Brought []Brought        // what messengers' calls brought
	Forms   []Form           // what customers filled in
	Ratings []Rating         // what customers were thanked for
	Tickets []Ticket         // of the tracker
	Written []Written        // what agents wrote and did
	Chats   map[string][]Got // what customers have, by address
	News    []News           // broadcasts that were asked for
	Copies  []Copy           // of broadcasts, by our tables
	Calls   []Call           // of the platform, to messengers and Tracker
	Places  []Place          // that the limiter gave, by Redis' clock
	Alone   []Alone          // when a process went on without the limiter
	Struck  time.Time        // when the calm was over; zero: there was none
	Wipes   []time.Time      // when Redis was emptied
	Crashes []time.Time      // when a process or Postgres was ended or stood still
	Thaws   []Thaw           // when a frozen process went on
	Jobs    []Listed         // deliveries that are uncertain or wait for a person, by our tables
	Reviews []Review         // jobs that wait for a person, by our tables
	Held    []string         // payloads of jobs in review, and of those that wait for one
	Letters []Letter         // messages that the queue gave up
	Spilled []string         // lines of logs and errors of jobs with what must not be there
	Litter  []string         // files in the processes' temporary folders
	Unmet   []string         // faults that were injected and that nothing met
}

// Got is a message of the bot's as its customer has it.
type Got struct {
	ID    int64
	Text  string // the names of its files behind it
	At    time.Time
	label map[string]string // of buttons: what pressing them takes
}

// Thaw is a process that went on after it had been frozen.
type Thaw struct {
	Process int
	At      time.Time
}

// Alone is a time in which a process kept to a share of its own, since it could not ask
// the limiter.
type Alone struct{ From, To time.Time }

// Listed is a delivery that may have come twice, or waits for a person.
type Listed struct {
	Key    string
	Review bool
	Resent bool
}

var token = regexp.MustCompile(`[SDMRAIFB]\d+N\d+E`)

// tokens lists what is found in a text.
func tokens(text string) []string { return token.FindAllString(text, -1) }

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
		if ok && d.Job != "" && (rest == "" || rest[0] == ':') {
			l.Review, l.Resent = l.Review || one.Review, l.Resent || one.Resent
		}
	}
	return l
}

// within reports whether one of some moments is so shortly before or after another.
func within(moments []time.Time, t time.Time, before, after time.Duration) bool {
	for _, m := range moments {
		if !m.Before(t.Add(-before)) && !m.After(t.Add(after)) {
			return true
		}
	}
	return false
}
