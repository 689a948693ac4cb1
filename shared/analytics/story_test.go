package analytics_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/analytics"
)

func TestTell(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 10, minute, 0, 0, time.UTC) }
	status := func(minute int, key string, phase analytics.Phase) analytics.Event {
		return analytics.Event{Kind: analytics.Status, At: at(minute), After: key, AfterPhase: phase}
	}
	stay := func(minute int, key string, phase analytics.Phase) analytics.Stay {
		return analytics.Stay{Status: key, Phase: phase, Since: at(minute)}
	}
	for name, tc := range map[string]struct {
		events []analytics.Event
		want   analytics.Story
	}{
		"nothing": {},
		"the first answer that is there": {[]analytics.Event{
			{Kind: analytics.CommentInside, At: at(1)}, {Kind: analytics.CommentOut, At: at(2), Deleted: true},
			{Kind: analytics.CommentOut, At: at(4)}, {Kind: analytics.CommentOut, At: at(3)},
		}, analytics.Story{AnsweredAt: at(3)}},
		"the last rating that is one": {[]analytics.Event{
			{Kind: analytics.Rating, At: at(1), After: "5"}, {Kind: analytics.Rating, At: at(2), After: "3"}, {Kind: analytics.Rating, At: at(3)},
		}, analytics.Story{RatedAt: at(2)}},
		"the path": {[]analytics.Event{
			status(0, "open", analytics.New), status(5, "resolved", analytics.Done), {Kind: analytics.Reopened, At: at(6)}, status(6, "strange", ""),
			status(3, "a", analytics.InProgress), status(3, "b", analytics.InProgress),
		}, analytics.Story{Path: []analytics.Stay{
			stay(0, "open", analytics.New), stay(3, "a", analytics.InProgress), stay(3, "b", analytics.InProgress), stay(5, "resolved", analytics.Done), stay(6, "strange", ""),
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, analytics.Tell(tc.events)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
