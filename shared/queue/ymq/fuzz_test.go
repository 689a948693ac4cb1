package ymq_test

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"supportbot/shared/queue"
)

// said is what a service answers at present, whatever it is asked.
type said struct {
	mu     sync.Mutex
	status int
	body   []byte
}

func (s *said) set(status int, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.body = status, body
}

// ServeHTTP implements http.Handler.
func (s *said) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(s.status)
	_, _ = w.Write(s.body)
}

// FuzzAnswers: whatever the queue answers, no call panics, each gives a value that can
// be kept or an error, and what it refuses is not taken for done.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		``, `null`, `{}`, `[]`, `{"Failed":[{"Id":"0","Code":"InternalError"}]}`, `{"Failed":[null]}`, `{"Failed":[{}]}`, `{"Failed":7}`,
		`{"Messages":[{"MessageId":"1","Body":"{\"job\":7}","MD5OfBody":"62ef74eb1306d3cee15a6d9e68ab27c6","ReceiptHandle":"r","Attributes":{"SentTimestamp":"1772625600000","ApproximateReceiveCount":"3"}}]}`,
		`{"Messages":[{"Body":"a","MD5OfBody":"0cc175b9c0f1b6a831c399e269772661","Attributes":{"SentTimestamp":"9223372036854775807","ApproximateReceiveCount":"99999999999999999999"}}]}`,
		`{"Messages":[{"Body":"a","MD5OfBody":"0cc175b9c0f1b6a831c399e269772661","Attributes":{"SentTimestamp":"-1","ApproximateReceiveCount":"-7"}}]}`,
		`{"Messages":[{"Body":"a","MD5OfBody":"0cc175b9c0f1b6a831c399e269772661","MessageAttributes":{"x":{},"y":{"StringValue":"z"}}}]}`,
		`{"Messages":[{"Body":"a","MD5OfBody":"wrong"}]}`, `{"Messages":[null,{}]}`, `{"Messages":{}}`,
		`{"Attributes":{"ApproximateNumberOfMessages":"3","RedrivePolicy":"{\"deadLetterTargetArn\":\"yrn:x:dead\"}"},"QueueUrl":"http://127.0.0.1/dead"}`,
		`{"Attributes":{"ApproximateNumberOfMessages":"9223372036854775807","ApproximateNumberOfMessagesDelayed":"9223372036854775807"}}`,
		`{"Attributes":{"ApproximateNumberOfMessages":"-3","RedrivePolicy":"["}}`, `{"Attributes":{"RedrivePolicy":"{\"deadLetterTargetArn\":\"\"}"}}`,
		`{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"x"}`, `<html>`, "\xff\xfe", `{"Messages":[[[[`,
	} {
		f.Add(200, []byte(body))
		f.Add(400, []byte(body))
	}
	now := &said{}
	server := httptest.NewServer(now)
	f.Cleanup(server.Close)
	cfg := config(server.URL)
	cfg.URLs["q"] = server.URL + "/q"
	c := open(f, cfg)
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 || status == http.StatusNoContent || status == http.StatusNotModified {
			status = 200
		}
		now.set(status, body)
		ctx := context.Background()
		check := func(what string, err error) {
			t.Helper()
			if err == nil && status >= 300 {
				t.Errorf("%s: no error, though it was refused with %d", what, status)
			}
		}
		for _, name := range []string{"q", queue.Dead("q")} {
			check("publish", c.Publish(ctx, name, queue.Hint{Job: 7}))
			check("delete", c.Delete(ctx, name, "receipt"))
			messages, err := c.Receive(ctx, name, 10, 0)
			check("receive", err)
			for _, m := range messages {
				kept(t, m)
			}
			n, err := c.Count(ctx, name)
			check("count", err)
			d, err := c.Depth(ctx, name)
			check("depth", err)
			if least := min(n, d.Waiting, d.Taken, d.Delayed, d.Dead); least < 0 {
				t.Errorf("counts %d and %+v", n, d)
			}
		}
	})
}

// kept: the columns of dead letters take it.
func kept(t *testing.T, m queue.Message) {
	t.Helper()
	if m.Receives < 0 || m.Receives > math.MaxInt32 {
		t.Errorf("received %d times", m.Receives)
	}
	if _, err := m.SentAt.MarshalJSON(); err != nil || !m.SentAt.IsZero() && m.SentAt.Before(time.Unix(0, 0)) {
		t.Errorf("sent at %s, %v", m.SentAt, err)
	}
}
