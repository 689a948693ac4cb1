package bench

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// act is what a person does next.
type act func(ctx context.Context, p *person) (time.Duration, error)

// load is what a crowd did.
type load struct {
	took []time.Duration // of each update
	all  time.Duration
}

func (l load) rate() float64 { return float64(len(l.took)) / l.all.Seconds() }

// crowd lets people act, one after the other on each of so many connections, for
// about d; d 0: each of them once.
func crowd(ctx context.Context, people []*person, connections int, d time.Duration, do act) (load, error) {
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		out  load
		fail error
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := time.Now()
	for c := range connections {
		all.Add(1)
		go func() {
			defer all.Done()
			took, err := turns(ctx, people, c, connections, func() bool { return time.Since(start) < d }, d == 0, do)
			mu.Lock()
			defer mu.Unlock()
			out.took = append(out.took, took...)
			if err != nil && fail == nil {
				fail = err
				cancel()
			}
		}()
	}
	all.Wait()
	out.all = time.Since(start)
	return out, fail
}

// turns serves every connections-th person, on and on or once.
func turns(ctx context.Context, people []*person, first, connections int, more func() bool, once bool, do act) (took []time.Duration, err error) {
	for {
		for i := first; i < len(people); i += connections {
			if !once && !more() {
				return took, nil
			}
			t, err := do(ctx, people[i])
			if err != nil {
				return took, err
			}
			took = append(took, t)
		}
		if once {
			return took, nil
		}
	}
}

// fillsForm is a form that is filled in and dropped, a step each time: each is
// answered with one message, and none makes a job.
func fillsForm(ctx context.Context, p *person) (time.Duration, error) {
	steps := []string{"/new", "Вопрос", "Принтер не печатает", "Мигает красная лампа, бумага есть", "/cancel"}
	p.turn++
	return p.says(ctx, steps[(p.turn-1)%len(steps)])
}

// adds is a message to the ticket that is open: a job. Only the first of a minute is
// acknowledged.
func adds(ctx context.Context, p *person) (time.Duration, error) {
	p.turn++
	return p.says(ctx, fmt.Sprintf("Дополнение %d: лампа мигает чаще, на экране E-41. Посмотрите, пожалуйста, сегодня.", p.turn))
}

// opened lets each person open a ticket: a crowd that adds to tickets.
func opened(ctx context.Context, people []*person, connections int) error {
	for _, text := range []string{"/start", "/new", "Вопрос", "Принтер не печатает", "Мигает красная лампа"} {
		_, err := crowd(ctx, people, connections, 0, func(ctx context.Context, p *person) (time.Duration, error) { return p.says(ctx, text) })
		if err != nil {
			return fmt.Errorf("prepare %q: %w", text, err)
		}
	}
	_, err := crowd(ctx, people, connections, 0, func(ctx context.Context, p *person) (time.Duration, error) {
		return p.does(ctx, func() error { return p.press("Отправить") })
	})
	if err != nil {
		return fmt.Errorf("prepare tickets: %w", err)
	}
	return nil
}
