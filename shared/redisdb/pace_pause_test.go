package redisdb_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/pace"
	"supportbot/shared/redisdb"
)

func bot(chat string) []pace.Limit {
	return []pace.Limit{shared("bot", 1000), own(chat, 0, 1)}
}

func refuse(t *testing.T, p *redisdb.Pace, chat string, d time.Duration) {
	t.Helper()
	if err := p.Refused(context.Background(), "bot", chat, d); err != nil {
		t.Fatal(err)
	}
}

func wantWait(t *testing.T, g pace.Grant, want time.Duration) {
	t.Helper()
	if g.OK || g.Wait > want || g.Wait < want-10*time.Second {
		t.Errorf("got %+v, want a refusal with a wait of %s", g, want)
	}
}

func TestPace_PauseTakesTheLongest(t *testing.T) {
	t.Parallel()
	p, _ := newPace(t)
	for _, d := range []time.Duration{time.Minute, time.Hour, time.Second} {
		if err := p.Pause(context.Background(), "tracker", d); err != nil {
			t.Fatal(err)
		}
	}
	wantWait(t, reserve(t, p, time.Minute, shared("tracker", 8)), time.Hour)
	// The patient get a place behind the pause.
	if g := reserve(t, p, 2*time.Hour, shared("tracker", 8)); !g.OK || g.Wait < 50*time.Minute {
		t.Errorf("got %+v", g)
	}
}

func TestPace_OneRefusedChatPausesNoOther(t *testing.T) {
	t.Parallel()
	p, _ := newPace(t)
	refuse(t, p, "a", time.Minute)
	refuse(t, p, "a", time.Minute)
	wantWait(t, reserve(t, p, time.Second, bot("a")...), time.Minute)
	if g := reserve(t, p, time.Second, bot("b")...); !g.OK {
		t.Errorf("got %+v for another chat", g)
	}
}

// TestPace_WindowEnds: two chats refused at different times are two chats.
func TestPace_WindowEnds(t *testing.T) {
	t.Parallel()
	stores, client := processes(t, 1, redisdb.PaceConfig{Window: time.Millisecond})
	p := stores[0]
	refuse(t, p, "a", time.Minute)
	eventually(t, func() bool { return client.Exists(context.Background(), "pace:refused:bot").Val() == 0 })
	refuse(t, p, "b", time.Minute)
	if g := reserve(t, p, time.Second, bot("c")...); !g.OK {
		t.Errorf("got %+v for a third chat", g)
	}
}

func TestPace_TwoRefusedChatsPauseTheMessenger(t *testing.T) {
	t.Parallel()
	p, _ := newPace(t)
	refuse(t, p, "a", 20*time.Second)
	refuse(t, p, "b", time.Hour)
	wantWait(t, reserve(t, p, 5*time.Second, bot("a")...), 30*time.Second)
	wantWait(t, reserve(t, p, 5*time.Second, bot("c")...), 30*time.Second) // until the first probe
	if g := reserve(t, p, 5*time.Second, shared("other", 10)); !g.OK {
		t.Errorf("got %+v for another messenger", g)
	}
}

// TestPace_Probe: one call is let through, whoever asks at once; if it is refused
// the pause goes on.
func TestPace_Probe(t *testing.T) {
	t.Parallel()
	stores, _ := processes(t, 2, redisdb.PaceConfig{Probe: 20 * time.Millisecond, Settle: time.Hour})
	refuse(t, stores[0], "a", time.Hour)
	refuse(t, stores[0], "b", time.Hour)
	for round := range 3 {
		var probes atomic.Int64
		var all sync.WaitGroup
		for i := range 20 {
			all.Add(1)
			go func() {
				defer all.Done()
				// Who is refused knows the time of the probe, and asks again then.
				for end := time.Now().Add(30 * time.Second); probes.Load() == 0 && time.Now().Before(end); {
					if g, err := stores[i%2].Reserve(context.Background(), bot("c"), time.Second); err != nil {
						t.Error(err)
						return
					} else if g.OK {
						probes.Add(1)
					}
				}
				for range 5 {
					if g, err := stores[i%2].Reserve(context.Background(), bot("c"), time.Second); err != nil || g.OK {
						t.Errorf("got %+v, %v while a probe is out", g, err)
					}
				}
			}()
		}
		all.Wait()
		if got := probes.Load(); got != 1 {
			t.Fatalf("round %d: %d probes, want 1", round, got)
		}
		refuse(t, stores[1], "d", time.Hour)
	}
}

