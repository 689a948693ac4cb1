package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"supportbot/functions/local/platform"
	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	madeup "supportbot/shared/sandbox/crowd"
	"supportbot/shared/sandbox/fault"
)

// office is a platform that sends broadcasts to a crowd in one messenger: its workers
// are processes of their own, with a queue in common; the messenger is in this one.
type office struct {
	*outside
	stage   *stage
	name    messenger.Name
	db      *pgxpool.Pool
	queue   *httptest.Server
	workers []*function
}

const (
	apiKey = "key"
	// look is between two looks at what nobody gives a signal of.
	look = 20 * time.Millisecond
	// newsText is as long as news are.
	newsText = "**Мы открылись в Казани.** Теперь заказы по городу приходят в тот же день, а в пункте выдачи можно примерить и вернуть. " +
		"Адрес: ул. Баумана, 7, каждый день с 9 до 21. Подробности на [сайте](https://example.com/kazan)."
)

// office opens one, with so many people who can be written to. The messenger answers
// after latency, within its own limits or with none.
func (s *stage) office(ctx context.Context, o options, name messenger.Name, people int, limited bool, latency time.Duration) (f *office, err error) {
	url, err := s.database(ctx, "measured", migrated)
	if err != nil {
		return nil, err
	}
	if err := s.forget(ctx); err != nil {
		return nil, err
	}
	f = &office{outside: newOutside(s, o, limited), stage: s, name: name, queue: httptest.NewServer(platform.ServeQueue(platform.NewQueue(nil)))}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	delete(f.vars, "DATABASE_MAX_CONNS") // a worker's own, as in the cloud
	if f.db, err = pgxpool.New(ctx, url); err != nil {
		return f, fmt.Errorf("open database: %w", err)
	}
	f.telegram.Faults().Add(fault.Fault{Method: "sendMessage", Kind: fault.Delay, Wait: latency})
	f.vk.Faults().Add(fault.Fault{Method: "messages.send", Kind: fault.Delay, Wait: latency})
	f.telegram.Crowd(people)
	f.vk.Crowd(people)
	hash := sha256.Sum256([]byte(apiKey))
	if _, err := f.db.Exec(ctx, `INSERT INTO api_keys (name, role, hash) VALUES ('bench', 'admin', $1)`, hash[:]); err != nil {
		return f, fmt.Errorf("make key: %w", err)
	}
	return f, populate(ctx, f.db, people, map[messenger.Name]string{name: f.bot()})
}

func (f *office) bot() string {
	if f.name == messenger.VK {
		return strconv.Itoa(vkGroup)
	}
	return telegramBot
}

// populate makes people of the crowd customers of the given bots, in turn.
func populate(ctx context.Context, db *pgxpool.Pool, people int, bots map[messenger.Name]string) error {
	_, err := db.Exec(ctx, `INSERT INTO people (locale) SELECT CASE WHEN n % 8 = 7 THEN 'en' ELSE 'ru' END FROM generate_series(0, $1::int - 1) n`, people)
	if err != nil {
		return fmt.Errorf("make people: %w", err)
	}
	n := 0
	for name, bot := range bots {
		_, err := db.Exec(ctx, `
			INSERT INTO identities (messenger, bot, chat, person_id, user_id, name, seen_at)
			SELECT $1, $2, chat, id, chat, 'Name ' || chat, now() - random() * interval '300 days'
			FROM (SELECT id, ($3::bigint + id - 1)::text AS chat FROM people WHERE id % $4 = $5) one`,
			string(name), bot, int64(madeup.First), len(bots), n)
		if err != nil {
			return fmt.Errorf("make identities: %w", err)
		}
		n++
	}
	for _, table := range []string{"people", "identities"} {
		if _, err := db.Exec(ctx, "VACUUM ANALYZE "+table); err != nil {
			return fmt.Errorf("prepare %s: %w", table, err)
		}
	}
	return nil
}

// hire starts so many workers.
func (f *office) hire(ctx context.Context, workers int, args ...string) error {
	for range workers {
		w, err := startFunction(ctx, f.vars, append([]string{"-work", "-queue", f.queue.URL}, args...)...)
		if err != nil {
			return err
		}
		f.workers = append(f.workers, w)
	}
	return nil
}

// close ends everything and drops the database.
func (f *office) close() {
	for _, w := range f.workers {
		w.stop()
	}
	f.queue.CloseClientConnections()
	f.queue.Close()
	f.outside.close()
	if f.db != nil {
		f.db.Close()
	}
	_ = f.stage.drop(context.Background(), "measured")
}

// broadcast asks for news to everybody, by the API of the first worker.
func (f *office) broadcast(ctx context.Context) (id int64, err error) {
	body, err := json.Marshal(map[string]any{"kind": broadcast.News, "texts": map[string]string{"ru": newsText}, "audience": map[string]any{}})
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.workers[0].url+"/v1/broadcasts", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("X-API-Key", apiKey)
	r.Header.Set("Idempotency-Key", strconv.FormatInt(time.Now().UnixNano(), 10))
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, fmt.Errorf("make broadcast: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, fmt.Errorf("make broadcast: %w", err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return 0, fmt.Errorf("make broadcast: %s: %s", res.Status, raw)
	}
	var b broadcast.Broadcast
	if err := json.Unmarshal(raw, &b); err != nil {
		return 0, fmt.Errorf("make broadcast: %w", err)
	}
	return b.ID, nil
}

// until waits until sql, of one number, is true.
func (f *office) until(ctx context.Context, sql string, n int64) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		var is bool
		if err := f.db.QueryRow(ctx, sql, n).Scan(&is); err != nil {
			return fmt.Errorf("look at a broadcast: %w", err)
		}
		if is {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

const (
	hasBegun    = `SELECT started_at IS NOT NULL FROM broadcasts WHERE id = $1`
	hasFinished = `SELECT state = 'finished' FROM broadcasts WHERE id = $1`
)

// sentToAll makes sure that a finished broadcast reached everybody.
func (f *office) sentToAll(ctx context.Context, id int64, people int) error {
	var sent int
	err := f.db.QueryRow(ctx, `SELECT count(*) FROM recipients r JOIN batches b ON b.id = r.batch WHERE b.broadcast = $1 AND outcome = 'sent'`, id).Scan(&sent)
	if err == nil && sent != people {
		err = errors.New(strconv.Itoa(sent) + " of " + strconv.Itoa(people) + " have it")
	}
	return err
}
