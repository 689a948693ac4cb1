package dialog_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/catalogue"
	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
)

var start = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

// chat is a customer in front of the dialog.
type chat struct {
	t      testing.TB
	s      dialog.State
	v      dialog.View
	n      int   // events so far: names them
	seq    int64 // the messenger's message number
	last   dialog.Result
	board  messenger.Keyboard // the keyboard seen last
	page   *dialog.Page       // the page seen last
	pushed string             // message id below which the next press happens
}

func newChat(t testing.TB, tickets ...ticket.Summary) *chat {
	t.Helper()
	c, err := catalogue.Load(catalogue.Config{Queue: "SUP"})
	if err != nil {
		t.Fatal(err)
	}
	return &chat{t: t, seq: 1 << 41, v: dialog.View{
		Catalogue: c, Now: start,
		Person:  person.Person{ID: 1, Locale: "ru", Settings: person.DefaultSettings},
		Tickets: dialog.Tickets{Known: true, List: tickets, At: start},
	}}
}

func summary(key string, phase ticket.Phase, ago time.Duration) ticket.Summary {
	s := ticket.Summary{
		Ref: ticket.Ref{Draft: "draft" + strings.ToLower(strings.ReplaceAll(key, "-", ""))}, Key: key, Title: "Заголовок " + key,
		Status: "inProgress", Phase: phase, CreatedAt: start.Add(-100 * time.Hour), UpdatedAt: start.Add(-ago),
	}
	if phase != ticket.PhaseOpen {
		s.Status, s.ClosedAt = string(phase), start.Add(-ago)
	}
	return s
}

func (c *chat) event(kind messenger.Kind) messenger.Event {
	c.n++
	return messenger.Event{
		Key: fmt.Sprintf("telegram:77:%d", c.n), Kind: kind, Time: c.v.Now,
		Address: messenger.Address{Messenger: messenger.Telegram, Bot: "77", Chat: "1099511627777"},
		User:    messenger.User{ID: "1099511627777", Name: "Имя", Locale: "ru"},
	}
}

func (c *chat) message(text string) messenger.Event {
	ev := c.event(messenger.EventMessage)
	c.seq++
	ev.Sequence, ev.MessageID = c.seq, strconv.FormatInt(c.seq, 10)
	ev.Text = text
	if name, ok := strings.CutPrefix(text, "/"); ok {
		ev.Command, ev.Argument, _ = strings.Cut(name, " ")
	}
	return ev
}

func (c *chat) pressed(data string) messenger.Event {
	ev := c.event(messenger.EventPress)
	ev.Press = &messenger.Press{ID: "q" + ev.Key, Chat: "1099511627777", User: "1099511627777", Data: data, MessageID: c.pushed}
	return ev
}

func photo(name string) messenger.Attachment {
	return messenger.Attachment{Kind: messenger.Photo, Ref: "ref-" + name, Name: name}
}

// handle runs one event through Step and checks what holds for every event.
func (c *chat) handle(ev messenger.Event) dialog.Result {
	c.t.Helper()
	before := encode(c.t, c.s)
	s, r := dialog.Step(c.s, ev, c.v)
	if after := encode(c.t, c.s); after != before {
		c.t.Fatalf("Step changed the state that it was given:\n%s", cmp.Diff(before, after))
	}
	s2, r2 := dialog.Step(c.s, ev, c.v)
	if encode(c.t, s) != encode(c.t, s2) || encode(c.t, r) != encode(c.t, r2) {
		c.t.Fatal("Step gives two results for the same")
	}
	c.s = reload(c.t, s)
	c.last = r
	for _, reply := range r.Replies {
		checkKeyboard(c.t, reply.Keyboard)
		if reply.Keyboard != nil {
			c.board = reply.Keyboard
		}
		if reply.Page != nil {
			c.page = reply.Page
		}
		if reply.Answer == nil && reply.Page == nil && (strings.TrimSpace(reply.Text) == "" || units(reply.Text) > 4096) {
			c.t.Fatalf("reply has %d characters", units(reply.Text))
		}
	}
	for _, j := range r.Jobs {
		checkJob(c.t, ev, j)
	}
	return r
}

// do handles an event in short form: "press data", "btn label", "photo caption",
// "album id", or anything else as a message.
func (c *chat) do(what string) dialog.Result {
	c.t.Helper()
	verb, rest, _ := strings.Cut(what, " ")
	switch verb {
	case "press":
		return c.handle(c.pressed(rest))
	case "btn":
		return c.handle(c.pressed(c.find(rest)))
	case "photo":
		ev := c.message(rest)
		ev.Attachments = []messenger.Attachment{photo("p.jpg")}
		return c.handle(ev)
	case "album":
		ev := c.message("")
		ev.Album, ev.Attachments = rest, []messenger.Attachment{photo("a.jpg")}
		return c.handle(ev)
	}
	return c.handle(c.message(what))
}

