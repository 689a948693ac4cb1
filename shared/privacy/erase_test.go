package privacy_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/person"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

// bureau is a Rig in which somebody is to be erased. At a point of the erasure
// something else happens, once.
type bureau struct {
	*wiringtest.Rig
	t     *testing.T
	c     ticket.Customer
	id    int64
	point string
	then  func()
	// refuse is the status with which the fake Tracker refuses to change issues; 0: none.
	refuse int
	unseen int  // the same to say which issue was created with a value
	away   bool // it answers nothing
}

func newBureau(t *testing.T) *bureau {
	t.Helper()
	b := &bureau{t: t, c: wiringtest.Telegrammer()}
	b.Rig = wiringtest.New(t, func(cfg *wiringtest.Config) { cfg.Hook, cfg.Front = b.at, b.front })
	b.Met(b.c)
	p, err := b.DB.Person(b.Context(), b.c.Address)
	if err != nil || p == nil {
		t.Fatalf("person: %v, %v", p, err)
	}
	b.id = p.ID
	return b
}

func (b *bureau) at(point string) {
	if point == b.point {
		b.point = ""
		b.then()
	}
}

func (b *bureau) front(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.away {
			http.Error(w, "", http.StatusServiceUnavailable)
			return
		}
		if b.refuse != 0 && r.Method == http.MethodPatch {
			http.Error(w, `{"errors":{},"errorMessages":["no"],"statusCode":0}`, b.refuse)
			return
		}
		if b.unseen != 0 && strings.HasSuffix(r.URL.Path, "/_findByUnique") {
			http.Error(w, `{"errors":{},"errorMessages":["no"],"statusCode":0}`, b.unseen)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// during begins the erasure and lets something happen at one of its points.
func (b *bureau) during(point string, then func()) {
	b.t.Helper()
	b.point, b.then = point, then
	b.Insert(person.EraseJob(b.id))
	b.Later(10 * time.Second)
	if b.point != "" {
		b.t.Fatalf("the erasure did not come to %s: %s", point, b.Problem(person.EraseKey(b.id)))
	}
}

func (b *bureau) known(want bool) {
	b.t.Helper()
	p, err := b.DB.PersonByID(b.Context(), b.id)
	if err != nil || (p != nil) != want {
		b.t.Errorf("known: %+v, %v; want %t", p, err, want)
	}
}

// over checks that the erasure has ended, and what it says.
func (b *bureau) over(want string) {
	b.t.Helper()
	b.Want(person.EraseKey(b.id), job.Completed)
	b.known(false)
	if got := string(b.Find(person.EraseKey(b.id)).Result); got != want {
		b.t.Errorf("result %s, want %s", got, want)
	}
	if n := b.Count(b.c, "ваши данные удалены"); n != 1 {
		b.t.Errorf("%d last messages", n)
	}
}

// unsaid checks, if it is to be so, that nobody was told that it is over.
func (b *bureau) unsaid(yet bool) {
	b.t.Helper()
	if n := b.Count(b.c, "ваши данные удалены"); yet && n != 0 {
		b.t.Errorf("%d last messages, and there was more to come", n)
	}
}

// freed checks that a ticket is nobody's.
func (b *bureau) freed(draft string) {
	b.t.Helper()
	k := b.Ticket(draft)
	for _, f := range []string{"supportChat", "supportUser", "supportName", "supportNickname", "supportRemark"} {
		if k.Fields[f] != "" {
			b.t.Errorf("ticket of %s: %s is %q", draft, f, k.Fields[f])
		}
	}
	if n := len(wiringtest.Comments(k, "Клиент удалил свои данные")); n != 1 || !slices.Contains(k.Tags, "support-erased") {
		b.t.Errorf("ticket of %s: %d comments, tags %v", draft, n, k.Tags)
	}
}

// TestErase_RequestsMeanwhile: what is done for a customer after their tickets were looked
// for is looked for again: a ticket that is opened then, a remark in one that was freed.
func TestErase_RequestsMeanwhile(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"person.erase/detach/called", "person.erase/farewell/begun", "person.erase/forget/begun"} {
		t.Run(strings.ReplaceAll(point, "/", " "), func(t *testing.T) {
			t.Parallel()
			b := newBureau(t)
			b.Open(b.c, "d1")
			b.during(point, func() {
				b.Insert(wiringtest.Create(b.c, "d2"), wiringtest.Inbound(b.c, ticket.KindRate, "rate", 20, ticket.Rate{
					Customer: b.c, Ref: ticket.Ref{Draft: "d1"}, Score: 5, Remark: "CANARY",
				}))
				b.Work()
			})
			b.known(true)
			b.unsaid(point == "person.erase/detach/called")
			b.Later(10 * time.Second)
			b.over(`{"tickets": 2}`)
			b.freed("d1")
			b.freed("d2")
		})
	}
}

// TestErase_ConversationOwes: a message whose jobs are not made yet, and a reply that is
// being sent, would make the customer anew: they are waited for.
func TestErase_ConversationOwes(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"person.erase/run/begun", "person.erase/detach/called", "person.erase/farewell/called"} {
		t.Run(strings.ReplaceAll(point, "/", " "), func(t *testing.T) {
			t.Parallel()
			b := newBureau(t)
			b.Open(b.c, "d1")
			b.during(point, func() {
				s, err := b.Conversations.Commit(b.Context(), dialog.Write{
					Address: b.c.Address, Key: "e1", Token: "tok", Entry: &dialog.Entry{Key: "e1", Writer: "w", Address: b.c.Address},
				})
				if err != nil || s.Verdict != dialog.Committed {
					b.t.Errorf("commit: %+v, %v", s, err)
				}
			})
			b.Later(10 * time.Second)
			b.known(true)
			b.unsaid(point != "person.erase/farewell/called")
			if _, err := b.Conversations.Finish(b.Context(), dialog.Done{Address: b.c.Address, Token: "tok", Key: "e1"}); err != nil {
				t.Fatal(err)
			}
			b.Later(10 * time.Second)
			b.over(`{"tickets": 1}`)
			b.freed("d1")
		})
	}
}

