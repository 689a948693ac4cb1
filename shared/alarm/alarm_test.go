package alarm_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"supportbot/shared/alarm"
	"supportbot/shared/backend/backendtest"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/postgres"
	"supportbot/shared/postgres/schema"
)

// Operators are told once of what begins and once of what is over, whatever else
// happens meanwhile; what could not be told is told later.
func TestRun(t *testing.T) {
	t.Parallel()
	url := backendtest.Postgres(t, schema.Migrate)
	db, err := postgres.Open(postgres.ConfigFrom(env.NewReaderFrom(func(name string) (string, bool) { return url, name == "DATABASE_URL" })))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	var (
		now    = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		seen   alarm.Reading
		broken error
		said   []string
		keys   = map[string]string{} // of what was said
	)
	s := &alarm.Service{
		Read: func(context.Context) (alarm.Reading, error) { return seen, nil }, Store: db, Locale: "ru",
		Send: func(_ context.Context, key, text string) error {
			if broken != nil {
				return broken
			}
			if said = append(said, text); keys[key] != "" {
				t.Errorf("%q and %q have one key", keys[key], text)
			}
			keys[key] = text
			return nil
		},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for i, step := range []struct {
		reading alarm.Reading
		broken  error
		want    []string // what is said, by a part of it
	}{
		{alarm.Reading{Now: now, Late: 5 * time.Minute, Loaded: now.Add(-3 * time.Hour)}, nil, nil},
		{alarm.Reading{Now: now, Reviews: 2}, errors.New("nobody is reached"), nil},
		{alarm.Reading{Now: now, Reviews: 3}, nil, []string{"🔴 Ждут решения человека: заданий 3"}},
		{alarm.Reading{Now: now, Reviews: 7}, nil, nil},
		{alarm.Reading{Now: now, Reviews: 7, Late: 5*time.Minute + time.Second, Loaded: now.Add(-3*time.Hour - time.Second)}, nil, []string{"🔴 Работа отстаёт: задание ждёт исполнителя 5 мин", "🔴 Аналитика не загружалась 3 ч"}},
		{alarm.Reading{Now: now, Late: time.Minute, Loaded: now}, nil, []string{"🟢 Заданий", "🟢 Отставания", "🟢 Аналитика"}},
		{alarm.Reading{Now: now}, nil, nil},
		{alarm.Reading{Now: now, Dead: 4}, nil, []string{"🔴 Очередь вернула сообщения, которые не смог обработать ни один вызов: за час 4"}},
		{alarm.Reading{Now: now, Dead: 9}, nil, nil},
		{alarm.Reading{Now: now}, nil, []string{"🟢 За последний час"}},
		{alarm.Reading{Now: now.Add(2 * time.Minute), Dead: 4}, nil, []string{"🔴 Очередь вернула сообщения, которые не смог обработать ни один вызов: за час 4"}},
		{alarm.Reading{Now: now.Add(3 * time.Minute)}, nil, []string{"🟢 За последний час"}},
	} {
		seen, broken, said = step.reading, step.broken, nil
		if _, err := s.Run(context.Background()); !errors.Is(err, step.broken) {
			t.Errorf("step %d: %v", i, err)
		}
		if len(said) != len(step.want) {
			t.Errorf("step %d: said %q, want %q", i, said, step.want)
			continue
		}
		for j, want := range step.want {
			if !strings.HasPrefix(said[j], want) || strings.Contains(said[j], "{") {
				t.Errorf("step %d: said %q, want %q", i, said[j], want)
			}
		}
	}
}

// Whoever is told of something is told what to do about it, in each language.
func TestRun_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	everything := alarm.Reading{Now: time.Unix(1e9, 0), Reviews: 1, Dead: 1, Late: time.Hour, Loaded: time.Unix(1e9-1e6, 0)}
	for locale, look := range map[string]string{"ru": "Посмотрите ", "en": "Look at "} {
		seen, told := everything, 0
		s := &alarm.Service{
			Read: func(context.Context) (alarm.Reading, error) { return seen, nil }, Store: memory{}, Locale: locale, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Send: func(_ context.Context, _, text string) error {
				begins := strings.HasPrefix(text, "🔴 ")
				if told++; begins != strings.Contains(text, look) || !begins && !strings.HasPrefix(text, "🟢 ") {
					t.Errorf("%s: said %q", locale, text)
				}
				return nil
			},
		}
		for _, seen = range []alarm.Reading{everything, {Now: everything.Now}} {
			if _, err := s.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if told != 8 {
			t.Errorf("%s: told %d times, want of four things that they begin and that they are over", locale, told)
		}
	}
}

// What may have been said is said once more, and then left: a messenger that answers nothing
// for long would bring the same every minute. What was certainly not said is.
func TestRun_InDoubt(t *testing.T) {
	t.Parallel()
	uncertain := &messenger.Error{Kind: messenger.Uncertain, Err: errors.New("time-out")}
	away := &messenger.Error{Kind: messenger.Temporary, Err: errors.New("refused")}
	hangs := &messenger.Error{Kind: messenger.Uncertain, Err: context.DeadlineExceeded}
	begins, over := alarm.Reading{Reviews: 1}, alarm.Reading{}
	for name, steps := range map[string][]struct {
		reading alarm.Reading
		err     error
		sends   int
	}{
		"twice in doubt":          {{begins, uncertain, 1}, {begins, uncertain, 1}, {begins, uncertain, 0}, {over, uncertain, 1}, {over, uncertain, 1}, {over, nil, 0}},
		"once in doubt":           {{begins, uncertain, 1}, {begins, nil, 1}, {begins, nil, 0}, {over, nil, 1}, {over, nil, 0}},
		"refused meanwhile":       {{begins, uncertain, 1}, {begins, away, 1}, {begins, away, 1}, {begins, nil, 1}, {begins, nil, 0}},
		"over while in doubt":     {{begins, uncertain, 1}, {over, nil, 1}, {over, nil, 0}, {begins, nil, 1}, {begins, nil, 0}},
		"all of it is in doubt":   {{begins, uncertain, 1}, {over, uncertain, 1}, {over, uncertain, 1}, {over, uncertain, 0}, {begins, uncertain, 1}},
		"until time is over":      {{begins, hangs, 1}, {begins, hangs, 1}, {begins, hangs, 0}},
		"certainly not said ever": {{begins, away, 1}, {begins, away, 1}, {over, away, 0}, {begins, nil, 1}},
	} {
		var err error
		sends := 0
		seen := alarm.Reading{}
		s := &alarm.Service{
			Read: func(context.Context) (alarm.Reading, error) { return seen, nil }, Store: memory{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		}
		for i, step := range steps {
			sends, seen, err = 0, step.reading, step.err
			ctx, end := context.WithCancel(context.Background())
			s.Send = func(context.Context, string, string) error {
				if sends++; errors.Is(err, context.DeadlineExceeded) {
					end()
				}
				return err
			}
			_, got := s.Run(ctx)
			end()
			if sends != step.sends || sends > 0 && errors.Is(step.err, away) != errors.Is(got, away) {
				t.Errorf("%s, step %d: sent %d times, %v; want %d times", name, i, sends, got, step.sends)
			}
		}
	}
}

// Without a chat the log alone has it, and the next run does not repeat it.
func TestRun_NoChat(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := &alarm.Service{
		Read:  func(context.Context) (alarm.Reading, error) { return alarm.Reading{Reviews: 1}, nil },
		Store: memory{}, Log: slog.New(slog.NewTextHandler(&log, nil)),
	}
	for range 2 {
		if _, err := s.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "alarm=reviews"); n != 1 {
		t.Errorf("%d times in the log: %s", n, log.String())
	}
}

type memory map[string]bool

func (m memory) Alarms(context.Context) (map[string]bool, error) { return m, nil }
func (m memory) SetAlarm(ctx context.Context, name string, raised bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m[name] = raised
	return nil
}
