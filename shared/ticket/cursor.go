package ticket

import "time"

// Cursor is how far the news of an issue have been read. The two ids stay behind
// the newest entry, because Tracker's listings lag; Recent names what was handled
// beyond them.
type Cursor struct {
	Issue    string    // immutable id
	StartsAt time.Time // nothing older goes to the customer
	Comment  string    // id of the last comment that is surely passed
	Change   string    // id of the last changelog entry that is surely passed
	Recent   []string  // "c<comment id>" and "h<change id>"
	Resolved bool      // it was when its news were read
}

// Sent is what the customer has of an agent's reply.
type Sent struct {
	Issue    string
	Comment  string
	Version  int64    // of the comment
	Messages []string // ids of the messages with its text, in order
	Files    []string // ids of the attachments that were sent
}
