package redisdb_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"supportbot/shared/dialog"
	"supportbot/shared/redisdb"
	"supportbot/shared/ticket"
)

func TestTickets(t *testing.T) {
	t.Parallel()
	ctx, a := context.Background(), address()
	cache := redisdb.NewTickets(open(t))
	get := func() dialog.Tickets {
		t.Helper()
		k, err := cache.Get(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	one := ticket.Summary{Ref: ticket.Ref{Draft: "one"}, Title: "1", Phase: ticket.PhaseOpen, CreatedAt: time.Unix(1, 0).UTC()}
	two := ticket.Summary{Ref: ticket.Ref{Issue: "2"}, Title: "2", Phase: ticket.PhaseClosed}

	if get().Known {
		t.Fatal("an empty cache knows something")
	}
	do(cache.Upsert(ctx, a, one))
	if k := get(); k.Known || k.Generation != 1 {
		t.Fatalf("a list that is not known became known: %+v", k)
	}
	before := get()
	list := dialog.Tickets{Known: true, At: time.UnixMilli(1 << 41).UTC(), List: []ticket.Summary{one, two}, Generation: before.Generation}
	do(cache.Put(ctx, a, list))
	if diff := cmp.Diff(list, get(), cmpopts.SortSlices(func(x, y ticket.Summary) bool { return x.Title < y.Title })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	list.List = []ticket.Summary{two}
	do(cache.Put(ctx, a, list)) // replaces
	if got := len(get().List); got != 1 {
		t.Errorf("got %d tickets, want 1", got)
	}

	// A reading that began before a change must not bring the old list back.
	slow := get()
	two.Title = "changed"
	do(cache.Upsert(ctx, a, two))
	do(cache.Put(ctx, a, dialog.Tickets{Known: true, At: time.Now(), List: []ticket.Summary{one}, Generation: slow.Generation}))
	if k := get(); len(k.List) != 1 || k.List[0].Title != "changed" {
		t.Errorf("after an upsert: got %+v", k.List)
	}
	slow = get()
	do(cache.Drop(ctx, a))
	do(cache.Put(ctx, a, dialog.Tickets{Known: true, At: time.Now(), List: []ticket.Summary{one}, Generation: slow.Generation}))
	if k := get(); k.Known || k.Generation != slow.Generation+1 {
		t.Errorf("after a drop: got %+v", k)
	}
}
