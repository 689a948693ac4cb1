package dialog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"supportbot/shared/catalogue"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

const (
	historyRows = 5
	historyText = 600             // of one entry, UTF-16 units: a page fits into one message
	staleAfter  = 5 * time.Minute // an older list says how old it is
	timeFormat  = "02.01.2006 15:04"
)

// Data is what a page shows.
type Data struct {
	Catalogue    *catalogue.Catalogue
	Now          time.Time
	Zone         *time.Location // of the times shown; nil = UTC
	Tickets      Tickets
	History      []ticket.Entry // oldest first, for PageHistory
	HistoryKnown bool
	Access       Access
}

// Access is what the pages of codes show. Known is false while the stores are away.
type Access struct {
	Known  bool
	Code   string // of PageLink
	Linked string // of PageLinked: "done", "unknown", "same"
	URL    string // of PageConsole; "": there is no way in for this person
}

// Owns reports whether the page's ticket is in the customer's list. A button can
// be forged, so nothing is read for a ticket that is not.
func (p Page) Owns(k Tickets) bool {
	return k.find(p.Ref) != nil || Tickets{List: p.Opened}.find(p.Ref) != nil
}

// Render gives a page as a message: at most 4,096 UTF-16 units, six rows and ten
// buttons. It is pure.
func Render(p Page, d Data) (string, messenger.Keyboard) {
	r := renderer{p, d}
	if d.Zone == nil {
		r.d.Zone = time.UTC
	}
	if p.access() {
		return r.access()
	}
	if !d.Tickets.Known && (len(p.Opened) == 0 || p.Ref != (ticket.Ref{}) && !p.Owns(d.Tickets)) {
		return r.say("page.unavailable"), messenger.Keyboard{{button(r.say("button.retry"), p.data()...), r.menu()}}
	}
	switch p.Kind {
	case PageTicket:
		return r.ticket()
	case PageHistory:
		return r.history()
	}
	return r.list()
}

// data is the button that leads to the page.
func (p Page) data() []string {
	n := strconv.Itoa(p.Number)
	switch p.Kind {
	case PageTicket:
		return []string{"v", "o", p.Ref.String()}
	case PageHistory:
		return []string{"v", "h", p.Ref.String(), n}
	case PageAll:
		return []string{"v", "a", n}
	case PageLink, PageLinked:
		return []string{"m", "link"}
	case PageConsole:
		return []string{"m", "console"}
	}
	return []string{"v", "t", n}
}

type renderer struct {
	p Page
	d Data
}

func (r renderer) say(key string, pairs ...string) string { return Text(r.p.Locale, key, pairs...) }

func (r renderer) menu() messenger.Button { return button(r.say("button.menu"), "m", "menu") }

func (r renderer) time(t time.Time) string { return t.In(r.d.Zone).Format(timeFormat) }

func (r renderer) status(key, name string) string {
	return line(r.d.Catalogue.Status(key, "", name).Text.In(r.p.Locale), 100)
}

func (r renderer) list() (string, messenger.Keyboard) {
	all := merge(r.d.Tickets, r.p.Opened)
	head, empty, kind := "page.all", "page.all.empty", "a"
	if r.p.Kind == PageTickets {
		head, empty, kind = "page.tickets", "page.tickets.empty", "t"
		all = slices.DeleteFunc(all, func(s ticket.Summary) bool { return s.Phase == ticket.PhaseClosed })
	}
	if len(all) == 0 {
		return r.say(empty), messenger.Keyboard{{button(r.say("menu.new"), "m", "new"), r.menu()}}
	}
	from, to, page, pages := window(len(all), pageRows, r.p.Number)
	lines := []string{r.say(head, "from", strconv.Itoa(from+1), "to", strconv.Itoa(to), "of", strconv.Itoa(len(all))), ""}
	var rows messenger.Keyboard
	for i, s := range all[from:to] {
		lines = append(lines, r.say("page.line", "n", strconv.Itoa(from+i+1), "ticket", title(s), "status", r.status(s.Status, s.StatusName)))
		target := Page{Kind: PageTicket, Ref: s.Ref}
		if r.p.Kind == PageAll {
			target.Kind = PageHistory
		}
		rows = append(rows, []messenger.Button{button(title(s), target.data()...)})
	}
	if r.d.Tickets.Known && r.d.Now.Sub(r.d.Tickets.At) > staleAfter {
		lines = append(lines, "", r.say("page.stale", "time", r.time(r.d.Tickets.At)))
	}
	nav := append(turnRow(r.p.Locale, page, pages, "v", kind), r.menu())
	return strings.Join(lines, "\n"), append(rows, nav)
}

