package storm_test

import (
	"testing"

	"supportbot/functions/local/chaos/storm"
)

func TestBalance_Apart(t *testing.T) {
	t.Parallel()
	spoilt{
		"an answer comes to somebody else, too": {
			func(b *storm.Books) { tell(b, maria, "Ответ: A1N6E", at(10)) }, "A1N6E, which is somebody else's, went to " + maria,
		},
		"...as a file": {
			func(b *storm.Books) { tell(b, maria, "F1N6E.txt", at(10)) }, "F1N6E, which is somebody else's, went to " + maria,
		},
		"...and was taken back": {
			func(b *storm.Books) { b.Calls[2].Text = "B0N1E A1N6E" }, "A1N6E, which is somebody else's, went to " + maria,
		},
		"somebody else's list of tickets": {
			func(b *storm.Books) { tell(b, ivan, "Ваши обращения: S2N1E", at(10)) }, "S2N1E, which is somebody else's, went to " + ivan,
		},
		"what somebody else has written is shown": {
			func(b *storm.Books) { tell(b, ivan, "Вы: M2N2E", at(10)) }, "M2N2E, which is somebody else's, went to " + ivan,
		},
		"a description is in somebody else's ticket": {
			func(b *storm.Books) {
				b.Tickets[0].Entries[0].Text, b.Tickets[1].Entries[0].Text = "", "D1N2E"
				b.Said[1].File, b.Tickets[0].Files = "", b.Tickets[0].Files[1:]
			}, "D1N2E, which is somebody else's, is in SUP-2",
		},
		"a form has somebody else's name": {
			func(b *storm.Books) { b.Tickets[1].Chat, b.Tickets[1].Entries[1].Text, b.Said = ivan, "", b.Said[:5] },
			"S2N1E, which is somebody else's, is in SUP-2",
		},
		"a photo is in somebody else's ticket, too": {
			func(b *storm.Books) { b.Tickets[1].Files = []string{"photo 4"} }, "the file of M1N4E, which is somebody else's, is in SUP-2",
		},
	}.check(t)
}
