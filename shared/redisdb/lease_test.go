package redisdb_test

import (
	"context"
	"slices"
	"testing"
	"time"
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
	if err := k.store.Release(context.Background(), k.a, "other", []string{"e1"}); err != nil {
		t.Fatal(err)
	}
	if got := k.take("tok2", ""); got.Holds {
		t.Fatal("somebody else let the lease go")
	}
	if err := k.store.Release(context.Background(), k.a, "tok1", []string{"e1"}); err != nil {
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
