package ticketing_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/ticket"
	"supportbot/shared/ticketing"
	"supportbot/shared/wiring/wiringtest"
)

// content is everything that a message can carry.
func content(r *wiringtest.Rig, c ticket.Customer) messenger.Content {
	return messenger.Content{
		Text:        "Принтер <b>не</b> печатает & *шумит*",
		Attachments: []messenger.Attachment{sent(r, c, "фото 1.txt", []byte("фото 1.txt"))},
		Quotes: []messenger.Quote{{
			Kind: "forward", Author: "Пётр_П", Text: "строка *1*\nстрока 2",
			Attachments: []messenger.Attachment{sent(r, c, "акт.txt", []byte("акт.txt"))},
		}},
		Location:    &messenger.Location{Latitude: 55.75, Longitude: -37.5, Title: "Склад", Address: "ул. [1]"},
		Contact:     &messenger.Contact{Name: "Анна", Phone: "+7 900 000-00-00"},
		Notes:       []string{"опрос: да / нет"},
		Unsupported: []string{"история"},
	}
}

// contentParts is how an agent reads it.
var contentParts = []string{
	`Принтер \<b\>не\</b\> печатает \& \*шумит\*`, `Переслано от Пётр\_П:`, `> строка \*1\*`, "> строка 2",
	"Место: [55.750000,-37.500000](https://yandex.ru/maps/?text=55.750000,-37.500000) Склад ул. \\[1\\]",
	`Контакт: Анна, \+7 900 000-00-00`, "опрос: да / нет", "Не передано: история",
}

func TestCreate_EverythingIsInTheTicket(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		more := messenger.Content{Text: "и ещё"}
		k := r.Open(c, "d1", ticket.Message{Content: content(r, c)}, ticket.Message{Content: more})
		wantText(r, k.Description, append(contentParts, "и ещё", "---", `Клиент: Иван \*Звёздочка\* (\@ivan\_nick), `)...)
		wantFiles(r, k.Files, "фото 1.txt", "акт.txt")
		name := string(c.Address.Messenger)
		want := map[string]string{
			"supportMessenger": name, "supportBot": c.Address.Bot, "supportChat": c.Address.Chat, "supportUser": c.User.ID,
			"supportNickname": "ivan_nick", "supportName": "Иван *Звёздочка*", "supportLocale": "ru", "supportCategory": "problem",
		}
		if diff := cmp.Diff(want, k.Fields); diff != "" {
			t.Errorf("fields (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"SUP", "bug", "normal", "Не печатает", c.Address.String(), name},
			[]string{k.Queue, k.Type, k.Priority, k.Summary, strings.TrimSuffix(strings.TrimPrefix(k.Unique, "support:"), ":d1"), strings.Join(k.Tags, ",")}); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		var made ticketing.Created
		if r.Result(ticket.DraftKey("d1"), &made); made != (ticketing.Created{Issue: k.ID, Key: k.Key}) {
			t.Errorf("result %+v, want %s %s", made, k.ID, k.Key)
		}
		if n := r.Count(c, "Обращение SUP-1 создано"); n != 1 {
			t.Errorf("the customer was told %d times", n)
		}
	})
}

// The agent is told how to answer, once, in the first comment.
func TestCreate_Intro(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]fault.Kind{"at once": "", "after its answer was lost": fault.CloseAfter, "after it was lost": fault.CloseBefore} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			if lost != "" {
				fails(r, postComment, lost, 1)
			}
			run(r, wiringtest.Create(wiringtest.Telegrammer(), "d1"))
			r.Later(time.Minute)
			r.Want(ticket.DraftKey("d1"), job.Completed)
			intro := written(r, "d1", "`/reply`", 1)[0]
			if _, mark, ours := ticket.Marked(intro.Text); !ours || !strings.HasPrefix(mark, "r") || !intro.Robot {
				t.Errorf("the first comment is not marked as the robot's: %+v", intro)
			}
			if k := r.Ticket("d1"); len(k.Comments) != 1 || k.Description == "" {
				t.Errorf("ticket %+v", k)
			}
		})
	}
}

func TestCreate_Categories(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t, func(cfg *wiringtest.Config) {
		cfg.Env["CATALOGUE"] = `{"categories": [
			{"key": "first", "title": {"ru": "А", "en": "A"}, "queue": "SUP", "type": "task", "priority": "minor"},
			{"key": "money", "title": {"ru": "Б", "en": "B"}, "queue": "BIL", "type": "request", "priority": "critical"}]}`
	})
	for category, want := range map[string][]string{"money": {"BIL", "request", "critical"}, "gone since": {"SUP", "task", "minor"}} {
		draft := strings.ReplaceAll(category, " ", "-")
		j := wiringtest.Create(wiringtest.Telegrammer(), draft)
		in := j.Payload.(ticket.Create)
		in.Category = category
		j.Payload = in
		run(r, j)
		k := r.Ticket(draft)
		if diff := cmp.Diff(append(want, category), []string{k.Queue, k.Type, k.Priority, k.Fields["supportCategory"]}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", category, diff)
		}
	}
}

