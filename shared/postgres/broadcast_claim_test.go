package postgres_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	"supportbot/shared/postgres/schema"
)

// running is a broadcast of one batch to people in the chats "1", "2"...
func running(s *studio, n int) (b broadcast.Broadcast, batch int64) {
	s.t.Helper()
	for i := range n {
		s.person("", fmt.Sprint(i+1))
	}
	b, _ = s.planned(news("text"))
	return b, s.batch(b.ID)
}

func TestClaim_GivesTheAddressAsItIsNow(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	_, batch := running(s, 2)
	s.exec(`UPDATE people SET locale = 'en' FROM identities i WHERE person_id = people.id AND chat = '1'`)
	if err := s.db.MoveChat(s.ctx, messenger.Address{Messenger: messenger.Telegram, Bot: telegramBot, Chat: "1"}, "100"); err != nil {
		t.Fatal(err)
	}
	got, state, err := s.db.ClaimRecipients(s.ctx, batch, tokenA, []int{1, 2, 77})
	if err != nil {
		t.Fatal(err)
	}
	address := func(chat string) messenger.Address {
		return messenger.Address{Messenger: messenger.Telegram, Bot: telegramBot, Chat: chat}
	}
	want := []broadcast.Recipient{{N: 1, Address: address("100"), Locale: "en"}, {N: 2, Address: address("2"), Locale: "ru"}}
	if diff := cmp.Diff(want, got); diff != "" || state != broadcast.Running {
		t.Errorf("state %s, claimed (-want +got):\n%s", state, diff)
	}
	if again := s.claimed(batch, tokenB, 1, 2); again != nil {
		t.Errorf("claimed %v a second time", again)
	}
	if next, err := s.db.Next(s.ctx, batch, 0, 10); err != nil || len(next) != 0 {
		t.Errorf("next %+v, %v: the claimed are none", next, err)
	}
	if got := s.outcomes(batch); got != "claimed claimed" {
		t.Errorf("recipients %q", got)
	}
}

func TestClaim_SkipsWhoMustNotGetIt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind broadcast.Kind
		set  string
		want string
	}{
		{broadcast.News, `UPDATE people SET news = false`, "opted out"},
		{broadcast.News, `UPDATE people SET maintenance = false`, ""},
		{broadcast.Maintenance, `UPDATE people SET maintenance = false`, "opted out"},
		{broadcast.Maintenance, `UPDATE people SET news = false`, ""},
		{broadcast.Message, `UPDATE people SET news = false, maintenance = false`, ""},
		{broadcast.News, `UPDATE people SET banned_at = now()`, "banned"},
		{broadcast.Message, `UPDATE people SET banned_at = now()`, "banned"},
		{broadcast.News, `UPDATE identities SET reachable = false`, "unreachable"},
		{broadcast.News, `DELETE FROM identities`, "erased"},
	} {
		t.Run(string(tc.kind)+": "+tc.set, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, 2)
			spec := news("text")
			spec.Kind, spec.Audience.Customers = tc.kind, []int64{s.person("", "a")}
			b, _ := s.planned(spec)
			batch := s.batch(b.ID)
			s.exec(tc.set)
			next, err := s.db.Next(s.ctx, batch, 0, 10)
			if err != nil || len(next) != 1 || next[0].Refused != tc.want || (next[0].Address.Chat == "") != (tc.want == "erased") {
				t.Errorf("next %+v, %v; want refused %q", next, err, tc.want)
			}
			got := s.claimed(batch, tokenA, 1)
			if claimed := len(got) == 1; claimed != (tc.want == "") {
				t.Errorf("claimed %v", got)
			}
			want := "claimed"
			if tc.want != "" {
				want = "skipped(" + tc.want + ")"
			}
			if got := s.outcomes(batch); got != want {
				t.Errorf("recipients %q, want %q", got, want)
			}
		})
	}
}