// TestErase_MemoryLast: the database has forgotten whose conversation it is that cannot be
// dropped yet; it is dropped all the same.
func TestErase_MemoryLast(t *testing.T) {
	t.Parallel()
	b := newBureau(t)
	write := dialog.Write{Address: b.c.Address, Key: "e1", Token: "tok", Entry: &dialog.Entry{Key: "e1", Writer: "w", Address: b.c.Address}}
	b.during("person.erase/forget/begun", func() {
		if s, err := b.Conversations.Commit(b.Context(), write); err != nil || s.Verdict != dialog.Committed {
			b.t.Errorf("commit: %+v, %v", s, err)
		}
	})
	b.known(false)
	b.Want(person.EraseKey(b.id), job.Queued)
	if _, err := b.Conversations.Finish(b.Context(), dialog.Done{Address: b.c.Address, Token: "tok", Key: "e1"}); err != nil {
		t.Fatal(err)
	}
	if kept, err := b.Conversations.Kept(b.Context(), b.c.Address); kept == nil || err != nil {
		t.Fatalf("kept: %s, %v; the test shows nothing", kept, err)
	}
	b.Later(10 * time.Second)
	b.over(`{"tickets": 0}`)
	if kept, err := b.Conversations.Kept(b.Context(), b.c.Address); kept != nil || err != nil {
		t.Errorf("kept of somebody who was erased: %s, %v", kept, err)
	}
	if raw := b.Find(person.EraseKey(b.id)).StageData; strings.Contains(string(raw), b.c.Address.Chat) {
		t.Errorf("the erasure names them: %s", raw)
	}
}

// TestErase_ToldWhereTheyCanBe: who has blocked the bot in one messenger is told in the
// other.
func TestErase_ToldWhereTheyCanBe(t *testing.T) {
	t.Parallel()
	b := newBureau(t)
	v := wiringtest.VKontakter()
	b.Met(v)
	p, err := b.DB.Person(b.Context(), v.Address)
	if err == nil {
		_, err = b.DB.Link(b.Context(), b.id, p.ID)
	}
	if err == nil { // last used, and blocked then
		err = b.DB.SetReachable(b.Context(), v.Address, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.during("person.erase/forget/begun", func() {})
	b.over(`{"tickets": 0}`)
	if n := b.Count(v, "ваши данные удалены"); n != 0 {
		t.Errorf("%d last messages where they cannot come", n)
	}
}

// TestErase_TrackerRefuses: a ticket that cannot be changed keeps nobody from being
// forgotten; an operator is told which it is, and replays, or mends it and settles.
func TestErase_TrackerRefuses(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusLocked} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			b := newBureau(t)
			k := b.Open(b.c, "d1")
			b.refuse = status
			b.during("person.erase/forget/begun", func() {})
			b.over(`{"kept": 1, "tickets": 1}`)
			key := fmt.Sprintf("detach:%d:%s", b.id, k.ID)
			b.Want(key, job.NeedsReview)
			if why := b.Problem(key); !strings.Contains(why, "ticket "+k.ID+" still names a customer") || strings.Contains(why, b.c.Address.Chat) {
				t.Errorf("an operator is told: %s", why)
			}
			if got := b.Text(`SELECT count(*)::text FROM jobs j WHERE j::text LIKE $1`, "%"+b.c.Address.Chat+"%"); got != "0" {
				t.Errorf("%s jobs name the customer", got)
			}
			b.refuse = 0
			made, err := b.DB.Replay(b.Context(), b.Find(key).ID, "person:1")
			if err != nil {
				t.Fatal(err)
			}
			b.Publisher.Publish(b.Context(), []job.Inserted{made})
			b.Work()
			b.Want(key, job.Completed)
			b.freed("d1")
		})
	}
}

// TestErase_TrackerRefusesToLook: where Tracker does not say whether a ticket was opened,
// the customer is forgotten all the same, and an operator is told of when it would be.
// What the opening itself has written down is not asked for.
func TestErase_TrackerRefusesToLook(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusBadRequest, http.StatusUnprocessableEntity} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			b := newBureau(t)
			k := b.Open(b.c, "d1")
			b.Exec(`UPDATE jobs SET state = 'needs_review', result = NULL, stage_data = jsonb_build_object('issue', jsonb_build_object('issue', $1::text)) WHERE key = 'draft:d1'`, k.ID)
			made := b.Insert(wiringtest.Create(b.c, "d2"))
			b.Exec(`UPDATE jobs SET state = 'needs_review', stage = 'begin create', created_at = '2026-01-02T03:04:05Z' WHERE key = 'draft:d2'`)
			b.unseen = status
			b.during("person.erase/forget/begun", func() {})
			b.over(`{"unseen": 1, "tickets": 1}`)
			b.freed("d1")
			key := fmt.Sprintf("detach:%d:job:%d", b.id, made[0].ID)
			b.Want(key, job.NeedsReview)
			if why := b.Problem(key); !strings.Contains(why, "2026-01-02T03:04:05Z") {
				t.Errorf("an operator is told: %s", why)
			}
			if got := b.Text(`SELECT count(*)::text FROM jobs j WHERE j::text LIKE $1`, "%"+b.c.Address.Chat+"%"); got != "0" {
				t.Errorf("%s jobs name the customer", got)
			}
		})
	}
}
