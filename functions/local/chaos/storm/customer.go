package storm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// customer is a person with a phone, and the agent who has their tickets.
type customer struct {
	w      *world
	n      int
	phone  phone
	rand   *rand.Rand
	serial int

	forms   []*Form
	written []*Written
	ratings []Rating
	bursts  map[string]int // of messages, by token
	trouble error          // of the play, not of the platform
}

// How long people wait before they do something about it.
const (
	promptWait = 30 * time.Second
	answerWait = 90 * time.Second
	look       = 400 * time.Millisecond
)

// errSilence: what a person waited for did not come.
var errSilence = errors.New("nothing came")

// token is a word that is found again wherever it gets to: what it is (see books), who
// said it, and how much was said before.
func (c *customer) token(kind string) string {
	c.serial++
	return fmt.Sprintf("%s%dN%dE", kind, c.n, c.serial)
}

// pause is the pace of a person.
func (c *customer) pause(ctx context.Context) {
	_ = sleep(ctx, c.w.think/2+rand2(c.rand, c.w.think))
}

func rand2(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d) + 1)) }

func (c *customer) chance(percent int) bool { return c.rand.IntN(100) < percent }

// waits waits until a message after number seen contains one of the texts.
func (c *customer) waits(ctx context.Context, seen int64, d time.Duration, texts ...string) (Got, error) {
	var found Got
	err := c.until(ctx, d, func() bool {
		for _, m := range c.phone.got() {
			for _, text := range texts {
				if m.ID > seen && strings.Contains(m.Text, text) {
					found = m
					return true
				}
			}
		}
		return false
	})
	return found, err
}

// until looks now and then, for so long.
func (c *customer) until(ctx context.Context, d time.Duration, is func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for !is() {
		if sleep(ctx, look) != nil {
			return errSilence
		}
	}
	return nil
}

// step does something and waits for the bot's next message.
func (c *customer) step(ctx context.Context, do func(), texts ...string) error {
	c.pause(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	seen := last(c.phone.got())
	do()
	_, err := c.waits(ctx, seen, promptWait, texts...)
	return err
}
