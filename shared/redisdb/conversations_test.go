package redisdb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"supportbot/shared/dialog"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/redisdb"
	"supportbot/shared/ticket"
)

// talk is one conversation in the store.
type talk struct {
	t      *testing.T
	a      messenger.Address
	store  *redisdb.Conversations
	client *redis.Client
}

func newTalk(t *testing.T) talk {
	t.Helper()
	c := open(t)
	return talk{t: t, a: address(), store: redisdb.NewConversations(c), client: c}
}

func (k talk) load(key string) dialog.Snapshot {
	k.t.Helper()
	s, err := k.store.Load(context.Background(), dialog.Lookup{Address: k.a, Key: key})
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

func (k talk) write(key, token string, version int64) dialog.Write {
	return dialog.Write{
		Address: k.a, Key: key, Version: version, Token: token, State: dialog.State{Last: version + 1},
		Entry: &dialog.Entry{Key: key, N: version + 1, Writer: token, Address: k.a, Replies: []dialog.Reply{{Text: "reply to " + key}}},
	}
}

func (k talk) commit(w dialog.Write) dialog.Snapshot {
	k.t.Helper()
	s, err := k.store.Commit(context.Background(), w)
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

func (k talk) finish(token, key string) dialog.Snapshot {
	k.t.Helper()
	s, err := k.store.Finish(context.Background(), dialog.Done{Address: k.a, Token: token, Key: key})
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

func (k talk) take(token, recorded string) dialog.Snapshot {
	k.t.Helper()
	s, err := k.store.Take(context.Background(), k.a, token, recorded)
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

// stale reports whether the conversation is listed as owing something.
func (k talk) stale() bool {
	k.t.Helper()
	all, err := k.store.Stale(context.Background(), 0, 10_000)
	if err != nil {
		k.t.Fatal(err)
	}
	return slices.Contains(all, k.a)
}

func keysOf(pending []dialog.Pending) []string {
	var out []string
	for _, p := range pending {
		out = append(out, p.Key)
	}
	return out
}

func TestConversation_LifeOfAnEntry(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	if got := k.load("e1"); got.Verdict != dialog.Fresh || got.Version != 0 || got.Profile != nil || got.Tickets.Known || got.Pending != nil {
		t.Fatalf("empty: got %+v", got)
	}
	at := time.Date(2026, 3, 1, 1, 2, 3, 0, time.UTC)
	w := k.write("e1", "tok1", 0)
	w.State = dialog.State{Last: 1 << 45, Start: "promo", AckAt: at}
	w.Profile = &dialog.Profile{Person: person.Person{ID: 1 << 50, Locale: "en", Settings: person.DefaultSettings}, At: at}
	w.Tickets = &dialog.Tickets{Known: true, At: at, List: []ticket.Summary{{Ref: ticket.Ref{Draft: "abc"}, Title: "t", Phase: ticket.PhaseOpen}}}
	jobs, err := dialog.Jobs([]job.New{{Kind: "ticket.comment", Key: "e1", Sequence: 1 << 45, Payload: ticket.Comment{Message: ticket.Message{Key: "e1"}},
		Gather: &job.Gather{Member: "e1", Wait: time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	w.Entry.Jobs = jobs
	got := k.commit(w)
	if got.Verdict != dialog.Committed || !got.Holds || len(got.Pending) != 1 || got.Pending[0].Begun || got.Pending[0].Recorded {
		t.Fatalf("committed: got %+v", got)
	}
	if diff := cmp.Diff(*w.Entry, got.Pending[0].Entry); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	if !k.stale() {
		t.Error("the conversation is not listed")
	}
	again := k.load("e1")
	if again.Verdict != dialog.Repeated || len(again.Pending) != 1 || !again.Pending[0].Begun {
		t.Errorf("repeated: got %+v", again)
	}
	other := k.load("e2")
	if diff := cmp.Diff(w.State, other.State); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(w.Profile, other.Profile); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(*w.Tickets, other.Tickets); diff != "" {
		t.Errorf("tickets (-want +got):\n%s", diff)
	}
	if got := k.finish("tok1", "e1"); got.Holds || got.Pending != nil {
		t.Errorf("finished: got %+v", got)
	}
	if got := k.load("e1"); got.Verdict != dialog.Seen {
		t.Errorf("after: got %q", got.Verdict)
	}
	if k.stale() {
		t.Error("the conversation is still listed")
	}
}

func TestCommit_OneOfManyWins(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	var wg sync.WaitGroup
	verdicts := make([]dialog.Verdict, 20)
	for i := range verdicts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s, err := k.store.Commit(context.Background(), k.write(fmt.Sprint("e", i), fmt.Sprint("tok", i), 0))
			if err != nil {
				t.Error(err)
			}
			verdicts[i] = s.Verdict
		}()
	}
	wg.Wait()
	won := 0
	for _, v := range verdicts {
		switch v {
		case dialog.Committed:
			won++
		case dialog.Conflict:
		default:
			t.Errorf("got %q", v)
		}
	}
	if got := k.load("x"); won != 1 || got.Version != 1 || len(got.Pending) != 1 {
		t.Errorf("%d won, version %d, %d entries", won, got.Version, len(got.Pending))
	}
}

func TestCommit_MayBeRepeated(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	w := k.write("e1", "tok1", 0)
	k.commit(w)
	if got := k.commit(w); got.Verdict != dialog.Committed || !got.Holds || got.Pending[0].Begun {
		t.Errorf("the client's own repetition: got %+v", got)
	}
	if got := k.load("x").Version; got != 1 {
		t.Errorf("version: got %d, want 1", got)
	}
	w.Entry.Writer, w.Token = "tok2", "tok2"
	if got := k.commit(w); got.Verdict != dialog.Repeated || len(got.Pending) != 1 {
		t.Errorf("another writer: got %+v", got)
	}
	k.finish("tok1", "e1")
	if got := k.commit(w); got.Verdict != dialog.Seen {
		t.Errorf("after the end: got %q", got.Verdict)
	}
}

func TestCommit_WithoutEntryIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	w := k.write("e1", "tok1", 0)
	w.Entry = nil
	if got := k.commit(w); got.Verdict != dialog.Committed || got.Holds {
		t.Errorf("got %+v", got)
	}
	if got := k.load("e1"); got.Verdict != dialog.Seen {
		t.Errorf("got %q", got.Verdict)
	}
	if k.stale() {
		t.Error("the conversation is listed")
	}
}

func TestFlood(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	look := func(key string) dialog.Verdict {
		s, err := k.store.Load(context.Background(), dialog.Lookup{Address: k.a, Key: key, Burst: 5, Every: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return s.Verdict
	}
	k.commit(k.write("e0", "tok", 0))
	var got []dialog.Verdict
	for i := range 8 {
		got = append(got, look(fmt.Sprint("f", i)))
	}
	want := []dialog.Verdict{"fresh", "fresh", "fresh", "fresh", "fresh", "warned", "flooding", "flooding"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, key := range []string{"f5", "f7"} {
		if got := k.load(key).Verdict; got != dialog.Seen {
			t.Errorf("what was refused, brought later: got %q, want it to stay refused", got)
		}
	}
	if got := look("e0"); got != dialog.Repeated {
		t.Errorf("a repetition is refused: got %q", got)
	}
	other := newTalk(t)
	if got := other.load("x").Verdict; got != dialog.Fresh {
		t.Errorf("another customer: got %q", got)
	}
}

func TestBan(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	w := k.write("e1", "tok1", 0)
	w.Entry, w.Profile = nil, &dialog.Profile{Person: person.Person{Banned: true}}
	k.commit(w)
	if got := k.load("e2").Verdict; got != dialog.Banned {
		t.Fatalf("got %q", got)
	}
	if err := k.store.ForgetPerson(context.Background(), k.a); err != nil {
		t.Fatal(err)
	}
	if got := k.load("e2").Verdict; got != dialog.Seen {
		t.Errorf("what was refused, brought after the ban: got %q, want it to stay refused", got)
	}
	got := k.load("e3")
	if got.Verdict != dialog.Fresh || got.Profile != nil || got.Version != 1 {
		t.Errorf("after ForgetPerson: got %+v", got)
	}
	w = k.write("e4", "tok1", 1)
	w.Profile = &dialog.Profile{Person: person.Person{ID: 5}}
	k.commit(w)
	if got := k.load("e5").Verdict; got != dialog.Fresh {
		t.Errorf("got %q", got)
	}
}

func TestFinish_Profile(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	end := func(version int64, p *dialog.Profile, forget bool) *dialog.Profile {
		t.Helper()
		key := fmt.Sprint("e", version)
		k.commit(k.write(key, "tok", version))
		list := &dialog.Tickets{Known: true, At: time.UnixMilli(version)}
		if _, err := k.store.Finish(context.Background(), dialog.Done{Address: k.a, Token: "tok", Key: key, Profile: p, Forget: forget, Tickets: list}); err != nil {
			t.Fatal(err)
		}
		s := k.load("x")
		if !s.Tickets.Known || s.Tickets.At.UnixMilli() != version {
			t.Errorf("tickets: got %+v", s.Tickets)
		}
		return s.Profile
	}
	if got := end(0, &dialog.Profile{Person: person.Person{ID: 5}}, false); got == nil || got.Person.ID != 5 {
		t.Errorf("set: got %+v", got)
	}
	if got := end(1, nil, false); got == nil {
		t.Error("left: it is gone")
	}
	if got := end(2, nil, true); got != nil {
		t.Errorf("forgotten: got %+v", got)
	}
	// While more is pending, a later event may have changed the person.
	k.commit(k.write("e3", "tok", 3))
	k.commit(k.write("e4", "tok4", 4))
	if _, err := k.store.Finish(context.Background(), dialog.Done{Address: k.a, Token: "tok", Key: "e3", Profile: &dialog.Profile{}}); err != nil {
		t.Fatal(err)
	}
	if got := k.load("x").Profile; got != nil {
		t.Errorf("with more pending: got %+v", got)
	}
}

func TestLoad_StateOfAnotherReleaseCountsAsLost(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.client.HSet(context.Background(), "conversation:{"+k.a.String()+"}", "v", 7, "s", `{"form":"a string now"}`, "p", `[]`)
	got := k.load("e1")
	if got.Version != 7 || got.State.Form != nil || got.Profile != nil {
		t.Errorf("got %+v", got)
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	ctx := context.Background()
	w := k.write("e1", "tok1", 0)
	w.Tickets = &dialog.Tickets{Known: true, At: time.Now()}
	k.commit(w)
	k.finish("tok1", "e1")
	for key, most := range map[string]time.Duration{
		"conversation:{" + k.a.String() + "}": dialog.DraftLife,
		"seen:{" + k.a.String() + "}":         48 * time.Hour,
		"tickets:{" + k.a.String() + "}":      dialog.DraftLife,
	} {
		ttl := k.client.PTTL(ctx, key).Val()
		if ttl <= most-time.Minute || ttl > most {
			t.Errorf("%s lives %v, want %v", key, ttl, most)
		}
	}
	flood := newTalk(t)
	if _, err := flood.store.Load(ctx, dialog.Lookup{Address: flood.a, Key: "x", Burst: 1, Every: time.Second}); err != nil {
		t.Fatal(err)
	}
	if ttl := flood.client.PTTL(ctx, "conversation:{"+flood.a.String()+"}").Val(); ttl <= 0 {
		t.Errorf("a conversation without a state lives for ever: %v", ttl)
	}
}

func TestJob_PayloadSurvives(t *testing.T) {
	t.Parallel()
	jobs, err := dialog.Jobs([]job.New{{Kind: "k", Payload: map[string]int64{"size": 1<<60 + 1}, Delay: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(dialog.Entry{Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	var got dialog.Entry
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(jobs, got.Jobs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
