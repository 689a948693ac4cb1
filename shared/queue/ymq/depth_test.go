package ymq_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/queue"
	"supportbot/shared/queue/ymq"
)

func TestDepth(t *testing.T) {
	t.Parallel()
	address, api := admin(t)
	cfg := config(address)
	dead, arn := createQueue(t, api, "depth-dead", nil)
	cfg.URLs["dead"] = dead
	cfg.URLs["q"], _ = createQueue(t, api, "depth", map[string]string{"RedrivePolicy": redrive(t, arn, 5)})
	c, ctx := open(t, cfg), context.Background()
	for name, n := range map[string]int{"q": 3, "dead": 2} {
		if err := c.Publish(ctx, name, make([]queue.Hint, n)...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Receive(ctx, "q", 1, 0); err != nil {
		t.Fatal(err)
	}
	got, err := c.Depth(ctx, "q")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ymq.Depth{Waiting: 2, Taken: 1, DeadName: "depth-dead", Dead: 2}, got); diff != "" {
		t.Errorf("depth (-want +got):\n%s", diff)
	}
	got, err = c.Depth(ctx, "dead")
	if diff := cmp.Diff(ymq.Depth{Waiting: 2}, got); diff != "" || err != nil {
		t.Errorf("depth of dead letters: %v (-want +got):\n%s", err, diff)
	}
	if _, err := c.Depth(ctx, "missing"); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("of a queue that is not configured: %v", err)
	}
}

// Dead letters are found by the policy of their queue, and counted, received and deleted
// like any other messages.
func TestDead_ByThePolicy(t *testing.T) {
	t.Parallel()
	address, api := admin(t)
	cfg := config(address)
	_, arn := createQueue(t, api, "policy-dead-letters", nil)
	cfg.URLs["q"], _ = createQueue(t, api, "policy", map[string]string{"RedrivePolicy": redrive(t, arn, 5)})
	cfg.URLs["none"], _ = createQueue(t, api, "policy-none", nil)
	c, ctx := open(t, cfg), context.Background()
	if err := c.Publish(ctx, queue.Dead("q"), queue.Hint{Job: 7}, queue.Hint{Job: 8}); err != nil {
		t.Fatal(err)
	}
	count := func(want int) {
		t.Helper()
		if n, err := c.Count(ctx, queue.Dead("q")); err != nil || n != want {
			t.Errorf("%d messages, %v, want %d", n, err, want)
		}
	}
	count(2)
	got, err := c.Receive(ctx, queue.Dead("q"), 10, 0)
	if err != nil || len(got) != 2 {
		t.Fatalf("received %v, %v", got, err)
	}
	count(2) // received is not gone
	if err := c.Delete(ctx, queue.Dead("q"), got[0].Receipt, got[1].Receipt); err != nil {
		t.Fatal(err)
	}
	count(0)
	for _, name := range []string{queue.Dead("none"), queue.Dead("missing")} {
		if _, err := c.Receive(ctx, name, 1, 0); !errors.Is(err, queue.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
