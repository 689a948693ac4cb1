// Package redisdb is the platform's use of Redis: the conversations' state, the
// cache of customers' tickets, the shared pace, how far broadcasts are, sign-ins to
// the console and the codes that link accounts.
//
// Nothing here is the only copy of anything but half-filled forms, sign-ins and
// codes: a Redis that is wiped costs people those, which they begin anew, and nothing
// else. Whatever has to be decided in one step is one Lua script. Every script may be run twice with the same
// arguments, because the client repeats a command whose connection broke: the
// second run finds that the first has done it.
package redisdb

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/env"
)

// Config says which Redis to use and how patiently.
type Config struct {
	// URL is redis://user:password@host:port/db, or rediss:// with TLS.
	URL env.Secret
	// CA is the certificates that the server's is signed by (PEM), or a file with them,
	// beside the system's own; "" for none. Yandex's managed Redis has an authority of
	// its own, which Cloud Functions keep in
	// /usr/local/share/ca-certificates/yandex-internal-ca.crt.
	CA string
	// Pool is the most connections of this process. Instances are many.
	Pool int
	// Timeout bounds dialling, one read, one write and the wait for a free
	// connection: a webhook has to say 503 in time to be repeated.
	Timeout time.Duration
}

// ConfigFrom reads REDIS_URL (required), REDIS_CA, REDIS_POOL and REDIS_TIMEOUT.
func ConfigFrom(r *env.Reader) Config {
	return Config{
		URL:     r.RequiredSecret("REDIS_URL"),
		CA:      r.String("REDIS_CA", ""),
		Pool:    r.Int("REDIS_POOL", 8),
		Timeout: r.Duration("REDIS_TIMEOUT", time.Second),
	}
}

// idleTime is how long an unused connection is kept. A frozen instance wakes up
// with connections that the other side gave up long ago.
const idleTime = 20 * time.Second

// Open prepares a client; it connects with the first command. The zero Pool and
// Timeout mean the defaults of ConfigFrom.
func Open(c Config) (*redis.Client, error) {
	o, err := redis.ParseURL(c.URL.Reveal())
	if err != nil {
		// The parser's own error repeats the address, password and all.
		return nil, fmt.Errorf("open redis: the address is not of the form redis://user:password@host:port/db")
	}
	if c.Pool <= 0 {
		c.Pool = 8
	}
	if c.Timeout <= 0 {
		c.Timeout = time.Second
	}
	if o.TLSConfig != nil && c.CA != "" {
		if o.TLSConfig, err = trust(o.TLSConfig, c.CA); err != nil {
			return nil, fmt.Errorf("open redis: %w", err)
		}
	}
	o.PoolSize = c.Pool
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = c.Timeout, c.Timeout, c.Timeout, c.Timeout
	o.ContextTimeoutEnabled = true
	o.ConnMaxIdleTime = idleTime
	o.MaxRetries = 1 // a stale connection costs one; more would be waiting
	// No greetings beyond what the protocol needs: each is a round trip of a
	// cold start, and managed servers refuse some of them.
	o.Protocol = 2
	o.DisableIdentity = true
	o.ClientName = ""
	return redis.NewClient(o), nil
}

func trust(base *tls.Config, ca string) (*tls.Config, error) {
	pem, err := env.PEM(ca)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("read certificates: REDIS_CA holds none")
	}
	t := base.Clone()
	t.RootCAs = pool
	return t, nil
}
