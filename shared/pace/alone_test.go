package pace

import (
	"fmt"
	"testing"
	"time"
)

// TestAlone_Forgets: chats at rest do not fill the memory of a process that
// broadcasts for hours.
func TestAlone_Forgets(t *testing.T) {
	t.Parallel()
	a, now, most := newAlone(1), time.Now(), 0
	for i := range 100_000 {
		key := fmt.Sprint("chat", i)
		a.reserve(now, []Limit{{Key: key, Rate: 1, Burst: 3}}, 0)
		a.pause(now, key, time.Second)
		now = now.Add(10 * time.Millisecond) // a hundred chats a second
		most = max(most, len(a.buckets)+len(a.pauses))
	}
	if most > 2*fewKeys {
		t.Errorf("%d keys at once, of which 200 are not at rest", most)
	}
}