// TestPace_ProbeOfAPausedChat: a chat that is paused itself does not use the probe up.
func TestPace_ProbeOfAPausedChat(t *testing.T) {
	t.Parallel()
	stores, _ := processes(t, 1, redisdb.PaceConfig{Probe: time.Millisecond, Settle: time.Hour})
	p := stores[0]
	refuse(t, p, "a", time.Hour)
	refuse(t, p, "b", time.Hour)
	for range 10 {
		wantWait(t, reserve(t, p, time.Second, bot("a")...), time.Hour)
	}
	eventually(t, func() bool { return reserve(t, p, time.Second, bot("c")...).OK })
}

// TestPace_NoMessageIsNoProbe: whether a messenger takes messages again is not seen by a
// call that is none. It leaves the probe to a message, and waits for what comes of it.
func TestPace_NoMessageIsNoProbe(t *testing.T) {
	t.Parallel()
	stores, client := processes(t, 1, redisdb.PaceConfig{Probe: time.Millisecond, Settle: time.Minute})
	p, call := stores[0], shared("bot", 1000)
	call.Mute = true
	refuse(t, p, "a", time.Hour)
	refuse(t, p, "b", time.Hour)
	for begun := client.Time(context.Background()).Val(); client.Time(context.Background()).Val().Sub(begun) < 5*time.Millisecond; {
		wantWait(t, reserve(t, p, time.Second, call), 61*time.Second)
	}
	if g := reserve(t, p, time.Second, bot("c")...); !g.OK {
		t.Errorf("a message: got %+v, want to be the probe", g)
	}
	wantWait(t, reserve(t, p, time.Second, call), time.Minute)
	client.Del(context.Background(), "pace:pause:bot")
	if g := reserve(t, p, time.Second, call); !g.OK {
		t.Errorf("got %+v after the pause", g)
	}
}

// TestPace_ProbeSucceeds: nobody complained of the probe, so the pause is over,
// but not that of the chats that were refused.
func TestPace_ProbeSucceeds(t *testing.T) {
	t.Parallel()
	stores, client := processes(t, 1, redisdb.PaceConfig{Probe: time.Millisecond, Settle: time.Millisecond})
	p := stores[0]
	refuse(t, p, "a", time.Hour)
	refuse(t, p, "b", time.Hour)
	eventually(t, func() bool {
		return reserve(t, p, time.Second, bot("c")...).OK && client.Exists(context.Background(), "pace:pause:bot").Val() == 0
	})
	if g := reserve(t, p, time.Second, bot("d")...); !g.OK {
		t.Errorf("got %+v after the pause", g)
	}
	wantWait(t, reserve(t, p, time.Second, bot("b")...), time.Hour)
}

// eventually asks again until it is so.
func eventually(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); {
		if time.Now().After(end) {
			t.Fatal("never happened")
		}
	}
}

// Redis' clock may go back, when another server takes over: no chat waits until it is
// again as late as it was.
func TestPace_ClockGoesBack(t *testing.T) {
	t.Parallel()
	p, client := newPace(t)
	chat := own("chat", 1, 3)
	later := time.Now().Add(time.Hour)
	client.Set(context.Background(), "pace:places:chat", later.UnixMicro(), 2*time.Hour)
	if g := reserve(t, p, time.Second, chat); !g.OK || g.Wait > time.Second {
		t.Errorf("got %+v, want a place", g)
	}
	if ttl := client.PTTL(context.Background(), "pace:places:chat").Val(); ttl > time.Minute {
		t.Errorf("kept for %v", ttl)
	}
}
