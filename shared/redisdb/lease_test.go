package redisdb_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/dialog"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/redisdb"
)

func TestLease_OneHolderDrainsAll(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	first := k.commit(k.write("e1", "tok1", 0))
	second := k.commit(k.write("e2", "tok2", 1))
	if !first.Holds || second.Holds {
		t.Fatalf("holders: %v, %v", first.Holds, second.Holds)
	}
	if got := keysOf(second.Pending); !slices.Equal(got, []string{"e1", "e2"}) {
		t.Errorf("pending: got %v", got)
	}
	if got := k.take("tok2", "e2"); got.Holds || got.Pending != nil {
		t.Errorf("a second holder: got %+v", got)
	}
	got := k.finish("tok1", "e1")
	if !got.Holds || len(got.Pending) != 1 || got.Pending[0].Key != "e2" || got.Pending[0].Begun || !got.Pending[0].Recorded {
		t.Errorf("next: got %+v", got)
	}
	if got := k.finish("tok1", "e2"); got.Holds {
		t.Error("the lease is kept for nothing")
	}
	if got := k.take("tok3", ""); got.Holds {
		t.Error("a lease for nothing")
	}
}

func TestLease_TakeoverSeesWhatWasBegun(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.commit(k.write("e1", "tok1", 0)) // and its holder dies
	k.commit(k.write("e2", "tok2", 1))
	k.client.HSet(context.Background(), "conversation:{"+k.a.String()+"}", "lu", 1) // ten seconds later
	got := k.take("tok3", "")
	if !got.Holds || len(got.Pending) != 2 || !got.Pending[0].Begun || got.Pending[1].Begun {
		t.Fatalf("got %+v", got)
	}
	if s := k.finish("tok1", "e1"); s.Holds { // the dead one was only slow
		t.Error("the old holder goes on")
	}
	if s := k.finish("tok3", "e1"); !s.Holds || len(s.Pending) != 1 {
		t.Errorf("got %+v", s)
	}
}

func TestRelease_GivesBackUnbegun(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.commit(k.write("e1", "tok1", 0))
	if err := k.store.Release(context.Background(), k.a, "other", ""); err != nil {
		t.Fatal(err)
	}
	if got := k.take("tok2", ""); got.Holds {
		t.Fatal("somebody else let the lease go")
	}
	if err := k.store.Release(context.Background(), k.a, "tok1", ""); err != nil {
		t.Fatal(err)
	}
	if got := k.take("tok2", ""); !got.Holds || got.Pending[0].Begun {
		t.Errorf("got %+v", got)
	}
}

func TestTake_DismissesWhatIsGone(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.commit(k.write("e1", "tok1", 0))
	k.client.Del(context.Background(), "conversation:{"+k.a.String()+"}")
	if got := k.take("tok2", ""); got.Holds || k.stale() {
		t.Errorf("got %+v, listed %v", got, k.stale())
	}
}

func TestStale_IsByAge(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.commit(k.write("e1", "tok1", 0))
	all, err := k.store.Stale(context.Background(), time.Hour, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(all, k.a) {
		t.Error("a fresh entry is stale")
	}
}

// What cannot be completed does not keep the others from being named, and what
// Redis has dropped is named no more.
func TestStale_GoesRound(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	const most = 2
	var want []messenger.Address
	for range 5 {
		k.a = address()
		want = append(want, k.a)
		k.commit(k.write("e1", "tok1", 0))
	}
	dropped := want[0]
	k.client.Del(context.Background(), "conversation:{"+dropped.String()+"}")
	seen := map[messenger.Address]bool{}
	deadline := time.Now().Add(10 * time.Second) // calls within a millisecond may name the same ones again
	for len(seen) < len(want)-1 && time.Now().Before(deadline) {
		all, err := k.store.Stale(context.Background(), time.Millisecond, most)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			seen[a] = true
		}
	}
	if len(seen) != len(want)-1 || seen[dropped] {
		t.Errorf("named %v, want all of %v but the first", seen, want)
	}
	if n := k.client.ZCard(context.Background(), "conversations:pending").Val(); n != 4 {
		t.Errorf("%d conversations are listed, want 4", n)
	}
}

// A process that lost its lease and was only slow does not bring back what it knew
// of the person.
func TestFinish_KeepsNoOldProfile(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.commit(k.write("e1", "slow", 0))
	k.client.HSet(context.Background(), "conversation:{"+k.a.String()+"}", "lu", 1)
	k.take("tok2", "")
	k.finishWith("tok2", "en")
	k.finishWith("slow", "ru")
	if p := k.load("look").Profile; p == nil || p.Person.Locale != "en" {
		t.Errorf("got %+v, want what was known last", p)
	}
}

func (k talk) finishWith(token, locale string) {
	k.t.Helper()
	p := &dialog.Profile{Person: person.Person{ID: 1, Locale: locale}}
	if _, err := k.store.Finish(context.Background(), dialog.Done{Address: k.a, Token: token, Key: "e1", Profile: p}); err != nil {
		k.t.Fatal(err)
	}
}

