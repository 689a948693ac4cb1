package ticketing_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	"supportbot/shared/ticket"
	"supportbot/shared/ticketing"
	port "supportbot/shared/tracker"
	"supportbot/shared/wiring/wiringtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, backendtest.Goroutines()...) }

// The calls that tests make fail.
const (
	postIssue   = "POST /v3/issues"
	postComment = "POST /v3/issues/*/comments"
	getComments = "GET /v3/issues/*/comments"
	postFile    = "POST /v3/attachments"
	patchIssue  = "PATCH /v3/issues/*"
	postStep    = "POST /v3/issues/*/transitions/*/_execute"
)

// each runs a test for the customer of each messenger.
func each(t *testing.T, test func(*testing.T, *wiringtest.Rig, ticket.Customer)) {
	t.Helper()
	for name, c := range wiringtest.EachMessenger() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, wiringtest.New(t), c)
		})
	}
}

// fails makes the next calls fail: times 0 is all of them.
func fails(r *wiringtest.Rig, method string, kind fault.Kind, times int) {
	r.Tracker.Faults().Add(fault.Fault{Method: method, Kind: kind, Times: times})
}

// refuses makes the next calls be answered with a status, without effect.
func refuses(r *wiringtest.Rig, method string, status, times int) {
	r.Tracker.Faults().Add(fault.Fault{Method: method, Kind: fault.Status, Status: status, Times: times})
}

// calls counts the calls of a method to an issue, whatever came of them.
func calls(r *wiringtest.Rig, verb, last string) (n int) {
	for _, c := range r.Tracker.Calls().Since(0) {
		if v, path, _ := strings.Cut(c.Method, " "); v == verb && path[strings.LastIndex(path, "/")+1:] == last {
			n++
		}
	}
	return n
}

// run inserts jobs and lets everything that is due run.
func run(r *wiringtest.Rig, jobs ...job.New) {
	r.T.Helper()
	r.Insert(jobs...)
	r.Work()
}

// says is a customer's message with any content.
func says(c ticket.Customer, key, draft string, m ticket.Message) job.New {
	m.Key = key
	if m.At.IsZero() {
		m.At = time.Now()
	}
	return wiringtest.Inbound(c, ticket.KindComment, key, 10, ticket.Comment{Customer: c, Ref: ticket.Ref{Draft: draft}, Message: m})
}

// sent is a file that a customer has sent, as the messenger's adapter names it.
func sent(r *wiringtest.Rig, c ticket.Customer, name string, data []byte) messenger.Attachment {
	r.T.Helper()
	a := messenger.Attachment{Kind: messenger.Document, Name: name, Size: int64(len(data))}
	if c.Address.Messenger == messenger.VK {
		who := r.VK.Customer(vk.User{ID: wiringtest.VKID, FirstName: "Иван"})
		who.Send(vk.Content{Attachments: []vk.Attachment{r.VK.Doc(wiringtest.VKID, name, data)}})
		all := r.VK.Chat(wiringtest.VKID)
		a.Ref = all[len(all)-1].Files[0].URL
		return a
	}
	who := r.Telegram.Customer(telegram.User{ID: wiringtest.TelegramID, FirstName: "Иван"})
	who.Send(telegram.Content{File: &telegram.File{Kind: "document", Name: name, Data: data}})
	all := r.Telegram.Chat(wiringtest.TelegramID)
	a.Ref = all[len(all)-1].File.ID
	return a
}

// wantFiles checks names and bytes of files that tests have sent: the bytes are
// those of the name.
func wantFiles(r *wiringtest.Rig, got []tracker.File, want ...string) {
	r.T.Helper()
	var names []string
	for _, f := range got {
		names = append(names, f.Name)
		_, body, err := r.Tracker.Open(f.ID)
		if err != nil {
			r.T.Fatal(err)
		}
		if data, _ := io.ReadAll(body); !bytes.Equal(data, []byte(f.Name)) {
			r.T.Errorf("file %s has %d bytes: %q", f.Name, len(data), data)
		}
	}
	if strings.Join(names, "|") != strings.Join(want, "|") {
		r.T.Errorf("files %q, want %q", names, want)
	}
}

// written gives a ticket's comments with a text: there have to be as many.
func written(r *wiringtest.Rig, draft, text string, want int) (found []tracker.Comment) {
	r.T.Helper()
	k := r.Ticket(draft)
	for _, c := range k.Comments {
		if strings.Contains(c.Text, text) {
			found = append(found, c)
		}
	}
	if len(found) != want {
		r.T.Fatalf("%d comments have %q, want %d: %+v", len(found), text, want, k.Comments)
	}
	return found
}

// wantText checks that a text has the parts, in their order.
func wantText(r *wiringtest.Rig, text string, want ...string) {
	r.T.Helper()
	at := 0
	for _, part := range want {
		n := strings.Index(text[at:], part)
		if n < 0 {
			r.T.Errorf("%q is missing or out of order in:\n%s", part, text)
			return
		}
		at += n + len(part)
	}
}

// wantState checks a job's state and its failures.
func wantState(r *wiringtest.Rig, key string, state job.State, attempts int) {
	r.T.Helper()
	r.Want(key, state)
	if got := r.Find(key).Attempts; got != attempts {
		r.T.Errorf("job %s has failed %d times (%s), want %d", key, got, r.Problem(key), attempts)
	}
}

// now makes a waiting job due, without letting time pass otherwise.
func now(r *wiringtest.Rig, key string) {
	r.T.Helper()
	r.Exec(`UPDATE jobs SET run_at = clock_timestamp() WHERE key = $1`, key)
	r.Later(0)
}

// told lets the reconciler tell of reviews, and gives what the customer is told. It
// comes before time passes: Later has a reconciler that tells nobody.
func told(r *wiringtest.Rig, c ticket.Customer) (texts []string) {
	r.T.Helper()
	before := len(r.Said(c))
	tell := &job.Reconciler{Store: r.DB, Publisher: r.Publisher, Log: quiet(), Review: ticketing.Review}
	for range 2 { // the second time there is nothing to tell
		if err := tell.Pass(r.Context()); err != nil {
			r.T.Fatal(err)
		}
		r.Work()
		r.Later(2 * time.Second) // the messenger's pace
	}
	for _, m := range r.Said(c)[before:] {
		texts = append(texts, m.Text)
	}
	return texts
}

// replay gives a job in review another chance.
func replay(r *wiringtest.Rig, key string) {
	r.T.Helper()
	in, err := r.DB.Replay(r.Context(), r.Find(key).ID, "person:1")
	if err != nil {
		r.T.Fatal(err)
	}
	r.Publisher.Publish(r.Context(), []job.Inserted{in})
	r.Work()
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// fieldsOf are the fields that name a chat.
func fieldsOf(a messenger.Address) map[port.Field]string {
	return map[port.Field]string{port.FieldMessenger: string(a.Messenger), port.FieldBot: a.Bot, port.FieldChat: a.Chat}
}