func (r renderer) find() *ticket.Summary {
	if s := r.d.Tickets.find(r.p.Ref); s != nil {
		return s
	}
	return Tickets{List: r.p.Opened}.find(r.p.Ref)
}

func (r renderer) unknown() (string, messenger.Keyboard) {
	return r.say("ticket.unknown"), messenger.Keyboard{{button(r.say("menu.tickets"), "m", "tickets"), r.menu()}}
}

func (r renderer) ticket() (string, messenger.Keyboard) {
	s := r.find()
	if s == nil {
		return r.unknown()
	}
	key := s.Key
	if key == "" {
		key = r.say("ticket.new")
	}
	lines := []string{key, s.Title, "",
		r.say("ticket.status", "status", r.status(s.Status, s.StatusName)),
		r.say("ticket.created", "time", r.time(s.CreatedAt)),
		r.say("ticket.updated", "time", r.time(s.UpdatedAt)),
	}
	if !s.ClosedAt.IsZero() {
		lines = append(lines, r.say("ticket.resolved", "time", r.time(s.ClosedAt)))
	}
	ref := s.Ref.String()
	var rows messenger.Keyboard
	if s.Open() {
		rows = append(rows, []messenger.Button{button(r.say("button.add"), "t", "add", ref)})
	}
	if reopenable(*s, View{Now: r.d.Now}) {
		rows = append(rows, []messenger.Button{ReopenButton(s.Ref, r.p.Locale)})
		rows = append(rows, RateButtons(s.Ref, r.p.Locale)...)
	}
	return strings.Join(lines, "\n"), append(rows,
		[]messenger.Button{button(r.say("button.history"), "v", "h", ref, "0")},
		[]messenger.Button{button(r.say("menu.tickets"), "m", "tickets"), r.menu()})
}

// history shows the newest page first; within a page time runs downwards.
func (r renderer) history() (string, messenger.Keyboard) {
	s := r.find()
	if s == nil {
		return r.unknown()
	}
	back := []messenger.Button{TicketButton(s.Ref, r.p.Locale), r.menu()}
	if !r.d.HistoryKnown {
		return r.say("page.unavailable"), messenger.Keyboard{{button(r.say("button.retry"), r.p.data()...)}, back}
	}
	n := len(r.d.History)
	from, to, page, pages := window(n, historyRows, r.p.Number)
	lines := []string{r.say("history.title", "ticket", title(*s), "page", strconv.Itoa(page+1), "pages", strconv.Itoa(pages))}
	for _, e := range r.d.History[n-to : n-from] {
		lines = append(lines, "", r.entry(e))
	}
	if n == 0 {
		lines = append(lines, "", r.say("history.empty"))
	}
	var rows messenger.Keyboard
	if nav := turnRow(r.p.Locale, page, pages, "v", "h", s.Ref.String()); nav != nil {
		rows = append(rows, nav)
	}
	return strings.Join(lines, "\n"), append(rows, back)
}

func (r renderer) entry(e ticket.Entry) string {
	text := cut(strings.TrimSpace(e.Text), historyText)
	switch e.Kind {
	case ticket.EntryStatus:
		text = r.say("history.status", "status", r.status(e.Status, e.StatusName))
	case ticket.EntryCreated:
		text = strings.TrimSpace(r.say("history.created") + "\n" + text)
	case ticket.EntryAgent:
		text = r.say("history.agent", "text", text)
	case ticket.EntryCustomer:
		text = r.say("history.customer", "text", text)
	}
	if e.Files > 0 {
		text += "\n" + r.say("history.files", "n", strconv.Itoa(e.Files))
	}
	return r.time(e.At) + "\n" + text
}