func TestClaim_OnlyWhileTheBroadcastRuns(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	b, batch := running(s, 1)
	for _, state := range broadcast.States {
		if state == broadcast.Running {
			continue
		}
		s.exec(`UPDATE broadcasts SET state = $2 WHERE id = $1`, b.ID, string(state))
		got, found, err := s.db.ClaimRecipients(s.ctx, batch, tokenA, []int{1})
		if err != nil || len(got) != 0 || found != state {
			t.Errorf("%s: claimed %v, state %s, %v", state, got, found, err)
		}
		if got := s.outcomes(batch); got != "-" {
			t.Errorf("%s: recipient is %q", state, got)
		}
	}
	if got, state, err := s.db.ClaimRecipients(s.ctx, 1<<40, tokenA, []int{1}); err != nil || got != nil || state != "" {
		t.Errorf("unknown batch: %v, %q, %v", got, state, err)
	}
}

func TestClaim_TwoAtOnceNeverGetTheSame(t *testing.T) {
	t.Parallel()
	url := backendtest.Postgres(t, schema.Migrate)
	for name, via := range map[string]string{"direct": "", "pooled": backendtest.PgBouncer(t, url)} {
		s := studioOn(t, url, via, 4)
		const n = 200
		for i := range n {
			s.person("", fmt.Sprint(name, i))
		}
		spec := news("text")
		b, _ := s.planned(spec)
		batch := s.batch(b.ID)
		size := s.broadcast(b.ID).Counts.Total
		var mu sync.Mutex
		owners := map[int]int{}
		var wg sync.WaitGroup
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				token := newToken()
				for from := 1; from <= size; from += 10 {
					var ns []int
					for i := range 20 { // overlapping, in different orders
						ns = append(ns, from+(i*7)%20)
					}
					got, _, err := s.db.ClaimRecipients(s.ctx, batch, token, ns)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for _, r := range got {
						owners[r.N]++
					}
					mu.Unlock()
				}
			}()
		}
		wg.Wait()
		if len(owners) != size {
			t.Errorf("%s: %d of %d were claimed", name, len(owners), size)
		}
		for n, times := range owners {
			if times != 1 {
				t.Errorf("%s: recipient %d was claimed %d times", name, n, times)
			}
		}
	}
}

