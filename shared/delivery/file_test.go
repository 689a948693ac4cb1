package delivery_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

const download = "GET /v3/issues/*/attachments/*/*"

func textFile(name string) tracker.NewFile {
	return tracker.NewFile{Name: name, Data: []byte("содержимое " + name)}
}

func wantFiles(t *testing.T, r *wiringtest.Rig, c ticket.Customer, want ...string) {
	t.Helper()
	var got []string
	for _, m := range r.Said(c) {
		got = append(got, m.Files...)
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("files %q, want %q", got, want)
	}
}

func TestFiles_NamesAndRepliesWithoutText(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		k := r.Open(c, "d1")
		r.Reply(k, "/reply", textFile(`отчёт март 🖨 [1].txt`), textFile("b.txt"))
		wantFiles(t, r, c, `отчёт март 🖨 [1].txt`, "b.txt")
		r.Reply(k, "/reply")
		wantSaid(t, r, c, "Ответ по обращению", 1)
	})
}

// Of a file that breaks off in the middle nothing arrives, and it comes once when
// it can be read again.
func TestFiles_TrackerFailsInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, c := range wiringtest.EachMessenger() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := true
			r := wiringtest.New(t, func(cfg *wiringtest.Config) {
				cfg.Front = func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
						if broken && q.Method == http.MethodGet && strings.Contains(q.URL.Path, "/attachments/") {
							w.Header().Set("Content-Length", "1000000")
							_, _ = w.Write([]byte("half"))
							panic(http.ErrAbortHandler)
						}
						next.ServeHTTP(w, q)
					})
				}
			})
			k := r.Open(c, "d1")
			m := r.Reply(k, "/reply с файлом", tracker.NewFile{Name: "a.bin", Data: make([]byte, 1000)})
			wantSaid(t, r, c, "с файлом", 1)
			wantFiles(t, r, c)
			broken = false
			r.Later(time.Minute)
			wantFiles(t, r, c, "a.bin")
			key := ticket.AnswerKey(k.ID, m.ID)
			r.Want(key, job.Completed)
			var done struct{ Outcome string }
			if r.Result(key, &done); done.Outcome != "sent" {
				t.Errorf("outcome %q, want sent: nothing was sent twice", done.Outcome)
			}
		})
	}
}

// A file that can never be read costs only itself: after an hour the customer and
// the agent are told.
func TestFiles_NeverReadable(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"failing": 500, "forbidden": 403} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) { neverReadable(t, r, c, status) })
		})
	}
}

func neverReadable(t *testing.T, r *wiringtest.Rig, c ticket.Customer, status int) {
	t.Helper()
	k := r.Open(c, "d1")
	id := r.Tracker.Faults().Add(fault.Fault{Method: download, Kind: fault.Status, Status: status})
	m := r.Reply(k, "/reply с файлом", textFile("a.txt"), textFile("b.txt"))
	select {
	case <-r.Tracker.Faults().Met(id):
	default:
		t.Fatal("the fault was not met")
	}
	key := ticket.AnswerKey(k.ID, m.ID)
	r.Later(time.Minute)
	r.Want(key, job.Queued)
	r.Exec(`UPDATE jobs SET started_at = started_at - interval '2 hours' WHERE key = $1`, key)
	for range 5 {
		r.Later(time.Hour)
	}
	r.Want(key, job.Completed)
	wantSaid(t, r, c, "«a.txt»", 1)
	wantSaid(t, r, c, "«b.txt»", 1)
	if got := wiringtest.Comments(r.Ticket("d1"), "a.txt"); len(got) != 1 {
		t.Errorf("notes on the ticket %q, want one of a.txt", got)
	}
}

// A file whose name makes no address is not waited for.
func TestFiles_NameThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		k := r.Open(c, "d1")
		m := r.Reply(k, "/reply с файлами", textFile(".."), textFile("b.txt"))
		r.Want(ticket.AnswerKey(k.ID, m.ID), job.Completed)
		wantFiles(t, r, c, "b.txt")
		wantSaid(t, r, c, "«..»", 1)
	})
}

// Deleted by the agent before it went out: the rest goes out.
func TestFiles_DeletedMeanwhile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		k := r.Open(c, "d1")
		r.Tracker.Faults().Add(fault.Fault{Method: download, Kind: fault.Status, Status: 404, Times: 1})
		m := r.Reply(k, "/reply с файлами", textFile("a.txt"), textFile("b.txt"))
		r.Want(ticket.AnswerKey(k.ID, m.ID), job.Completed)
		wantFiles(t, r, c, "b.txt")
	})
}

// What the messenger cannot carry is said once to the customer and once on the
// ticket, also when a later file makes the delivery come again.
func TestFiles_TooLargeBesideOneThatFails(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	k := r.Open(c, "d1")
	large := tracker.NewFile{Name: "фильм_*.mkv", Data: make([]byte, 51<<20)}
	m := r.Comment(k, "/reply два файла", large, textFile("b.txt"))
	r.Tracker.Faults().Add(fault.Fault{Method: download, Kind: fault.Status, Status: 503, Times: 1})
	r.Look(k.ID, "l1")
	r.Later(time.Minute)
	r.Later(time.Minute)
	r.Want(ticket.AnswerKey(k.ID, m.ID), job.Completed)
	wantSaid(t, r, c, "фильм_*.mkv", 1)
	wantFiles(t, r, c, "b.txt")
	if got := wiringtest.Comments(r.Ticket("d1"), "mkv"); len(got) != 1 || !strings.Contains(got[0], `фильм\_\*.mkv`) {
		t.Errorf("notes on the ticket %q, want one with the name as it is", got)
	}
}

// A Tracker that does not tell sizes.
func TestFiles_UnknownSize(t *testing.T) {
	t.Parallel()
	for name, c := range wiringtest.EachMessenger() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t, func(cfg *wiringtest.Config) {
				cfg.Front = func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
						if q.Method == http.MethodGet && strings.HasSuffix(q.URL.Path, "/attachments") {
							_, _ = w.Write([]byte("[]"))
							return
						}
						next.ServeHTTP(w, q)
					})
				}
			})
			k := r.Open(c, "d1")
			r.Reply(k, "/reply файл", textFile("a.txt"), textFile("c.mp3"))
			want := []string{"a.txt", "c.mp3"}
			if name == "vk" {
				want[1] = "c.mp3.zip"
			}
			wantFiles(t, r, c, want...)
		})
	}
}
