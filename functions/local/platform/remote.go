package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"supportbot/shared/queue"
)

// remote is what a process asks of a queue that lives in another one.
type remote struct {
	Queue    string          `json:"queue"`
	Hints    []delayed       `json:"hints,omitempty"`    // to publish
	Receipts []string        `json:"receipts,omitempty"` // to delete
	Max      int             `json:"max,omitempty"`      // to receive...
	Wait     time.Duration   `json:"wait,omitempty"`
	Messages []queue.Message `json:"messages,omitempty"` // ...the answer
}

// delayed is a hint with its delay, which has no place in a message's body.
type delayed struct {
	queue.Hint
	Delay time.Duration `json:"delay"`
}

// ServeQueue lets platforms in other processes use a queue, by RemoteQueue.
func ServeQueue(q Queue) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in remote
		err := json.NewDecoder(r.Body).Decode(&in)
		switch {
		case err != nil:
		case len(in.Hints) > 0:
			hints := make([]queue.Hint, len(in.Hints))
			for i, h := range in.Hints {
				hints[i] = h.Hint
				hints[i].Delay = h.Delay
			}
			err = q.Publish(r.Context(), in.Queue, hints...)
		case len(in.Receipts) > 0:
			err = q.Delete(r.Context(), in.Queue, in.Receipts...)
		default:
			in.Messages, err = q.Receive(r.Context(), in.Queue, in.Max, in.Wait)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(remote{Messages: in.Messages})
	})
}

// RemoteQueue is the queue that ServeQueue serves at url.
func RemoteQueue(url string) Queue { return remoteQueue{url} }

type remoteQueue struct{ url string }

// Publish implements queue.Publisher.
func (q remoteQueue) Publish(ctx context.Context, name string, hints ...queue.Hint) error {
	if len(hints) == 0 {
		return nil
	}
	in := remote{Queue: name}
	for _, h := range hints {
		in.Hints = append(in.Hints, delayed{h, h.Delay})
	}
	_, err := q.ask(ctx, in)
	return err
}

// Receive implements queue.Source.
func (q remoteQueue) Receive(ctx context.Context, name string, most int, wait time.Duration) ([]queue.Message, error) {
	return q.ask(ctx, remote{Queue: name, Max: most, Wait: wait})
}

// Delete implements queue.Source.
func (q remoteQueue) Delete(ctx context.Context, name string, receipts ...string) error {
	if len(receipts) == 0 {
		return nil
	}
	_, err := q.ask(ctx, remote{Queue: name, Receipts: receipts})
	return err
}

func (q remoteQueue) ask(ctx context.Context, in remote) ([]queue.Message, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("ask queue: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask queue: %w", err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask queue: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("ask queue: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask queue: %s: %s", res.Status, bytes.TrimSpace(raw))
	}
	var out remote
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("ask queue: %w", err)
	}
	return out.Messages, nil
}