func (c *chat) find(label string) string {
	c.t.Helper()
	for _, row := range c.board {
		for _, b := range row {
			if strings.HasPrefix(b.Label, label) {
				return b.Data
			}
		}
	}
	c.t.Fatalf("no button %q in %v", label, c.board)
	return ""
}

func (c *chat) wait(d time.Duration) { c.v.Now = c.v.Now.Add(d) }

// filled brings the chat to the confirmation of a form and gives its id.
func (c *chat) filled() string {
	c.t.Helper()
	for _, what := range []string{"/new", "btn Вопрос", "Принтер не печатает", "Горит красная лампа"} {
		c.do(what)
	}
	if c.s.Form == nil || c.s.Form.Step != dialog.StepConfirm {
		c.t.Fatalf("form: got %+v, want one to be confirmed", c.s.Form)
	}
	return c.s.Form.ID
}

// say gives the texts of what was answered last.
func (c *chat) said() string {
	var all []string
	for _, r := range c.last.Replies {
		switch {
		case r.Answer != nil && r.Answer.Text != "":
			all = append(all, "("+r.Answer.Text+")")
		case r.Answer != nil:
		case r.Page != nil:
			all = append(all, fmt.Sprintf("<%s %d>", r.Page.Kind, r.Page.Number))
		default:
			all = append(all, r.Text)
		}
	}
	return strings.Join(all, "\n--\n")
}

// jobs gives the jobs made last as "kind key".
func (c *chat) jobs() []string {
	var all []string
	for _, j := range c.last.Jobs {
		all = append(all, j.Kind+" "+j.Key)
	}
	return all
}

func (c *chat) wantSaid(key string, pairs ...string) {
	c.t.Helper()
	want := dialog.Text("ru", key, pairs...)
	if want == key {
		c.t.Fatalf("no phrase %q", key)
	}
	if !strings.Contains(c.said(), want) {
		c.t.Errorf("got %q, want %q", c.said(), want)
	}
}

func (c *chat) wantSilence() {
	c.t.Helper()
	if c.said() != "" {
		c.t.Errorf("got %q, want nothing to be said", c.said())
	}
}

func (c *chat) wantJobs(want ...string) {
	c.t.Helper()
	if got := c.jobs(); !slices.Equal(got, want) {
		c.t.Errorf("jobs: got %q, want %q", got, want)
	}
}

func payload[T any](t testing.TB, r dialog.Result, i int) T {
	t.Helper()
	if i >= len(r.Jobs) {
		t.Fatalf("got %d jobs, want more than %d", len(r.Jobs), i)
	}
	p, ok := r.Jobs[i].Payload.(T)
	if !ok {
		t.Fatalf("job %d: got a payload of type %T", i, r.Jobs[i].Payload)
	}
	return p
}

// checkKeyboard holds every keyboard against the narrowest messenger: VK's inline
// keyboards have six rows, ten buttons and labels of 40 characters, Telegram's
// data has 64 bytes.
func checkKeyboard(t testing.TB, k messenger.Keyboard) {
	t.Helper()
	n := 0
	for _, row := range k {
		if len(row) == 0 || len(row) > 5 {
			t.Fatalf("a row of %d buttons in %v", len(row), k)
		}
		for _, b := range row {
			n++
			if b.Label == "" || units(b.Label) > 40 {
				t.Fatalf("label %q", b.Label)
			}
			if b.Data == "" || len(b.Data) > 64 || strings.IndexFunc(b.Data, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
				t.Fatalf("data %q", b.Data)
			}
		}
	}
	if n > 10 || len(k) > 6 {
		t.Fatalf("%d buttons in %d rows", n, len(k))
	}
}

func checkJob(t testing.TB, ev messenger.Event, j job.New) {
	t.Helper()
	switch j.Kind {
	case person.KindErase:
		if strings.Contains(fmt.Sprint(j), ev.Address.Chat) {
			t.Fatalf("job %+v outlives the chat that it names", j)
		}
		return
	case person.KindExport:
		if j.Lane.Name != person.ExportLane(ev.Address) || j.CorrelationID != ev.Key {
			t.Fatalf("job %+v of %s", j, ev.Key)
		}
		return
	}
	if j.Queue != ticket.QueueTickets || j.Lane != (job.Lane{Name: ticket.InboundLane(ev.Address)}) ||
		j.Key == "" || j.CorrelationID != ev.Key {
		t.Fatalf("job %+v of %s", j, ev.Key)
	}
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

func encode(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// reload puts a state through its stored form, as between any two events.
func reload(t testing.TB, s dialog.State) dialog.State {
	t.Helper()
	var out dialog.State
	if err := json.Unmarshal([]byte(encode(t, s)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