// After a creation whose end nobody knows there is one ticket, with its files,
// also while Tracker cannot find it yet.
func TestCreate_OutcomeUnknown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind  fault.Kind
		blind bool
	}{
		"took effect":                {fault.CloseAfter, false},
		"took effect, a web page":    {fault.HTMLAfter, false},
		"took no effect":             {fault.CloseBefore, false},
		"took effect, found later":   {fault.CloseAfter, true},
		"took no effect, a web page": {fault.HTMLBefore, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			c := wiringtest.Telegrammer()
			fails(r, postIssue, tc.kind, 1)
			if tc.blind {
				for _, version := range []string{"v2", "v3"} {
					refuses(r, "POST /"+version+"/issues/_findByUnique", 404, 1)
				}
			}
			run(r, wiringtest.Create(c, "d1", ticket.Message{Content: messenger.Content{
				Attachments: []messenger.Attachment{sent(r, c, "a.txt", []byte("a.txt"))},
			}}))
			wantState(r, ticket.DraftKey("d1"), job.Queued, 0)
			r.Later(time.Minute)
			r.Later(time.Minute)
			r.Want(ticket.DraftKey("d1"), job.Completed)
			if all := r.Tracker.Tickets(); len(all) != 1 {
				t.Fatalf("%d tickets, want 1", len(all))
			}
			wantFiles(r, r.Ticket("d1").Files, "a.txt")
			written(r, "d1", "`/reply`", 1)
			if n := r.Count(c, "создано"); n != 1 {
				t.Errorf("the customer was told %d times", n)
			}
		})
	}
}

// While its creation waits for a person, what the customer writes waits with it;
// the customer is told once. A replay lets everything go, in order.
func TestCreate_InReviewHoldsWhatFollows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *wiringtest.Rig, c ticket.Customer) {
		refuses(r, postIssue, 422, 1)
		create := wiringtest.Create(c, "d1", ticket.Message{Content: messenger.Content{
			Attachments: []messenger.Attachment{sent(r, c, "a.txt", []byte("a.txt"))},
		}})
		run(r, create, wiringtest.Says(c, "m1", "d1", "первое"), wiringtest.Says(c, "m2", "d1", "второе"))
		r.Want(create.Key, job.NeedsReview)
		wantState(r, "m1", job.Queued, 0)
		wantState(r, "m2", job.Queued, 0)
		if got := told(r, c); len(got) != 1 || !strings.Contains(got[0], "Всё, что вы напишете, сохранится") {
			t.Errorf("the customer was told %q", got)
		}
		r.Later(time.Hour)
		wantState(r, "m1", job.Queued, 0)
		replay(r, create.Key)
		r.Later(time.Minute)
		r.Want("m2", job.Completed)
		k := r.Ticket("d1")
		if len(k.Comments) != 3 {
			t.Fatalf("comments %+v", k.Comments)
		}
		wantText(r, k.Comments[1].Text+k.Comments[2].Text, "первое", "второе")
		wantFiles(r, k.Files, "a.txt")
	})
}

// Cancelled by an operator: the messages wait for a person too, and the customer
// is told of each.
func TestCreate_CancelledInReview(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	c := wiringtest.VKontakter()
	refuses(r, postIssue, 422, 1)
	create := wiringtest.Create(c, "d1")
	run(r, create, wiringtest.Says(c, "m1", "d1", "первое"))
	if _, err := r.DB.Cancel(r.Context(), r.Find(create.Key).ID, "person:1"); err != nil {
		t.Fatal(err)
	}
	r.Want("m1", job.NeedsReview)
	run(r, wiringtest.Says(c, "m2", "d1", "второе"))
	r.Want("m2", job.NeedsReview)
	if got := told(r, c); len(got) != 2 || !strings.Contains(got[0], "записать его в обращение сразу не получилось") || got[0] != got[1] {
		t.Errorf("the customer was told %q", got)
	}
	if n := len(r.Tracker.Tickets()); n != 0 {
		t.Errorf("%d tickets", n)
	}
}

// The first news of a ticket begin with the ticket itself.
func TestCreate_NewsBegin(t *testing.T) {
	t.Parallel()
	r := wiringtest.New(t)
	k := r.Open(wiringtest.Telegrammer(), "d1")
	cur, err := r.DB.Cursor(r.Context(), k.ID)
	if err != nil || cur == nil || !cur.StartsAt.Equal(k.CreatedAt) {
		got, _ := json.Marshal(cur)
		t.Errorf("the cursor is %s, %v, want it at %v", got, err, k.CreatedAt)
	}
}
