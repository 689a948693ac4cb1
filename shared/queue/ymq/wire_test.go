package ymq_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/queue"
	"supportbot/shared/queue/ymq"
)

// call is one request as the service gets it.
type call struct {
	Action string
	Body   map[string]any
}

func (c *call) entries() []map[string]any {
	list, _ := c.Body["Entries"].([]any)
	entries := make([]map[string]any, 0, len(list))
	for _, e := range list {
		entries = append(entries, e.(map[string]any))
	}
	return entries
}

// service answers each call by answer, whose first result is the status.
func service(t *testing.T, answer func(c *call) (int, string)) *ymq.Client {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := call{Action: strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &c.Body); err != nil {
			t.Errorf("request %s: %v", body, err)
		}
		status, text := answer(&c)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(srv.Close)
	cfg := config(srv.URL)
	cfg.URLs["q"] = "https://message-queue.api.cloud.yandex.net/b1g/dj6/q"
	return open(t, cfg)
}

// Message Queue refuses fields that it does not know (ydb, http_proxy).
func TestRequests_OnlyOldFields(t *testing.T) {
	t.Parallel()
	var calls []call
	c := service(t, func(c *call) (int, string) {
		calls = append(calls, *c)
		return 200, `{}`
	})
	ctx := context.Background()
	hints := []queue.Hint{
		{Job: 7}, {Job: 8, Delay: 1200 * time.Millisecond}, {Job: 9, Delay: time.Hour, CorrelationID: "é"}, {Job: 10, Delay: -1},
	}
	if err := c.Publish(ctx, "q", hints...); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Receive(ctx, "q", 50, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, "q", "receipt"); err != nil {
		t.Fatal(err)
	}
	url := "https://message-queue.api.cloud.yandex.net/b1g/dj6/q"
	want := []call{
		{"SendMessageBatch", map[string]any{"QueueUrl": url, "Entries": []any{
			map[string]any{"Id": "0", "MessageBody": `{"job":7}`},
			map[string]any{"Id": "1", "MessageBody": `{"job":8}`, "DelaySeconds": 2.0},
			map[string]any{"Id": "2", "MessageBody": `{"job":9,"correlation_id":"\u00e9"}`, "DelaySeconds": 900.0},
			map[string]any{"Id": "3", "MessageBody": `{"job":10}`},
		}}},
		{"ReceiveMessage", map[string]any{"QueueUrl": url, "MaxNumberOfMessages": 10.0, "WaitTimeSeconds": 20.0,
			"MessageAttributeNames": []any{"All"}, "MessageSystemAttributeNames": []any{"SentTimestamp", "ApproximateReceiveCount"}}},
		{"DeleteMessageBatch", map[string]any{"QueueUrl": url, "Entries": []any{map[string]any{"Id": "0", "ReceiptHandle": "receipt"}}}},
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestPublish_PartOfABatchFails(t *testing.T) {
	t.Parallel()
	sent := map[string]bool{}
	c := service(t, func(c *call) (int, string) {
		var failed []string
		for _, e := range c.entries() {
			body := e["MessageBody"].(string)
			if body == `{"job":2}` || body == `{"job":15}` {
				failed = append(failed, `{"Id":"`+e["Id"].(string)+`","Code":"InternalError","Message":"canary"}`)
				continue
			}
			sent[body] = true
		}
		return 200, `{"Failed":[` + strings.Join(failed, ",") + `]}`
	})
	var hints []queue.Hint
	for id := range int64(25) {
		hints = append(hints, queue.Hint{Job: id + 1})
	}
	err := c.Publish(context.Background(), "q", hints...)
	if err == nil || !strings.Contains(err.Error(), "publish to q: 2 of 25 failed") || !strings.Contains(err.Error(), "InternalError") {
		t.Errorf("Publish: got %v, want it to say that 2 of 25 failed, with the code", err)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("Publish: the error quotes the service's text: %v", err)
	}
	if len(sent) != 23 {
		t.Errorf("sent: got %v, want all but 2 and 15", slices.Sorted(maps.Keys(sent)))
	}
}

func TestDelete_PartOfABatchFails(t *testing.T) {
	t.Parallel()
	c := service(t, func(*call) (int, string) {
		return 200, `{"Failed":[{"Id":"0","Code":"ReceiptHandleIsInvalid","SenderFault":true}]}`
	})
	err := c.Delete(context.Background(), "q", "a", "b")
	if err == nil || !strings.Contains(err.Error(), "1 of 2 failed: refused with ReceiptHandleIsInvalid") {
		t.Errorf("Delete: got %v", err)
	}
}

func TestMissingQueue_BothSpellings(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"AWS.SimpleQueueService.NonExistentQueue", "com.amazonaws.sqs#QueueDoesNotExist", "QueueDoesNotExist"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			c := service(t, func(*call) (int, string) {
				calls.Add(1)
				return 400, `{"__type":"` + code + `","message":"The specified queue doesn't exist."}`
			})
			if err := c.Publish(context.Background(), "q", queue.Hint{Job: 1}); !errors.Is(err, queue.ErrNotFound) {
				t.Errorf("Publish: got %v, want %v", err, queue.ErrNotFound)
			}
			if got := calls.Load(); got != 1 {
				t.Errorf("calls: got %d, want 1: repeating cannot help", got)
			}
		})
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	throttled := `{"__type":"ThrottlingException","message":"slow down"}`
	tests := map[string]struct {
		answers []int // the last one goes on
		body    string
		calls   int32
		ok      bool
	}{
		"once more after a 500":       {[]int{500, 200}, `{}`, 2, true},
		"not for ever":                {[]int{500}, `{}`, 2, false},
		"HTML of a proxy":             {[]int{502}, `<html>Bad Gateway</html>`, 2, false},
		"throttled":                   {[]int{400, 200}, throttled, 2, true},
		"wrong key":                   {[]int{403}, `{"__type":"InvalidClientTokenId"}`, 1, false},
		"an answer that is not JSON":  {[]int{200}, `<html>`, 1, false},
		"an answer that is something": {[]int{200}, `[]`, 1, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			c := service(t, func(*call) (int, string) {
				n := int(calls.Add(1))
				return tc.answers[min(n, len(tc.answers))-1], tc.body
			})
			err := c.Publish(context.Background(), "q", queue.Hint{Job: 1})
			if (err == nil) != tc.ok || calls.Load() != tc.calls {
				t.Errorf("Publish: got %v after %d calls, want success %v after %d", err, calls.Load(), tc.ok, tc.calls)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error has a key in it: %v", err)
			}
		})
	}
}

