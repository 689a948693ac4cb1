package broadcast

import (
	"time"

	"supportbot/shared/messenger"
)

// StaleClaim is how old a claim of another run has to be for that run to be dead:
// no call takes so long.
const StaleClaim = 60 * time.Second

// Bots are the bots that can send, one in each messenger.
type Bots map[messenger.Name]string

// Plan is what planning needs to know.
type Plan struct {
	Broadcast Broadcast
	Bots      Bots
	// Tickets are the chats with an open ticket; only if the audience asks.
	Tickets []messenger.Address
	Job     int64 // the planning job and its lease
	Token   string
}
