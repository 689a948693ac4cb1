package storm

import (
	"context"
	"fmt"
	"testing"
	"time"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/pace"
	"supportbot/shared/redisdb"
)

// TestLimiter_Hears: the places that are heard are those that were given, also of a chat;
// each wipe begins an era.
func TestLimiter_Hears(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	address := backendtest.Redis(t)
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(address)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	l, err := listen(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.close() }()
	limits := []pace.Limit{
		{Key: "telegram:109", Rate: 30, Burst: 1, Shared: true}, {Key: "telegram:109:chat:5", Rate: 0.9, Burst: 3},
		{Key: "telegram:109:broadcasts", Rate: 20, Burst: 1, Shared: true},
	}
	p := redisdb.NewPace(client, redisdb.PaceConfig{})
	var want []Place
	for era := range 3 {
		for range 3 {
			g, err := p.Reserve(ctx, limits, time.Minute)
			if err != nil || !g.OK {
				t.Fatalf("got %+v, %v", g, err)
			}
			for _, limit := range limits {
				want = append(want, Place{limit.Key, g.At, era})
			}
		}
		// What others have in this Redis stays.
		for _, limit := range limits {
			client.Del(ctx, placesKey+limit.Key)
		}
	}
	for end := time.Now().Add(30 * time.Second); ; {
		got, err := l.given()
		if err != nil {
			t.Fatal(err)
		}
		got = ours(got)
		if len(got) == len(want) {
			for i := range got {
				if got[i].Key != want[i].Key || !got[i].At.Equal(want[i].At) || got[i].Era != want[i].Era {
					t.Errorf("place %d: got %v, want %v", i, got[i], want[i])
				}
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("heard %v, want %v", got, want)
		}
	}
}

// ours leaves out what other tests do in the same Redis.
func ours(all []Place) (kept []Place) {
	for _, p := range all {
		if measured(p.Key) != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

// TestLimiter_Over: a Redis that is gone tells nothing any more, and that is no silence.
func TestLimiter_Over(t *testing.T) {
	t.Parallel()
	l, err := listen(context.Background(), backendtest.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
	if got, err := l.given(); err == nil {
		t.Error(fmt.Sprint("got ", got, ", want an error"))
	}
}
