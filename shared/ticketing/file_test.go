package ticketing_test

import (
	"strings"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

func withFiles(files ...messenger.Attachment) ticket.Message {
	return ticket.Message{Content: messenger.Content{Text: "с файлами", Attachments: files}}
}

// waited makes a job an old one.
func waited(r *wiringtest.Rig, key string, d time.Duration) {
	r.T.Helper()
	r.Exec(`UPDATE jobs SET started_at = started_at - make_interval(secs => $2) WHERE key = $1`, key, d.Seconds())
}

// A file that the messenger does not give is named in the text, in its place
// among those of quotes too; the others are in the ticket.
func TestFile_Gone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		r.Open(c, "d1")
		lost := sent(r, c, "отчёт_*.txt", []byte("отчёт_*.txt"))
		lost.Ref, lost.Size = lost.Ref+"gone", 3<<20
		m := withFiles(sent(r, c, "a.txt", []byte("a.txt")))
		m.Quotes = []messenger.Quote{{Kind: "reply", Author: "Анна", Text: "см. файл", Attachments: []messenger.Attachment{lost, sent(r, c, "b.txt", []byte("b.txt"))}}}
		run(r, says(c, "m1", "d1", m))
		r.Want("m1", job.Completed)
		got := written(r, "d1", "с файлами", 1)[0]
		wantText(r, got.Text, "с файлами", "см. файл", `Файл «отчёт\_\*.txt» (3.0 МБ) не передан`)
		wantFiles(r, got.Files, "a.txt", "b.txt")
		if strings.Count(got.Text, "не передан") != 1 {
			t.Errorf("said of the wrong files: %s", got.Text)
		}
	})
}

// A file that Tracker refuses costs only itself; in a new ticket too.
func TestFile_RefusedByTracker(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.Telegrammer()
	refuses(r, postFile, 413, 1)
	k := r.Open(c, "d1", withFiles(sent(r, c, "a.txt", []byte("a.txt")), sent(r, c, "b.txt", []byte("b.txt"))))
	wantText(r, k.Description, "с файлами", "Файл «a.txt»", "---")
	wantFiles(r, k.Files, "b.txt")
}

// An upload whose end nobody knows is made again: it is in the ticket once.
func TestFile_UploadUnknown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		r.Open(c, "d1")
		fails(r, postFile, fault.CloseAfter, 1)
		run(r, says(c, "m1", "d1", withFiles(sent(r, c, "a.txt", []byte("a.txt")), sent(r, c, "b.txt", []byte("b.txt")))))
		wantState(r, "m1", job.Queued, 0)
		r.Later(time.Minute)
		wantState(r, "m1", job.Completed, 0)
		wantFiles(r, written(r, "d1", "с файлами", 1)[0].Files, "a.txt", "b.txt")
		wantFiles(r, r.Ticket("d1").Files, "a.txt", "b.txt")
	})
}

// A file that never comes holds up the conversation for an hour, not for ever.
func TestFile_NeverToBeHad(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*wiringtest.Rig, *messenger.Attachment){
		"the messenger fails": func(r *wiringtest.Rig, _ *messenger.Attachment) {
			r.Telegram.Faults().Add(fault.Fault{Method: "getFile", Kind: fault.Status, Status: 500})
		},
		"longer than was said":  func(_ *wiringtest.Rig, a *messenger.Attachment) { a.Size-- },
		"shorter than was said": func(_ *wiringtest.Rig, a *messenger.Attachment) { a.Size++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			c := wiringtest.Telegrammer()
			r.Open(c, "d1")
			bad := sent(r, c, "a.txt", []byte("a.txt"))
			spoil(r, &bad)
			run(r, says(c, "m1", "d1", withFiles(bad)), wiringtest.Says(c, "m2", "d1", "дальше"))
			for range job.Attempts + 1 {
				r.Later(time.Minute)
			}
			wantState(r, "m1", job.Queued, 0)
			written(r, "d1", "дальше", 0)
			waited(r, "m1", 2*time.Hour)
			r.Later(time.Minute)
			wantState(r, "m1", job.Queued, 1) // it may yet come
			for range job.Attempts {
				r.Later(15 * time.Minute)
			}
			wantState(r, "m1", job.Completed, 3)
			wantText(r, written(r, "d1", "с файлами", 1)[0].Text, "Файл «a.txt»", "не передан")
			written(r, "d1", "дальше", 1)
		})
	}
}

// While Tracker is away files wait with everything else.
func TestFile_TrackerAway(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		r.Open(c, "d1")
		refuses(r, postFile, 503, 0)
		run(r, says(c, "m1", "d1", withFiles(sent(r, c, "a.txt", []byte("a.txt")))))
		waited(r, "m1", 3*time.Hour)
		for range job.Attempts + 1 {
			r.Later(time.Minute)
		}
		wantState(r, "m1", job.Queued, 0)
		r.Tracker.Faults().Clear()
		r.Later(time.Minute)
		r.Want("m1", job.Completed)
		wantFiles(r, written(r, "d1", "с файлами", 1)[0].Files, "a.txt")
	})
}

// Nobody says how long Tracker keeps a temporary file: what a person replays is
// uploaded anew, but not once it may be in the ticket.
func TestFile_Replayed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil   func(*wiringtest.Rig)
		uploads int
	}{
		"refused": {func(r *wiringtest.Rig) { refuses(r, postComment, 422, 1) }, 2},
		"unknown": {func(r *wiringtest.Rig) {
			fails(r, postComment, fault.CloseAfter, 1)
			refuses(r, getComments, 404, 1)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			c := wiringtest.Telegrammer()
			r.Open(c, "d1")
			tc.spoil(r)
			run(r, says(c, "m1", "d1", withFiles(sent(r, c, "a.txt", []byte("a.txt")))))
			r.Later(time.Minute)
			r.Want("m1", job.NeedsReview)
			replay(r, "m1")
			r.Want("m1", job.Completed)
			wantFiles(r, written(r, "d1", "с файлами", 1)[0].Files, "a.txt")
			if got := calls(r, "POST", "attachments"); got != tc.uploads {
				t.Errorf("%d uploads, want %d", got, tc.uploads)
			}
		})
	}
}