// A pause that waits for a claim sees it; the claim was first.
func TestClaim_APauseWaitsForIt(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 4)
	b, batch := running(s, 1)
	block, err := s.session().Begin(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := block.Exec(s.ctx, `SELECT FROM recipients FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	claimed, paused := make(chan []int, 1), make(chan broadcast.State, 1)
	go func() {
		got, _, err := s.db.ClaimRecipients(s.ctx, batch, tokenA, []int{1})
		if err != nil {
			t.Error(err)
		}
		claimed <- numbersOf(got)
	}()
	waitFor(t, s.url, waitingForLocks(1))
	go func() {
		got, err := s.db.PauseBroadcast(s.ctx, b.ID)
		if err != nil {
			t.Error(err)
		}
		paused <- got.State
	}()
	waitFor(t, s.url, waitingForLocks(2))
	if err := block.Commit(s.ctx); err != nil {
		t.Fatal(err)
	}
	if got := <-claimed; len(got) != 1 {
		t.Errorf("claimed %v, want the one", got)
	}
	if got := <-paused; got != broadcast.Pausing {
		t.Errorf("broadcast is %s with a claim open, want pausing", got)
	}
	s.write(batch, tokenA, broadcast.Result{N: 1, Outcome: broadcast.Sent})
	if got := s.settle(b.ID); got != broadcast.Paused {
		t.Errorf("broadcast is %s, want paused", got)
	}
}

// A claim that waits for a pause sees it; the pause was first.
func TestClaim_WaitsForAPause(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 4)
	b, batch := running(s, 1)
	pause, err := s.session().Begin(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pause.Exec(s.ctx, `UPDATE broadcasts SET state = 'pausing' WHERE id = $1`, b.ID); err != nil {
		t.Fatal(err)
	}
	done := make(chan broadcast.State, 1)
	go func() {
		got, state, err := s.db.ClaimRecipients(s.ctx, batch, tokenA, []int{1})
		if err != nil || len(got) != 0 {
			t.Errorf("claimed %v, %v", got, err)
		}
		done <- state
	}()
	waitFor(t, s.url, waitingForLocks(1))
	if err := pause.Commit(s.ctx); err != nil {
		t.Fatal(err)
	}
	if state := <-done; state != broadcast.Pausing {
		t.Errorf("state %s, want pausing", state)
	}
	if got := s.outcomes(batch); got != "-" {
		t.Errorf("recipient is %q", got)
	}
}

// Claims, pauses and resumes as fast as they go: what is paused has no claim open,
// and gets none.
func TestClaim_NothingIsUnderWayInAPause(t *testing.T) {
	t.Parallel()
	url := backendtest.Postgres(t, schema.Migrate)
	for _, via := range []string{"", backendtest.PgBouncer(t, url)} {
		s := studioOn(t, url, via, 8)
		s.crowd(100)
		b, _ := s.planned(news("text"))
		batch := s.batch(b.ID)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				token := newToken()
				for n := 0; ; n = (n + 3) % 100 {
					select {
					case <-stop:
						return
					default:
					}
					got, _, err := s.db.ClaimRecipients(s.ctx, batch, token, []int{n + 1, n + 2, n + 3, n + 4})
					if err != nil {
						t.Error(err)
						return
					}
					var back []broadcast.Result
					for _, r := range got {
						back = append(back, broadcast.Result{N: r.N})
					}
					if err := s.db.Write(s.ctx, batch, token, back); err != nil {
						t.Error(err)
						return
					}
				}
			}()
		}
		const open = `SELECT count(*) FROM recipients WHERE batch = $1 AND claim IS NOT NULL`
		for range 30 {
			waitFor(t, s.url, `SELECT count(*) > 0 FROM recipients WHERE claim IS NOT NULL`)
			if _, err := s.db.PauseBroadcast(s.ctx, b.ID); err != nil {
				t.Fatal(err)
			}
			for s.settle(b.ID) != broadcast.Paused {
			}
			for range 3 {
				if n := get[int](s, open, batch); n != 0 {
					t.Fatalf("%d claims are open in a pause", n)
				}
			}
			if _, _, err := s.db.ResumeBroadcast(s.ctx, b.ID); err != nil {
				t.Fatal(err)
			}
		}
		close(stop)
		wg.Wait()
		s.exec(`UPDATE broadcasts SET state = 'cancelled'`)
	}
}

func TestNext_PagesByNumber(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	_, batch := running(s, 7)
	s.exec(`UPDATE recipients SET outcome = 'sent' WHERE n = 2`)
	s.exec(`UPDATE recipients SET not_before = clock_timestamp() + interval '1 hour' WHERE n = 3`)
	s.exec(`UPDATE recipients SET not_before = clock_timestamp() - interval '1 s' WHERE n = 4`)
	var pages []string
	for after := 0; ; {
		page, err := s.db.Next(s.ctx, batch, after, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			if r.Deferred != (r.N == 4) {
				t.Errorf("%d: deferred %v", r.N, r.Deferred)
			}
		}
		after = page[len(page)-1].N
		pages = append(pages, fmt.Sprint(numbersOf(page)))
	}
	if want := []string{"[1 4]", "[5 6]", "[7]"}; !slices.Equal(pages, want) {
		t.Errorf("pages %v, want %v", pages, want)
	}
	if got := s.claimed(batch, tokenA, 1, 2, 3, 4); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("claimed %v, want those whose time has come", got)
	}
}

func TestSkip_LeavesTheClaimedAndTheDone(t *testing.T) {
	t.Parallel()
	s := newStudio(t, 2)
	_, batch := running(s, 4)
	s.claimed(batch, tokenA, 1, 2)
	s.write(batch, tokenA, broadcast.Result{N: 2, Outcome: broadcast.Blocked, Error: "403"})
	if err := s.db.Skip(s.ctx, batch, map[int]string{1: "banned", 2: "banned", 3: "banned", 99: "banned"}); err != nil {
		t.Fatal(err)
	}
	if got, want := s.outcomes(batch), "claimed blocked(403) skipped(banned) -"; got != want {
		t.Errorf("recipients %q, want %q", got, want)
	}
}