// The first attempt meets a connection that is dead without knowing it, as after
// a freeze; the second gets through.
func TestPublish_HangingConnection(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	hang := make(chan struct{})
	c := service(t, func(*call) (int, string) {
		if calls.Add(1) == 1 {
			<-hang
		}
		return 200, `{}`
	})
	t.Cleanup(func() { close(hang) })
	start := time.Now()
	if err := c.Publish(context.Background(), "q", queue.Hint{Job: 1}); err != nil {
		t.Errorf("Publish: %v", err)
	}
	if took := time.Since(start); took > time.Minute || calls.Load() != 2 {
		t.Errorf("Publish took %s and %d calls, want about 2 s and 2", took, calls.Load())
	}
}

// However many batches: a webhook has to answer.
func TestPublish_HangingServiceIsBounded(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	c := service(t, func(*call) (int, string) { <-hang; return 200, `{}` })
	t.Cleanup(func() { close(hang) })
	start := time.Now()
	err := c.Publish(context.Background(), "q", make([]queue.Hint, 95)...)
	if err == nil || !strings.Contains(err.Error(), "95 of 95 failed") {
		t.Errorf("Publish: got %v, want 95 of 95 failed", err)
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("Publish took %s, want about 5 s", took)
	}
}

func TestUnconfiguredQueue(t *testing.T) {
	t.Parallel()
	c := service(t, func(*call) (int, string) { t.Error("the service was called"); return 200, `{}` })
	if err := c.Publish(context.Background(), "other", queue.Hint{Job: 1}); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("Publish: got %v, want %v", err, queue.ErrNotFound)
	}
}
