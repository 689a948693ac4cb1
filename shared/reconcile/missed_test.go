package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/pace"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/reconcile"
)

func TestMissed_TakesEachMessageOnce(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.write("1", "long before the first run")
	b.now = b.now.Add(10 * time.Minute)
	b.write("1", "before the first run")
	b.now = b.now.Add(time.Minute)
	b.write("2", "too fresh")
	b.run()
	b.want("1", "before the first run")
	b.want("2")
	// Every second something is said; the timer comes at odd times.
	for i := range 300 {
		b.now = b.now.Add(time.Second)
		b.write(strconv.Itoa(3+i%4), fmt.Sprint(i))
		if i%7 == 0 {
			b.run()
		}
	}
	b.later(time.Minute)
	b.want("2", "too fresh")
	for chat := range 4 {
		var want []string
		for i := chat; i < 300; i += 4 {
			want = append(want, fmt.Sprint(i))
		}
		b.want(strconv.Itoa(3+chat), want...)
	}
	for key, n := range b.keys {
		if n != 1 {
			t.Errorf("message %s was handed on %d times", key, n)
		}
	}
}

// A timer that comes each second does not make a call each second.
func TestMissed_IsPolite(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.run()
	for range 60 {
		b.write("1", "x")
		b.later(time.Second)
	}
	if b.calls > 1+2*2 {
		t.Errorf("%d calls within a minute", b.calls)
	}
}

// More than one run can do: it goes on where it was, and who writes meanwhile is
// heard as well.
func TestMissed_GoesOnNextTime(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.run()
	b.now = b.now.Add(time.Minute)
	const chats = 2500
	for i := range chats {
		if i%20 == 0 {
			b.now = b.now.Add(time.Second)
		}
		b.write(strconv.Itoa(i), "first")
		b.write(strconv.Itoa(i), "second")
	}
	b.now = b.now.Add(time.Minute)
	if n := b.run(); n != 2000 {
		t.Errorf("the first run took %d messages, want those of 1000 chats", n)
	}
	b.want("0", "first", "second")
	b.want("2400")
	b.write("0", "third")
	b.write("2400", "third")
	for range 3 {
		b.later(31 * time.Second)
	}
	for i := range chats {
		want := []string{"first", "second"}
		if i == 0 || i == 2400 {
			want = append(want, "third")
		}
		b.want(strconv.Itoa(i), want...)
	}
	if again := len(slices.DeleteFunc(slices.Collect(maps.Values(b.keys)), func(n int) bool { return n == 1 })); again > 100 {
		t.Errorf("%d messages were handed on more than once", again)
	}
	before := b.calls
	b.later(31 * time.Second)
	if b.calls != before+1 {
		t.Errorf("%d calls when there is nothing new, want one", b.calls-before)
	}
}

