package storm_test

import (
	"testing"

	"supportbot/functions/local/chaos/storm"
)

func TestBalance_Reviews(t *testing.T) {
	t.Parallel()
	review := func(kind, lane string, attempts, losses, resent int) func(*storm.Books) {
		return func(b *storm.Books) {
			b.Reviews = []storm.Review{{
				ID: 7, Kind: kind, Lane: lane, Attempts: attempts, Losses: losses, Resent: resent, Error: "no reason",
			}}
		}
	}
	const out, toVK = "out:telegram:109:5", "out:vk:209:5"
	spoilt{
		"a first failure":              {review("ticket.comment", "in:telegram:109:5", 1, 0, 0), "job 7, ticket.comment, waits for a person after 1 failures and 0 lost leases: no reason"},
		"a last failure but one":       {review("deliver.answer", out, 7, 4, 0), "after 7 failures and 4 lost leases"},
		"a message that went out once": {review("deliver.answer", out, 0, 0, 0), "job 7, deliver.answer"},
		"VK knows what it has":         {review("deliver.notice", toVK, 0, 0, 1), "job 7, deliver.notice"},
		"Tracker does, too":            {review("ticket.create", "in:telegram:109:5", 0, 0, 1), "job 7, ticket.create"},
	}.check(t)
	none := func(*storm.Balance) int { return 0 }
	excused{
		"it failed too often":    {review("ticket.comment", "in:vk:209:5", 8, 0, 0), none, 0},
		"it killed its workers":  {review("ticket.comment", "in:vk:209:5", 0, 5, 0), none, 0},
		"nobody knows, by twice": {review("deliver.answer", out, 0, 0, 1), none, 0},
	}.check(t)
}
