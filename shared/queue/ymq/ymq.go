// Package ymq is the queue port on Yandex Message Queue, through the SQS API in
// its JSON form. It sends no field beyond the oldest ones: Message Queue answers
// 400 to fields that it does not know.
package ymq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"supportbot/shared/queue"
)

// Limits of Message Queue ("Quotas and limits").
const (
	maxBatch = 10
	maxWait  = 20 * time.Second
)

// Bounds of one call. A webhook publishes before it answers, and what it fails to
// publish costs a minute and not the message.
const (
	attempts    = 2
	attemptTime = 2 * time.Second
	maxBackoff  = 200 * time.Millisecond
	// callTime is for a whole Publish or Delete, of however many batches.
	callTime = 5 * time.Second
)

// Client is both sides of the port. Its methods may be called from several
// goroutines.
type Client struct {
	api  *sqs.Client
	poll *http.Client
	urls map[string]string
}

var (
	_ queue.Publisher = (*Client)(nil)
	_ queue.Source    = (*Client)(nil)
	_ queue.Counter   = (*Client)(nil)
)

// New makes a client; it does not connect.
func New(cfg Config) (*Client, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	transport := newTransport()
	c := &Client{poll: &http.Client{Transport: transport, Timeout: maxWait + 5*time.Second}, urls: cfg.URLs}
	c.api = sqs.New(sqs.Options{
		BaseEndpoint: aws.String(cfg.Endpoint),
		Region:       cfg.Region,
		Credentials:  credentials.NewStaticCredentialsProvider(cfg.AccessKey.Reveal(), cfg.SecretKey.Reveal(), ""),
		HTTPClient:   &http.Client{Transport: transport, Timeout: attemptTime},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff = attempts, maxBackoff
		}),
	})
	return c, nil
}

// newTransport keeps one idle connection: while an instance is frozen its
// connections die unnoticed, and the first call that meets a dead one waits for
// attemptTime. So there is at most one to meet, and the second attempt dials.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: attemptTime}).DialContext,
		TLSHandshakeTimeout:   attemptTime,
		MaxIdleConnsPerHost:   1,
		IdleConnTimeout:       30 * time.Second,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
	}
}

// url gives a queue's address. That of dead letters need not be configured: the policy
// of their queue names them.
func (c *Client) url(ctx context.Context, name string) (*string, error) {
	if u, ok := c.urls[name]; ok {
		return &u, nil
	}
	if of, ok := queue.DeadOf(name); ok && c.urls[of] != "" {
		return c.deadURL(ctx, of)
	}
	return nil, fmt.Errorf("%w: no address of %s is configured", queue.ErrNotFound, name)
}

// The codes of a queue that does not exist: Message Queue's, which the SDK has
// no type for, and SQS's in both of its protocols.
const (
	codeNonExistent    = "AWS.SimpleQueueService.NonExistentQueue"
	codeDoesNotExist   = "QueueDoesNotExist"
	codeDoesNotExistNS = "com.amazonaws.sqs#QueueDoesNotExist"
)

// explain marks errors that callers tell apart. The API's error keeps its code
// and request id; it has no key and no message in it.
func explain(err error) error {
	var api interface{ ErrorCode() string }
	if errors.As(err, &api) {
		switch api.ErrorCode() {
		case codeNonExistent, codeDoesNotExist, codeDoesNotExistNS:
			return fmt.Errorf("%w: %w", queue.ErrNotFound, err)
		}
	}
	return err
}

// inBatches calls send for at most ten items at a time, within callTime for all.
// A batch that fails does not keep the others back. The error counts what failed
// of all.
func inBatches[T any](ctx context.Context, items []T, send func(ctx context.Context, batch []T) (failed int, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var failed int
	var first error
	for start := 0; start < len(items); start += maxBatch {
		n, err := send(ctx, items[start:min(start+maxBatch, len(items))])
		failed += n
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return fmt.Errorf("%d of %d failed: %w", failed, len(items), explain(first))
	}
	return nil
}
