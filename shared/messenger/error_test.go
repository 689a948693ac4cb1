package messenger_test

import (
	"errors"
	"testing"
	"time"

	"supportbot/shared/messenger"
)

// Only what a messenger itself said may pause the others.
func TestError_Refused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  messenger.Error
		want bool
	}{
		"Telegram":   {messenger.Error{Kind: messenger.RateLimited, Code: 429, RetryAfter: time.Second}, true},
		"VK":         {messenger.Error{Kind: messenger.RateLimited, Code: 6}, true},
		"our limits": {messenger.Error{Kind: messenger.RateLimited, RetryAfter: time.Second, Err: errors.New("no place")}, false},
		"another":    {messenger.Error{Kind: messenger.Temporary, Code: 500}, false},
	} {
		if got := tt.err.Refused(); got != tt.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
