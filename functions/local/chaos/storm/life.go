package storm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"supportbot/shared/sandbox/tracker"
)

// live opens tickets and talks about them, one after the other, until ctx ends.
func (c *customer) live(ctx context.Context) {
	for ctx.Err() == nil {
		key, err := c.open(ctx)
		if err == nil {
			err = c.talk(ctx, key)
		}
		if err != nil && !errors.Is(err, errSilence) && ctx.Err() == nil {
			c.trouble = fmt.Errorf("customer %d: %w", c.n, err)
			return
		}
		c.pause(ctx)
	}
}

// open fills the form and gives the ticket's key. A form that gets stuck is given up.
func (c *customer) open(ctx context.Context) (key string, err error) {
	f := &Form{Chat: c.phone.address(), Subject: c.token("S"), Began: time.Now()}
	c.forms = append(c.forms, f)
	if err := c.fill(ctx, f); err != nil {
		if ctx.Err() == nil {
			_ = c.step(ctx, func() { c.phone.write("/cancel") }, "тменять", "тменено", "отправлен")
		}
		return "", err
	}
	f.pressed = time.Now()
	if f.press = c.phone.press("Отправить"); f.press == "" {
		return "", errSilence
	}
	err = c.until(ctx, answerWait, func() bool {
		key = c.w.keyOf(f.Subject)
		return key != ""
	})
	return key, err
}

func (c *customer) fill(ctx context.Context, f *Form) error {
	if err := c.step(ctx, func() { c.phone.start("problem") }, "Коротко"); err != nil {
		return err
	}
	if err := c.step(ctx, func() { c.phone.write(f.Subject + " не печатает") }, "Опишите"); err != nil {
		return err
	}
	for range 1 + c.rand.IntN(2) {
		part := c.token("D")
		f.Parts = append(f.Parts, part)
		say := c.phone.write
		if c.chance(30) {
			say = c.phone.photo
		}
		if err := c.step(ctx, func() { say(canary + " " + part + " мигает лампа") }, "Проверьте обращение"); err != nil {
			return err
		}
	}
	c.pause(ctx)
	return ctx.Err()
}

// talk is what follows about a ticket until it is rated.
func (c *customer) talk(ctx context.Context, key string) error {
	var said []string
	steps := []func() error{
		func() error { return c.agent(ctx, key, tracker.Edit{Status: "inProgress"}) },
		func() error { return c.inside(ctx, key) },
		func() error { return c.adds(ctx, key, &said) },
		func() error { return c.answered(ctx, key) },
		func() error { return c.looks(ctx) },
		func() error { return c.adds(ctx, key, &said) },
		func() error { return c.answered(ctx, key) },
	}
	for _, step := range steps {
		if c.chance(20) {
			continue
		}
		c.pause(ctx)
		if err := errors.Join(ctx.Err(), step()); err != nil {
			return err
		}
	}
	if err := c.read(ctx, key, said); err != nil {
		return err
	}
	return c.rated(ctx, key)
}

// adds sends a message or several at once, and answers what the bot asks about them.
func (c *customer) adds(ctx context.Context, key string, said *[]string) error {
	seen, burst := last(c.phone.got()), c.serial
	for range 1 + c.rand.IntN(3) {
		token := c.token("M")
		c.bursts[token] = burst
		*said = append(*said, token)
		if text := canary + " " + token + " и ещё"; c.chance(25) {
			c.phone.photo(text)
		} else {
			c.phone.write(text)
		}
	}
	m, err := c.waits(ctx, seen, promptWait/3, "К какому относится", "Создать новое с этим", "Вернуть его в работу")
	if err != nil { // no question
		return ctx.Err()
	}
	if strings.Contains(m.Text, "К какому относится") && c.phone.press(key) != "" {
		return nil
	}
	c.phone.press("Не отправлять")
	return nil
}

// looks looks at the list of tickets; whatever it shows is good.
func (c *customer) looks(ctx context.Context) error {
	seen := last(c.phone.got())
	c.phone.write("/tickets")
	_, _ = c.waits(ctx, seen, promptWait, "бращени")
	return ctx.Err()
}

// rated resolves the ticket, and the customer rates that.
func (c *customer) rated(ctx context.Context, key string) error {
	seen := last(c.phone.got())
	if err := c.agent(ctx, key, tracker.Edit{Status: "resolved", Resolution: "fixed"}); err != nil {
		return err
	}
	if _, err := c.waits(ctx, seen, answerWait, "«Решено»"); err != nil {
		return err
	}
	c.pause(ctx)
	c.written[len(c.written)-1].Replaced = true // what the bot says to a press takes the message's place
	c.phone.press("5 ★")
	if _, err := c.waits(ctx, seen, promptWait, "Спасибо за оценку"); err != nil {
		return err
	}
	c.ratings = append(c.ratings, Rating{c.phone.address(), key, "5"})
	if c.chance(50) {
		c.pause(ctx)
		c.phone.press("Без отзыва")
		_, err := c.waits(ctx, seen, promptWait, "Спасибо!")
		return err
	}
	remark := c.token("R")
	c.bursts[remark] = c.serial
	return c.step(ctx, func() { c.phone.write(canary + " " + remark + " быстро") }, "отзыв передан")
}
