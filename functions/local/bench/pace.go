package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/obs"
	"supportbot/shared/pace"
	"supportbot/shared/redisdb"

	madeup "supportbot/shared/sandbox/crowd"
)

const (
	slow = 300 * time.Millisecond // the messenger's latency

	newsLeast    = 19.6 // a second, over the whole time
	newsArrive   = 22   // in any second, at the messenger
	newsPlaces   = 20   // in any second of Redis' clock
	allPlaces    = 30
	answersWait  = 200 // ms, the median
	answersEvery = 125 * time.Millisecond
)

// pace measures a broadcast at Telegram's pace, with answers in between.
func (s *stage) pace(ctx context.Context, o options, r *report) error {
	r.note("pace: a broadcast at 20/s of Telegram's 30/s, %s, a messenger that answers after %s and refuses what is too", o.steady, slow)
	r.note("much; meanwhile an answer every %s at random, let go by the limiter as any function's; arrivals by the messenger's", answersEvery)
	r.note("clock before its latency, places as Redis gave them")
	for _, workers := range []int{1, 2, 4} {
		if err := s.paced(ctx, o, r, workers); err != nil {
			return fmt.Errorf("%d workers: %w", workers, err)
		}
	}
	return nil
}

func (s *stage) paced(ctx context.Context, o options, r *report, workers int) error {
	people := int(o.steady.Seconds()*newsArrive) + 100
	f, err := s.office(ctx, o, messenger.Telegram, people, true, slow)
	if err != nil {
		return err
	}
	defer f.close()
	door := &arrivals{next: f.telegram}
	front := httptest.NewServer(door)
	defer front.Close()
	f.vars["TELEGRAM_API_URL"] = front.URL
	if err := f.hire(ctx, workers); err != nil {
		return err
	}
	places, err := watchPlaces(ctx, s.redis.URL())
	if err != nil {
		return err
	}
	defer places.stop()
	waits, err := f.steady(ctx, o, door)
	if err != nil {
		return err
	}
	news, all := door.between(o.steady)
	label := fmt.Sprintf("pace, %d workers: ", workers)
	r.atLeast(label+"news a second", float64(len(news))/o.steady.Seconds(), newsLeast)
	r.atMost(label+"news in any second, arrived", float64(busiest(news)), newsArrive, "")
	r.atMost(label+"news in any second, by Redis", float64(busiest(places.of("telegram:"+telegramBot+":broadcasts"))), newsPlaces, "")
	r.atMost(label+"all in any second, by Redis", float64(busiest(places.of("telegram:"+telegramBot))), allPlaces, "")
	r.atMost(label+"refused for being too many", float64(f.refused()), 0, "")
	r.atMost(label+"an answer waits, p50", percentile(waits, 0.5), answersWait, "ms")
	r.figure(label+"an answer waits, p99", percentile(waits, 0.99), "ms")
	r.figure(label+"answers a second", float64(len(waits))/o.steady.Seconds(), "")
	r.figure(label+"all in any second, arrived", float64(busiest(all)), "")
	return nil
}

// steady sends a broadcast and answers for so long, and gives how long each answer
// waited for its place.
func (f *office) steady(ctx context.Context, o options, door *arrivals) (waits []time.Duration, err error) {
	reader := env.NewReaderFrom(func(name string) (string, bool) { v, ok := f.vars[name]; return v, ok })
	client, err := redisdb.Open(redisdb.ConfigFrom(reader))
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	limiter := pace.New(pace.ConfigFrom(reader), redisdb.NewPace(client, redisdb.PaceConfig{}), obs.NewLogger(io.Discard, "bench", slog.LevelInfo))
	if _, err := f.broadcast(ctx); err != nil {
		return nil, err
	}
	if err := door.begun(ctx); err != nil {
		return nil, err
	}
	var (
		sent sync.WaitGroup
		mu   sync.Mutex
		fail error
	)
	next := time.Now()
	for end := next.Add(o.steady); next.Before(end) && ctx.Err() == nil; next = next.Add(time.Duration(rand.ExpFloat64() * float64(answersEvery))) {
		time.Sleep(time.Until(next))
		chat := strconv.FormatInt(madeup.First+int64(f.telegram.CrowdSize()), 10)
		f.telegram.Crowd(1)
		sent.Add(1)
		go func() {
			defer sent.Done()
			wait, err := f.answer(ctx, limiter, chat)
			mu.Lock()
			defer mu.Unlock()
			waits, fail = append(waits, wait), errors.Join(fail, err)
		}()
	}
	sent.Wait()
	return waits, errors.Join(fail, ctx.Err())
}

// answer sends one answer as soon as the limiter lets it go.
func (f *office) answer(ctx context.Context, l *pace.Limiter, chat string) (wait time.Duration, err error) {
	began := time.Now()
	if err := l.Wait(ctx, messenger.Address{Messenger: f.name, Bot: f.bot(), Chat: chat}, pace.MaxAhead); err != nil {
		return 0, fmt.Errorf("wait for a place: %w", err)
	}
	wait = time.Since(began)
	return wait, post(ctx, f.vars["TELEGRAM_API_URL"]+"/bot"+telegramToken+"/sendMessage", url.Values{"chat_id": {chat}, "text": {answerText}})
}

// refused counts calls that the messenger refused for being too many.
func (f *office) refused() (n int) {
	for _, c := range f.calls.telegram.Since(0) {
		if c.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

// busiest gives the most moments within any second.
func busiest(moments []time.Time) (most int) {
	slices.SortFunc(moments, time.Time.Compare)
	first := 0
	for last, t := range moments {
		for t.Sub(moments[first]) >= time.Second {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}
