package storm

import (
	"strings"
	"time"
)

// phone is a customer's, in either messenger.
type phone interface {
	address() string // "telegram:3300000000001"
	write(text string)
	photo(caption string)
	// start opens the chat by a link to a category.
	start(payload string)
	// press presses the newest button whose label contains the text, and gives the id
	// of that; "" if there is none.
	press(label string) string
	// got gives the bot's messages, oldest first; said those of the customer.
	got() []Got
	said() []wrote
}

// wrote is a message of a customer's.
type wrote struct {
	ID   int64
	Text string
	At   time.Time
	File string // bytes
}

// picture is the smallest file that passes for a photo.
const picture = "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9"

// photo is another one for each caption.
func photo(caption string) []byte { return []byte(picture + caption) }

// Numbers of customers begin here: above what fits into 32 bits in Telegram, as real
// ones may be.
const (
	firstTelegram = 3_300_000_000_000
	firstVK       = 4_400_000
)

// newest finds the newest button whose label contains a text.
func newest(all []Got, text string) (id int64, label, data string) {
	for i := len(all) - 1; i >= 0; i-- {
		for label, data := range all[i].label {
			if strings.Contains(label, text) {
				return all[i].ID, label, data
			}
		}
	}
	return 0, "", ""
}

// last is the number of the newest message.
func last(all []Got) int64 {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].ID
}
