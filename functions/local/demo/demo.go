// Package demo plays the main job by itself: a customer in each messenger opens a
// ticket with a photo, an agent answers, the ticket is resolved, rated and
// reopened. What everybody saw is told from the stand-ins' own records and held
// against what it has to be: a missing or an extra line is an error.
package demo

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"time"

	"supportbot/shared/sandbox"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
)

//go:embed transcript.txt
var expected string

// patience bounds the whole play.
const patience = 4 * time.Minute

// Play plays on running stand-ins that are connected with a platform, and writes
// the transcript to out.
func Play(ctx context.Context, r *sandbox.Running, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	agent := r.Tracker.As(r.Tracker.Catalogue().Agents[0].Login)
	ivan := r.Telegram.Customer(telegram.User{FirstName: "Иван", Username: "ivan", Language: "ru"})
	maria := r.VK.Customer(vk.User{ID: 1<<40 + 7, FirstName: "Мария", LastName: "Соколова"})
	players := []player{
		&onTelegram{server: r.Telegram, c: ivan},
		&onVK{server: r.VK, c: maria},
	}
	var transcript strings.Builder
	for i, p := range players {
		key := fmt.Sprintf("SUP-%d", i+1)
		err := play(ctx, p, r.Tracker, agent, key)
		transcript.WriteString(p.transcript())
		transcript.WriteString(ticketTranscript(r.Tracker, key))
		if err != nil {
			_, _ = io.WriteString(out, transcript.String())
			return err
		}
	}
	_, _ = io.WriteString(out, transcript.String())
	return compare(transcript.String(), expected)
}

// player is a customer in a messenger. Each step waits until it can be made.
type player interface {
	write(text string)
	photo(caption string)
	press(ctx context.Context, label string) error
	sees(ctx context.Context, text string) error
	gotFile(ctx context.Context) error
	transcript() string
}

// step is one thing that happens in the play.
type step func(ctx context.Context) error

func play(ctx context.Context, p player, server *tracker.Server, agent *tracker.Agent, key string) error {
	paced := func(do step) step {
		return func(ctx context.Context) error { breathe(ctx); return do(ctx) }
	}
	says := func(text string) step { return paced(func(context.Context) error { p.write(text); return nil }) }
	photo := func(caption string) step { return paced(func(context.Context) error { p.photo(caption); return nil }) }
	press := func(label string) step { return paced(func(ctx context.Context) error { return p.press(ctx, label) }) }
	sees := func(text string) step { return func(ctx context.Context) error { return p.sees(ctx, text) } }
	does := func(d tracker.Edit) step {
		return paced(func(context.Context) error { _, err := agent.Do(key, d); return err })
	}
	ticket := func(ok func(tracker.Ticket) bool) step {
		return func(ctx context.Context) error {
			return server.Wait(ctx, func(all []tracker.Ticket) bool {
				for _, t := range all {
					if t.Key == key && ok(t) {
						return true
					}
				}
				return false
			})
		}
	}
	steps := []step{
		says("/start"), press("Новое обращение"), press("Что-то не работает"), sees("Коротко"),
		says("Не печатает принтер"), sees("Опишите"),
		photo("Мигает красная лампа, фото прилагаю"), sees("Проверьте обращение"),
		press("Отправить"), sees("создано"),
		does(tracker.Edit{Comments: []tracker.NewComment{{Text: "Коллеги, это снова тот принтер на третьем этаже?"}}}),
		does(tracker.Edit{Status: "inProgress"}), sees("В работе"),
		does(tracker.Edit{Comments: []tracker.NewComment{{
			Text:  "/reply Проверьте **кабель** и нажмите `Reset`",
			Files: []tracker.NewFile{{Name: "инструкция.txt", Data: []byte("1. Выключить. 2. Включить.")}},
		}}}), sees("кабель"), p.gotFile,
		says("Помогло, спасибо!"), ticket(commented("Помогло")), sees("Передано"),
		does(tracker.Edit{Status: "resolved", Resolution: "fixed"}), sees("Решено"),
		press("5 ★"), sees("Спасибо за оценку"), says("Быстро и вежливо"), sees("отзыв передан"),
		ticket(func(t tracker.Ticket) bool { return t.Fields["supportRemark"] != "" }), ticket(commented("Быстро и вежливо")),
		says("Опять мигает!"), sees("Вернуть его в работу"), press("Вернуть " + key + " · Не печатает принтер"),
		sees("Возвращаем в работу"), ticket(func(t tracker.Ticket) bool { return t.Status == "reopened" }), ticket(commented("Опять мигает")),
	}
	for i, s := range steps {
		if err := s(ctx); err != nil {
			return fmt.Errorf("step %d of the play on %s: %w", i+1, key, err)
		}
	}
	return nil
}

// breathe is the pace of a person: within a messenger's limit for one chat every
// answer comes at once, and the order of what is seen is always the same.
func breathe(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(1200 * time.Millisecond):
	}
}

func commented(text string) func(tracker.Ticket) bool {
	return func(t tracker.Ticket) bool {
		for _, c := range t.Comments {
			if strings.Contains(c.Text, text) {
				return true
			}
		}
		return false
	}
}
