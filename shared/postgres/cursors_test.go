package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
)

// TestAdvance_LeaseLost: a look that was taken over moves no cursor back, and tells
// nobody anything.
func TestAdvance_LeaseLost(t *testing.T) {
	t.Parallel()
	ctx, db := context.Background(), open(t, 2)
	made, err := db.Insert(ctx, []job.New{{Queue: "deliveries", Kind: ticket.KindLook, Key: "look", Lane: job.Lane{Name: ticket.IssueLane("i1")}}})
	if err != nil {
		t.Fatal(err)
	}
	look := made[0].ID
	if c, err := db.Claim(ctx, "deliveries", look, tokenA); err != nil || c.Job == nil {
		t.Fatalf("claim: %+v, %v", c, err)
	}
	news := func(comment string) []job.New {
		return []job.New{{
			Queue: "deliveries", Kind: ticket.KindAnswer, Key: "answer:" + comment,
			Lane: job.Lane{Name: ticket.OutboundLane(messenger.Address{Messenger: messenger.VK, Bot: "1", Chat: "2"})},
		}}
	}
	at := func(comment string) ticket.Cursor {
		return ticket.Cursor{Issue: "i1", StartsAt: time.Now(), Comment: comment, Recent: []string{"c" + comment}}
	}
	if _, err := db.Advance(ctx, look, tokenA, at("7"), news("7")); err != nil {
		t.Fatal(err)
	}
	for name, stale := range map[string]struct {
		look  int64
		token string
	}{"another's token": {look, tokenB}, "another look": {look + 100, tokenA}} {
		if made, err := db.Advance(ctx, stale.look, stale.token, at("3"), news("3")); !errors.Is(err, job.ErrLost) {
			t.Errorf("%s: %+v, %v; want ErrLost", name, made, err)
		}
	}
	c, err := db.Cursor(ctx, "i1")
	if err != nil || c == nil || c.Comment != "7" {
		t.Errorf("cursor %+v, %v; want 7", c, err)
	}
	if j, err := db.Find(ctx, "answer:3"); j != nil || err != nil {
		t.Errorf("told by a look that is over: %+v, %v", j, err)
	}
}