// Redis' clock may go back, when another server takes over: nobody waits until it is
// again as late as it was.
func TestConversation_ClockGoesBack(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	ctx, hash := context.Background(), "conversation:{"+k.a.String()+"}"
	k.commit(k.write("e1", "tok1", 0))
	later := time.Now().Add(time.Hour).UnixMilli()
	k.client.HSet(ctx, hash, "lu", later, "tat", later, "flood", later)
	k.client.ZAdd(ctx, "conversations:pending", redis.Z{Score: float64(later), Member: k.a.String()})
	for i := range 3 {
		s, err := k.store.Load(ctx, dialog.Lookup{Address: k.a, Key: "e2", Burst: 2, Every: time.Minute})
		if want := []dialog.Verdict{dialog.Fresh, dialog.Fresh, dialog.Warned}[i]; err != nil || s.Verdict != want {
			t.Errorf("event %d: got %q, %v, want %q", i, s.Verdict, err, want)
		}
	}
	all, err := k.store.Stale(ctx, time.Minute, 10)
	if err != nil || !slices.Contains(all, k.a) {
		t.Errorf("stale: got %v, %v", all, err)
	}
	if all, err := k.store.Stale(ctx, time.Minute, 10); err != nil || len(all) != 0 {
		t.Errorf("stale again: got %v, %v, want none for a minute", all, err)
	}
	if got := k.take("tok2", ""); !got.Holds {
		t.Error("the lease is held for an hour")
	}
	if got := k.take("tok3", ""); got.Holds {
		t.Error("a lease that is good was taken")
	}
}

// A conversation is dropped whole, and not while somebody works on it: what they would
// write afterwards would stay.
func TestErase(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	k := newTalk(t)
	other := messenger.Address{Messenger: messenger.VK, Bot: "1", Chat: "2"}
	if _, err := k.store.Commit(ctx, dialog.Write{Address: other, Key: "theirs", Token: "t", State: dialog.State{Last: 1}}); err != nil {
		t.Fatal(err)
	}
	before := k.client.DBSize(ctx).Val()
	erase := func() bool {
		t.Helper()
		ok, err := k.store.Erase(ctx, k.a)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if kept, err := k.store.Kept(ctx, k.a); kept != nil || err != nil {
		t.Errorf("kept of nobody: %s, %v", kept, err)
	}
	w := k.write("e1", "tok1", 0)
	w.Tickets = &dialog.Tickets{Known: true, At: time.Now()}
	w.Profile = &dialog.Profile{Person: person.Person{ID: 1}}
	k.commit(w)
	codes := redisdb.NewSessions(k.client)
	code, err := codes.LinkCode(ctx, k.a)
	if err == nil {
		_, err = codes.UseLink(ctx, code, k.a)
	}
	if err == nil {
		_, err = codes.LinkCode(ctx, other)
	}
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := k.store.Kept(ctx, k.a); len(kept) == 0 || err != nil {
		t.Errorf("kept: %s, %v", kept, err)
	}
	idle := func(want bool) {
		t.Helper()
		if ok, err := k.store.Idle(ctx, k.a); ok != want || err != nil {
			t.Errorf("idle: %t, %v; want %t", ok, err, want)
		}
	}
	idle(false)
	if erase() {
		t.Error("erased with an entry that is not done")
	}
	k.finish("tok1", "e1")
	idle(true)
	k.client.HSet(ctx, "conversation:{"+k.a.String()+"}", "lt", "tok2", "lu", k.client.Time(ctx).Val().Add(time.Second).UnixMilli())
	idle(false) // somebody sends
	k.client.HDel(ctx, "conversation:{"+k.a.String()+"}", "lt", "lu")
	for range 2 {
		k.client.ZAdd(ctx, "conversations:pending", redis.Z{Member: k.a.String()}) // as when Redis has dropped the conversation
		if !erase() {
			t.Error("not erased, although nobody works on it")
		}
		if n := k.client.ZCard(ctx, "conversations:pending").Val(); n != 0 {
			t.Errorf("%d conversations owe something", n)
		}
		if got := k.client.DBSize(ctx).Val(); got != before+3 || k.stale() {
			t.Errorf("%d keys, want the %d of the other one, their code, a time and what was seen: %v", got, before, k.client.Keys(ctx, "*").Val())
		}
	}
	for _, key := range k.client.Keys(ctx, "*").Val() {
		if strings.Contains(key, k.a.Chat) {
			t.Errorf("key %s", key)
		}
	}
	now := k.client.Time(ctx).Val()
	for at, want := range map[time.Time]dialog.Verdict{now.Add(-time.Hour): dialog.Seen, now.Add(time.Second): dialog.Fresh, {}: dialog.Fresh} {
		s, err := k.store.Load(ctx, dialog.Lookup{Address: k.a, Key: "e3", At: at})
		if err != nil || s.Verdict != want {
			t.Errorf("said at %s: %s, %v; want %s", at, s.Verdict, err, want)
		}
		if s, err = k.store.Load(ctx, dialog.Lookup{Address: other, Key: "e2", At: at}); err != nil || s.Verdict != dialog.Fresh {
			t.Errorf("said by somebody else at %s: %s, %v", at, s.Verdict, err)
		}
	}
	// What was handled before is handled, whenever it was said.
	for _, at := range []time.Time{now.Add(time.Second), {}} {
		if s, err := k.store.Load(ctx, dialog.Lookup{Address: k.a, Key: "e1", At: at}); err != nil || s.Verdict != dialog.Seen {
			t.Errorf("repeated: %s, %v; want seen", s.Verdict, err)
		}
	}
	if s, err := k.store.Commit(ctx, k.write("e1", "tok3", 0)); err != nil || s.Verdict != dialog.Seen {
		t.Errorf("committed again: %s, %v; want seen", s.Verdict, err)
	}
	for _, key := range k.client.Keys(ctx, "*").Val() {
		if left := k.client.PTTL(ctx, key).Val(); left <= 0 || left > 7*24*time.Hour {
			t.Errorf("%s is kept for %s", key, left)
		}
	}
}
