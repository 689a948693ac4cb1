// Package v3 is a thin client of Yandex Tracker's API v3 in the terms of the port
// shared/tracker: what the platform needs of it and nothing more.
//
// Every method takes a context and makes one call of the API, or says how many.
// Errors are *tracker.Error (wrapped), of the kinds that the port names:
//
//   - a call that cannot have reached Tracker (refused connection, no complete
//     request sent) is Temporary;
//   - a write whose end is unknown (time-out, broken connection, an answer that
//     is not Tracker's own, 500) is Uncertain; a read, and a temporary upload,
//     which may be repeated without harm, is Temporary;
//   - 503 is Temporary for writes only in Tracker's own form: a balancer answers
//     503 also after it has passed the request on;
//   - 404 is NotFound unless the answer is a web page.
//
// Errors name the call, the status and the fields that Tracker refused. Tracker's
// messages quote values: they are kept only for calls that carry nothing people
// wrote. Addresses, which carry file names, and tokens are never in an error.
//
// Facts are from Tracker's API reference (yandex.ru/support/tracker/en/api-ref)
// and, where it is silent, from Yandex's own client yandex_tracker_client.
package v3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"supportbot/shared/env"
)

// Config is what a Client is made of.
type Config struct {
	// URL is the address without a version, default https://api.tracker.yandex.net.
	URL string
	// Token is an OAuth token, or with TokenType "Bearer" an IAM token, which
	// Tracker takes only with CloudOrgID.
	Token     env.Secret
	TokenType string
	// Exactly one of them names the organisation: OrgID one of Yandex 360,
	// CloudOrgID one of Yandex Cloud.
	OrgID, CloudOrgID string
	Queue             string // the default queue

	Timeout   time.Duration // of a call, default 15 s
	Stall     time.Duration // how long a file may stand still, default 30 s
	FieldsTTL time.Duration // how long a queue's field ids are kept, default 10 min

	// Pace, if set, is called before each request and waits for its turn. Its
	// error ends the call before anything is sent.
	Pace func(context.Context) error
	// Refused, if set, is told of each 429 and how long Tracker asked to wait (a
	// second if it named no time): it concerns everybody who calls Tracker.
	Refused   func(ctx context.Context, wait time.Duration)
	Transport http.RoundTripper // default: one with short time-outs
	Now       func() time.Time  // default time.Now
}

// ConfigFrom reads TRACKER_TOKEN, TRACKER_TOKEN_TYPE ("OAuth", "Bearer"),
// TRACKER_ORG_ID or TRACKER_CLOUD_ORG_ID, TRACKER_QUEUE, TRACKER_API_URL and
// TRACKER_TIMEOUT.
func ConfigFrom(r *env.Reader) Config {
	c := Config{
		URL: r.String("TRACKER_API_URL", ""), Token: r.RequiredSecret("TRACKER_TOKEN"),
		TokenType: r.String("TRACKER_TOKEN_TYPE", ""), CloudOrgID: r.String("TRACKER_CLOUD_ORG_ID", ""),
		Queue: r.Required("TRACKER_QUEUE"), Timeout: r.Duration("TRACKER_TIMEOUT", 0),
	}
	if c.CloudOrgID == "" {
		c.OrgID = r.Required("TRACKER_ORG_ID")
	} else {
		c.OrgID = r.String("TRACKER_ORG_ID", "")
	}
	return c
}

// Client calls one organisation's Tracker. It is safe for concurrent use.
type Client struct {
	cfg  Config
	base *url.URL
	http *http.Client

	mu     sync.Mutex
	fields map[string]queueFields // by queue
}

// New makes a client; it makes no call.
func New(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	base, err := url.Parse(cfg.URL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, errors.New("make tracker client: the address is not one of http or https")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	if (cfg.OrgID == "") == (cfg.CloudOrgID == "") {
		return nil, errors.New("make tracker client: exactly one of TRACKER_ORG_ID and TRACKER_CLOUD_ORG_ID is needed")
	}
	switch {
	case cfg.Token.Empty():
		return nil, errors.New("make tracker client: there is no token")
	case cfg.TokenType != "OAuth" && cfg.TokenType != "Bearer":
		return nil, fmt.Errorf("make tracker client: token type %q is neither OAuth nor Bearer", cfg.TokenType)
	case cfg.TokenType == "Bearer" && cfg.CloudOrgID == "":
		return nil, errors.New("make tracker client: an IAM token needs TRACKER_CLOUD_ORG_ID")
	}
	return &Client{
		cfg: cfg, base: base, fields: map[string]queueFields{},
		http: &http.Client{Transport: cfg.Transport, CheckRedirect: redirect},
	}, nil
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func (c Config) withDefaults() Config {
	if c.URL == "" {
		c.URL = "https://api.tracker.yandex.net"
	}
	if c.TokenType == "" {
		c.TokenType = "OAuth"
	}
	if c.Timeout <= 0 {
		c.Timeout = 15 * time.Second
	}
	if c.Stall <= 0 {
		c.Stall = 30 * time.Second
	}
	if c.FieldsTTL <= 0 {
		c.FieldsTTL = 10 * time.Minute
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Transport == nil {
		c.Transport = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSHandshakeTimeout: 5 * time.Second, ForceAttemptHTTP2: true,
			// Function instances freeze between calls: an old connection is
			// likely a dead one, and a write on it is an uncertain write.
			MaxIdleConnsPerHost: 8, IdleConnTimeout: 20 * time.Second,
		}
	}
	return c
}

// redirect follows reads only: a redirected write would lose its method or body.
// The standard client drops Authorization when the host changes.
func redirect(r *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet || len(via) > 3 || via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	return nil
}
