package dialog

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"

	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// The data of a button is fields between colons, ASCII, at most 64 bytes:
//
//	m:<action>                     menu
//	f:<form>:<step>:<verb>[:<arg>] form; the step makes presses on earlier prompts visible
//	a:<ask>:<verb>[:<arg>]         question about waiting messages
//	v:<page>:<number> | v:o:<ref> | v:h:<ref>:<number>
//	t:<verb>:<ref>                 a ticket
//	r:<ref>:<score>                rating; 0 = no remark
//	s:<setting>:<value>            settings, language
//	u:<setting>                    no more broadcasts of a kind, below one of them
//	e:<verb>                       erasure of what is known of the customer
const (
	labelLimit = 40 // VK's; Telegram allows more
	pageRows   = 5  // VK: six rows below a message, one of them to turn pages
)

func data(fields ...string) string { return strings.Join(fields, ":") }

func button(label string, fields ...string) messenger.Button {
	return messenger.Button{Label: line(label, labelLimit), Data: data(fields...)}
}

// RateButtons asks for a rating of a ticket that was resolved. A delivery puts
// them below the news.
func RateButtons(ref ticket.Ref, locale string) messenger.Keyboard {
	var row []messenger.Button
	for score := 1; score <= 5; score++ {
		n := strconv.Itoa(score)
		row = append(row, button(Text(locale, "button.score", "n", n), "r", ref.String(), n))
	}
	return messenger.Keyboard{row}
}

// ReopenButton takes a resolved ticket back to work. Deliveries may add it.
func ReopenButton(ref ticket.Ref, locale string) messenger.Button {
	return button(Text(locale, "button.reopen"), "t", "re", ref.String())
}

// TicketButton opens the page of a ticket. Deliveries may add it.
func TicketButton(ref ticket.Ref, locale string) messenger.Button {
	return button(Text(locale, "button.ticket"), "v", "o", ref.String())
}

// MenuKeyboard is the main menu.
func MenuKeyboard(locale string) messenger.Keyboard {
	b := func(action string) messenger.Button { return button(Text(locale, "menu."+action), "m", action) }
	return messenger.Keyboard{
		{b("new")},
		{b("tickets"), b("history")},
		{b("settings"), b("lang")},
		{b("help")},
	}
}

// turnRow is the row that turns pages; nil when there is only one.
func turnRow(locale string, page, pages int, fields ...string) []messenger.Button {
	var row []messenger.Button
	to := func(key string, n int) {
		row = append(row, button(Text(locale, key), append(fields[:len(fields):len(fields)], strconv.Itoa(n))...))
	}
	if page > 0 {
		to("button.previous", page-1)
	}
	if page < pages-1 {
		to("button.next", page+1)
	}
	return row
}

// window gives the part of n items on a page of size, the page clamped to what
// there is.
func window(n, size, page int) (from, to, number, pages int) {
	pages = max(1, (n+size-1)/size)
	number = min(max(0, page), pages-1)
	from = number * size
	return from, min(n, from+size), number, pages
}

// parseRef reads a ref out of a button; buttons can be forged.
func parseRef(s string) (ticket.Ref, bool) {
	r, ok := ticket.ParseRef(s)
	if !ok || len(s) > 40 || strings.IndexFunc(s, notAlnum) >= 0 {
		return ticket.Ref{}, false
	}
	return r, true
}

func notAlnum(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// shortID derives an id of n characters from the key of the event that started
// what it names, so that the same event always starts the same.
func shortID(what, key string, n int) string {
	sum := sha256.Sum256([]byte(what + "\x00" + key))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:n]
}
