package bench

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/dialog"
	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/pace"
	"supportbot/shared/redisdb"
)

// redisAlone is what a step of a dialog asks of Redis, and nothing else: the same
// scripts on the same conversations through the same client.
type redisAlone struct {
	client        *redis.Client
	conversations *redisdb.Conversations
	pace          *redisdb.Pace
	addresses     []messenger.Address
	serial        atomic.Int64
}

func newRedisAlone(url string, connections int, m side) (*redisAlone, error) {
	client, err := redisdb.Open(redisdb.Config{URL: env.NewSecret(url), Pool: connections, Timeout: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	a := &redisAlone{
		client: client, conversations: redisdb.NewConversations(client), pace: redisdb.NewPace(client, redisdb.PaceConfig{}),
	}
	for _, p := range m.people {
		a.addresses = append(a.addresses, messenger.Address{Messenger: m.name, Bot: m.bot, Chat: strconv.FormatInt(p.id, 10)})
	}
	return a, nil
}

func (a *redisAlone) close() { _ = a.client.Close() }

// run takes steps on so many connections for about d and gives their rate.
func (a *redisAlone) run(ctx context.Context, connections int, d time.Duration) (float64, error) {
	var (
		all  sync.WaitGroup
		n    atomic.Int64
		fail atomic.Pointer[error]
	)
	start := time.Now()
	for c := range connections {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := c; time.Since(start) < d && fail.Load() == nil; i += connections {
				if err := a.step(ctx, a.addresses[i%len(a.addresses)]); err != nil {
					fail.Store(&err)
					return
				}
				n.Add(1)
			}
		}()
	}
	all.Wait()
	if err := fail.Load(); err != nil {
		return 0, *err
	}
	return float64(n.Load()) / time.Since(start).Seconds(), nil
}

// step loads a conversation, writes it with one reply, asks for the reply's place and
// clears it.
func (a *redisAlone) step(ctx context.Context, address messenger.Address) error {
	n := strconv.FormatInt(a.serial.Add(1), 10)
	key := "bench:" + n
	snap, err := a.conversations.Load(ctx, dialog.Lookup{Address: address, Key: key, Burst: 20, Every: time.Millisecond})
	if err != nil {
		return err
	}
	w := dialog.Write{Address: address, Key: key, Version: snap.Version, State: snap.State, Token: key}
	w.Entry = &dialog.Entry{
		Key: key, N: snap.Version + 1, Writer: key, At: time.Now(), Address: address,
		Replies: []dialog.Reply{{
			Text:     "Коротко: в чём дело? Одна строка станет заголовком.",
			Keyboard: messenger.Keyboard{{{Label: "← Назад", Data: "f:abcdefghijkl:s:b"}}, {{Label: "Отмена", Data: "f:abcdefghijkl:s:x"}}},
		}},
	}
	if w.Entry.User.ID = address.Chat; snap.Profile != nil {
		w.Entry.User = snap.Profile.User
	}
	if snap, err = a.conversations.Commit(ctx, w); err != nil {
		return err
	}
	if snap.Verdict == dialog.Conflict || !snap.Holds && snap.Verdict != dialog.Seen { // seen: the client repeated it
		return fmt.Errorf("write conversation: %s, lease %v", snap.Verdict, snap.Holds)
	}
	_, err = a.pace.Reserve(ctx, []pace.Limit{
		{Key: "bench", Rate: 100_000, Burst: 1, Shared: true}, {Key: "bench:" + n, Rate: 0.9, Burst: 3},
	}, time.Second)
	if err != nil {
		return err
	}
	_, err = a.conversations.Finish(ctx, dialog.Done{Address: address, Token: key, Key: key})
	return err
}

var scriptCalls = regexp.MustCompile(`cmdstat_evalsha:calls=([0-9]+)`)

// scripts counts the scripts that Redis has run.
func (a *redisAlone) scripts(ctx context.Context) (int, error) {
	stats, err := a.client.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, err
	}
	m := scriptCalls.FindStringSubmatch(stats)
	if m == nil {
		return 0, nil
	}
	return strconv.Atoi(m[1])
}