// The run's end comes in the middle: what was begun is done, the rest is done later.
func TestMissed_EndOfTheRun(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.run()
	for i := range 60 {
		b.now = b.now.Add(time.Second)
		b.write(strconv.Itoa(i), "x")
	}
	b.now = b.now.Add(time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	b.after = func(messenger.Event) {
		if len(b.keys) == 30 {
			cancel()
		}
	}
	if n, err := b.duty.Run(ctx); n != 30 || err != nil {
		t.Fatalf("took %d, %v, want 30 and no error", n, err)
	}
	b.after = func(messenger.Event) {}
	if n := b.later(time.Second); n > 32 {
		t.Errorf("the next run began anew: %d messages", n)
	}
	if len(b.taken) != 60 {
		t.Errorf("took %d messages, want 60", len(b.taken))
	}
	ctx, cancel = context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	b.write("1", "y")
	b.now = b.now.Add(time.Minute)
	if n, err := b.duty.Run(ctx); n != 0 || err != nil {
		t.Errorf("so close to its end it took %d, %v", n, err)
	}
	b.run()
	b.want("1", "x", "y")
}

// A message that cannot be taken keeps those behind it in its chat, and no others.
func TestMissed_OneChatFails(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.run()
	for _, chat := range []string{"1", "bad", "3"} {
		b.now = b.now.Add(time.Second)
		b.write(chat, "first")
		b.write(chat, "second")
	}
	poison := errors.New("poison")
	b.fail["bad"] = poison
	for range 3 {
		b.now = b.now.Add(time.Minute)
		if _, err := b.duty.Run(context.Background()); !errors.Is(err, poison) {
			t.Errorf("got %v, want what was wrong", err)
		}
		b.want("1", "first", "second")
		b.want("bad")
		b.want("3", "first", "second")
	}
	b.fail = map[string]error{}
	b.later(time.Minute)
	b.want("bad", "first", "second")
}

// When nothing can be taken the store is away: a run does not try everything.
func TestMissed_StoreIsAway(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.run()
	b.now = b.now.Add(time.Second)
	for i := range 100 {
		b.write(strconv.Itoa(i), "x")
		b.fail[strconv.Itoa(i)] = errors.New("away")
	}
	b.now = b.now.Add(time.Minute)
	_, err := b.duty.Run(context.Background())
	if err == nil || strings.Count(err.Error(), "away") != 3 {
		t.Errorf("got %v, want three tries", err)
	}
	b.fail = map[string]error{}
	b.later(time.Second)
	if len(b.taken) != 100 {
		t.Errorf("took %d messages, want 100", len(b.taken))
	}
}

// To be told to come later, by our limiter or by the messenger, is no failure.
func TestMissed_Limits(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.run()
	b.now = b.now.Add(time.Second)
	b.write("1", "x")
	b.now = b.now.Add(time.Minute)
	b.wait = &pace.TooLong{Wait: time.Minute}
	if n := b.run(); n != 0 {
		t.Errorf("took %d", n)
	}
	b.wait, b.err = nil, &messenger.Error{Kind: messenger.RateLimited, RetryAfter: 7 * time.Second, Err: errors.New("6")}
	if n := b.run(); n != 0 || !slices.Equal(b.refused, []time.Duration{7 * time.Second}) {
		t.Errorf("took %d; the limiter was told of %v", n, b.refused)
	}
	b.err = &messenger.Error{Kind: messenger.Temporary, Err: errors.New("away")}
	if _, err := b.duty.Run(context.Background()); messenger.KindOf(err) != messenger.Temporary {
		t.Errorf("got %v, want the messenger's error", err)
	}
	b.run()
	b.want("1", "x")
}

// An empty Redis does not know what was taken: what most probably was is not taken
// again, and what could not be is not forgotten.
func TestMissed_MemoryIsLost(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.run()
	for range 3 {
		b.now = b.now.Add(20 * time.Second)
		b.write("1", "taken by the webhook")
	}
	b.wipe()
	b.later(time.Second)
	b.later(31 * time.Second)
	b.write("1", "said when the memory was whole again")
	b.later(time.Minute)
	b.want("1", "said when the memory was whole again")
	delete(b.taken, "1")
	// Redis is away for an hour, and comes back empty.
	_ = b.redis.Close()
	for range 6 {
		b.now = b.now.Add(10 * time.Minute)
		b.write("1", fmt.Sprint("said at ", b.now.Format("15:04")))
		if _, err := b.duty.Run(context.Background()); err == nil {
			t.Error("a run without Redis succeeds")
		}
	}
	open(b)
	b.later(time.Minute)
	if got := len(b.taken["1"]); got != 6 {
		t.Errorf("took %d of the 6 messages of that hour", got)
	}
	if !strings.Contains(b.log.String(), "nobody knows what was taken") {
		t.Error("it is not told")
	}
}

// A memory that is lost while a run is under way ends it: what the run has yet to hand on
// may have been taken before.
func TestMissed_MemoryIsLostMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.run()
	b.now = b.now.Add(time.Second)
	for i := range 4 {
		b.write(strconv.Itoa(i), "x")
	}
	b.after = func(messenger.Event) { b.wipe() }
	if n := b.later(time.Minute); n != 1 || len(b.taken) != 1 {
		t.Errorf("took %d messages of %d chats, want the one before", n, len(b.taken))
	}
	b.after = func(messenger.Event) {}
	b.later(time.Second)
	b.later(time.Minute)
	if len(b.taken) != 1 {
		t.Errorf("took messages of %d chats, want one", len(b.taken))
	}
	b.write("0", "said when the memory was whole again")
	b.later(time.Minute)
	if got := b.taken["0"]; len(got) == 0 || got[len(got)-1] != "said when the memory was whole again" {
		t.Errorf("took %q", got)
	}
	if !strings.Contains(b.log.String(), "memory is lost") {
		t.Error("it is not told")
	}
}

// A process whose clock is ahead passes over nothing: how far a run comes goes by the
// store's clock, which runs for all.
func TestMissed_GoesByTheStoresClock(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	db := b.duty.Store.(dated).DB
	b.duty.Store = db
	var err error
	if b.now, err = db.Now(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.write("1", "said just now")
	b.run()
	b.want("1")
	at, err := db.Watermark(context.Background(), "missed:vk:209")
	if ahead := at.Sub(b.now); err != nil || ahead > 0 || ahead < -time.Minute {
		t.Errorf("all is taken until %s (%s), %v", at, ahead, err)
	}
	b.duty.Store = dated{db, b} // half a minute later
	b.later(time.Minute)
	b.want("1", "said just now")
}

// Keys of what was taken are kept for 48 hours: what is older is not looked at, and
// that is told.
func TestMissed_TooOld(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.run()
	b.now = b.now.Add(time.Second)
	b.write("1", "old")
	b.now = b.now.Add(10 * time.Hour)
	b.write("1", "younger")
	b.later(40 * time.Hour)
	b.want("1", "younger")
	if !strings.Contains(b.log.String(), "too old") {
		t.Error("it is not told")
	}
}

func TestService_ADutyThatPanicsHurtsNoOther(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(postgres.Config{URL: env.NewSecret(backendtest.Postgres(t, schema.Migrate)), MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	ran := 0
	s := &reconcile.Service{Leases: db, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Duties: []reconcile.Duty{
		{Name: "panics", Time: time.Second, Run: func(context.Context) (int, error) { panic("x") }},
		{Name: "fails", Time: time.Second, Run: func(context.Context) (int, error) { return 0, errors.New("broken") }},
		{Name: "works", Time: time.Second, Run: func(context.Context) (int, error) { ran++; return 1, nil }},
	}}
	err = s.Handle(context.Background(), nil)
	if err == nil || !strings.Contains(err.Error(), "duty panics") || !strings.Contains(err.Error(), "duty fails") || ran != 1 {
		t.Errorf("got %v, and the last duty ran %d times", err, ran)
	}
}
