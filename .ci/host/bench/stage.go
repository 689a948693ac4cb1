package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	host "supportbot/.ci/host"
	"supportbot/shared/backend"
	"supportbot/shared/postgres/schema"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
)

const secret = "secret"

// patience is for one start, on a machine that may be busy.
const patience = time.Minute

var errNoReply = errors.New("the customer's first message was not replied to")

// stage is what the functions find around them.
type stage struct {
	postgres, redis *backend.Server
	telegram        *telegram.Server
	vk              *vk.Server
	tracker         *tracker.Server
	servers         []*httptest.Server
	gateway         string
	instance        atomic.Pointer[host.Process]
	answered        chan time.Duration // each call of the gateway's
	env             map[string]string
	people          int64
}

func newStage(ctx context.Context) (s *stage, err error) {
	s = &stage{answered: make(chan time.Duration, 1), people: 1 << 40}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.postgres, err = backend.Postgres(ctx, backend.Options{}); err != nil {
		return nil, err
	}
	if s.redis, err = backend.Redis(ctx, backend.Options{}); err != nil {
		return nil, err
	}
	if err := schema.Migrate(ctx, s.postgres.URL()); err != nil {
		return nil, err
	}
	if err := admit(ctx, s.postgres.URL()); err != nil {
		return nil, err
	}
	s.telegram = telegram.New(telegram.Config{Token: "1099511627777:token"})
	s.vk = vk.New(vk.Config{Token: "token", GroupID: 209, Secret: secret, Confirmation: "confirm"})
	s.tracker = tracker.New(tracker.Config{Token: "token", OrgID: "77", Queues: []tracker.Queue{tracker.DefaultQueue("SUP")}})
	s.gateway = s.serve(http.HandlerFunc(s.answer))
	queue := s.serve(http.HandlerFunc(takeAll))
	s.env = map[string]string{
		"DATABASE_URL": s.postgres.URL(), "REDIS_URL": s.redis.URL(),
		"QUEUE_ENDPOINT": queue, "QUEUE_ACCESS_KEY": "key", "QUEUE_SECRET_KEY": "key",
		"QUEUE_URL_TICKETS": queue + "/tickets", "QUEUE_URL_DELIVERIES": queue + "/deliveries",
		"QUEUE_URL_BROADCASTS": queue + "/broadcasts",
		"TELEGRAM_TOKEN":       "1099511627777:token", "TELEGRAM_WEBHOOK_SECRET": secret, "TELEGRAM_API_URL": s.serve(s.telegram),
		"VK_TOKEN": "token", "VK_GROUP_ID": "209", "VK_SECRET": secret, "VK_CONFIRMATION": "confirm", "VK_API_URL": s.serve(s.vk),
		"TRACKER_TOKEN": "token", "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": secret,
		"TRACKER_API_URL": s.serve(s.tracker),
	}
	s.telegram.Connect(s.gateway+"/telegram", secret)
	s.vk.Connect(s.gateway + "/vk")
	return s, nil
}

func (s *stage) serve(h http.Handler) string {
	server := httptest.NewServer(h)
	s.servers = append(s.servers, server)
	return server.URL
}

func (s *stage) close() {
	if s.telegram != nil {
		s.telegram.Close()
	}
	if s.vk != nil {
		s.vk.Close()
	}
	if s.tracker != nil {
		s.tracker.Close()
	}
	for _, server := range s.servers {
		server.Close()
	}
	for _, b := range []*backend.Server{s.postgres, s.redis} {
		if b != nil {
			_ = b.Close()
		}
	}
}

// answer is the gateway: it calls whichever instance was started last. VK's other
// events (the confirmation, the bot's own messages) are no customer's update.
func (s *stage) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.URL.Path == "/vk" && !bytes.Contains(body, []byte(`"type":"message_new"`)) {
		reply := "ok"
		if bytes.Contains(body, []byte(`"type":"confirmation"`)) {
			reply = "confirm"
		}
		_, _ = io.WriteString(w, reply)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	began := time.Now()
	s.instance.Load().ServeHTTP(w, r)
	s.answered <- time.Since(began)
}

// start starts an instance and makes its first call.
func (s *stage) start(ctx context.Context, c host.Config) (timing, error) {
	p, err := host.Start(c)
	if err != nil {
		return timing{}, err
	}
	defer p.Close()
	s.instance.Store(p)
	took, err := s.first(ctx, c.Function, p)
	return timing{load: p.LoadMS, first: float64(took.Microseconds()) / 1000}, err
}

func (s *stage) first(ctx context.Context, function string, p *host.Process) (time.Duration, error) {
	s.people++
	switch function {
	case "telegram-webhook":
		c := s.telegram.Customer(telegram.User{ID: s.people, FirstName: "A"})
		c.Write("/start")
		took, err := s.wait()
		if all := s.telegram.Chat(c.Chat()); err == nil && !all[len(all)-1].Out {
			err = errNoReply
		}
		return took, err
	case "vk-webhook":
		c := s.vk.Customer(vk.User{ID: s.people, FirstName: "A"})
		c.Write("/start")
		took, err := s.wait()
		if all := s.vk.Chat(c.Peer()); err == nil && !all[len(all)-1].Out {
			err = errNoReply
		}
		return took, err
	case "tracker-handler":
		return s.post(ctx, "/tracker", fmt.Sprintf(`{"id":"%024x","key":"SUP-1"}`, s.people))
	case "notification-api":
		return s.post(ctx, "/v1/audience/estimate", `{"kind":"news","audience":{}}`)
	case bare:
		return s.post(ctx, "/", `{}`)
	}
	began := time.Now()
	err := p.Trigger([]byte(`{"messages":[]}`))
	return time.Since(began), err
}

func (s *stage) wait() (time.Duration, error) {
	select {
	case took := <-s.answered:
		return took, nil
	case <-time.After(patience):
		return 0, errors.New("the first call was not answered")
	}
}

// admit makes the secret an API key.
func admit(ctx context.Context, dsn string) error {
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close(ctx) }()
	hash := sha256.Sum256([]byte(secret))
	_, err = db.Exec(ctx, `INSERT INTO api_keys (name, role, hash) VALUES ('bench', 'admin', $1)`, hash[:])
	return err
}

// post calls the instance as Tracker or a program would.
func (s *stage) post(ctx context.Context, path, body string) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.gateway+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header = http.Header{"X-Webhook-Secret": {secret}, "X-Api-Key": {secret}, "Content-Type": {"application/json"}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	if err := res.Body.Close(); err != nil {
		return 0, err
	}
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the first call was answered %s", res.Status)
	}
	return s.wait()
}
