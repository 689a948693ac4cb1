package dialog

import (
	"slices"
	"strconv"

	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// tickets gives the customer's list, and tells the caller that the outcome
// depends on it.
func (t *turn) tickets() Tickets {
	t.out.Consulted = true
	return t.v.Tickets
}

func (k Tickets) find(ref ticket.Ref) *ticket.Summary {
	for i := range k.List {
		if k.List[i].Ref == ref {
			return &k.List[i]
		}
	}
	return nil
}

// merge lays the tickets that were just opened over Tracker's list, the one
// touched last first.
func merge(k Tickets, opened []ticket.Summary) []ticket.Summary {
	all := slices.Clone(k.List)
	for _, o := range opened {
		if k.find(o.Ref) == nil {
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b ticket.Summary) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all
}

func (t *turn) open() []ticket.Summary {
	return slices.DeleteFunc(merge(t.tickets(), t.s.Opened), func(s ticket.Summary) bool { return !s.Open() })
}

// resolved are the tickets that a message may still reopen.
func (t *turn) resolved() []ticket.Summary {
	return slices.DeleteFunc(merge(t.tickets(), t.s.Opened), func(s ticket.Summary) bool { return !reopenable(s, t.v) })
}

func reopenable(s ticket.Summary, v View) bool {
	at := s.ClosedAt
	if at.IsZero() {
		at = s.UpdatedAt
	}
	return s.Phase == ticket.PhaseResolved && v.Now.Sub(at) <= ReopenWindow
}

// find looks a ticket up in what is there, without asking for more.
func (t *turn) find(ref ticket.Ref) *ticket.Summary {
	if s := t.v.Tickets.find(ref); s != nil {
		return s
	}
	return Tickets{List: t.s.Opened}.find(ref)
}

// owned looks a ticket up that a button names; buttons can be forged, so one
// that is not in a known list is not the customer's. While the list is not
// known the job's worker has to find that out.
func (t *turn) owned(ref ticket.Ref) (s *ticket.Summary, ok bool) {
	known := t.tickets().Known // also of a ticket that was opened here: its status may have changed
	s = t.find(ref)
	return s, s != nil || !known
}

func (t *turn) name(ref ticket.Ref) string {
	if s := t.find(ref); s != nil {
		return title(*s)
	}
	return t.say("ticket.unnamed")
}

// title names a ticket in a line.
func title(s ticket.Summary) string {
	if s.Key == "" {
		return line(s.Title, titleLength)
	}
	return line(s.Key+" · "+s.Title, titleLength)
}

func (t *turn) viewPress(kind, arg, number string) {
	n, _ := strconv.Atoi(number)
	ref, ok := parseRef(arg)
	switch {
	case kind == "t":
		n, _ = strconv.Atoi(arg)
		t.page(Page{Kind: PageTickets, Number: n})
	case kind == "a":
		n, _ = strconv.Atoi(arg)
		t.page(Page{Kind: PageAll, Number: n})
	case kind == "o" && ok:
		t.page(Page{Kind: PageTicket, Ref: ref})
	case kind == "h" && ok:
		t.page(Page{Kind: PageHistory, Ref: ref, Number: n})
	default:
		t.stale()
	}
}

func (t *turn) ticketPress(verb, arg string) {
	ref, ok := parseRef(arg)
	if !ok {
		t.stale()
		return
	}
	s, ok := t.owned(ref)
	if !ok {
		t.menu(t.say("ticket.unknown"))
		return
	}
	switch {
	case verb == "add" && (s == nil || s.Open()):
		t.target(ref)
		t.reply(t.say("add.prompt", "ticket", t.name(ref)), messenger.Keyboard{{button(t.say("button.menu"), "m", "menu")}})
	case verb == "re" && s != nil && s.Open():
		t.target(ref)
		t.reply(t.say("reopen.open", "ticket", t.name(ref)), nil)
	case verb == "re" && (s == nil || reopenable(*s, t.v)):
		t.reopen(ref, reopenKey(t, s), t.waiting(AskReopen))
	case verb == "add" || verb == "re":
		t.menu(t.say("ticket.closed", "ticket", t.name(ref)))
	default:
		t.stale()
	}
}

// reopenKey makes two taps one job: a resolution is taken back once.
func reopenKey(t *turn, s *ticket.Summary) string {
	if s == nil || s.ClosedAt.IsZero() {
		return t.ev.Key
	}
	return "reopen:" + t.ev.Address.String() + ":" + s.Ref.String() + ":" + strconv.FormatInt(s.ClosedAt.Unix(), 10)
}

// ratePress records a rating; the next text is its remark. The message with the
// buttons says what was resolved and stays.
func (t *turn) ratePress(arg, score string) {
	t.edited = true
	ref, ok := parseRef(arg)
	n, err := strconv.Atoi(score)
	if !ok || err != nil || n < 0 || n > 5 {
		t.stale()
		return
	}
	if n == 0 {
		t.s.Remark = nil
		t.reply(t.say("rate.done"), nil)
		return
	}
	if _, ok := t.owned(ref); !ok {
		t.menu(t.say("ticket.unknown"))
		return
	}
	t.add(ticket.KindRate, t.ev.Key, t.sequence(), ticket.Rate{Customer: t.customer(), Ref: ref, Score: n, At: t.v.Now})
	t.s.Remark = &Target{Ref: ref, At: t.v.Now, Until: t.v.Now.Add(remarkLife)}
	t.reply(t.say("rate.thanks", "score", score), messenger.Keyboard{{button(t.say("button.no_remark"), "r", arg, "0")}})
}

// takesRemark: a remark is words alone; anything else is a message.
func (t *turn) takesRemark(p Part) bool {
	bare := p.Content
	bare.Text, bare.Markdown = "", ""
	return t.s.Remark != nil && !p.Late && !t.v.Again && p.Album == "" && p.Text != "" && bare.Empty()
}

func (t *turn) remark(p Part) {
	ref := t.s.Remark.Ref
	t.s.Remark = nil
	j := t.add(ticket.KindRate, p.Key, p.Sequence, ticket.Rate{Customer: t.customer(), Ref: ref, Remark: p.Text, At: p.At})
	j.Delay = t.v.Settle
	t.reply(t.say("rate.remark"), nil)
}
