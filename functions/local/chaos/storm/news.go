package storm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"supportbot/shared/broadcast"
)

// newsEvery is how often there is a broadcast: by turns news and maintenance notices.
const newsEvery = 12 * time.Second

// news asks for broadcasts until ctx ends, and gives those that it asked for. As a
// program would, it repeats a request with its key until it is answered.
func (w *world) news(ctx context.Context) (all []News) {
	for sleep(ctx, newsEvery) == nil {
		kind := broadcast.News
		if len(all)%2 == 1 {
			kind = broadcast.Maintenance
		}
		word := fmt.Sprintf("B0N%dE", len(all)+1)
		all = append(all, News{Token: word, Asked: time.Now()})
		body, err := json.Marshal(map[string]any{"kind": kind, "texts": map[string]string{"ru": word + " новости"}, "audience": map[string]any{}})
		if err != nil {
			panic(err) // made of texts
		}
		for !w.asks(ctx, word, body) {
			if sleep(ctx, time.Second) != nil {
				return all
			}
		}
		all[len(all)-1].Taken = true
	}
	return all
}

func (w *world) asks(ctx context.Context, key string, body []byte) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/broadcasts", bytes.NewReader(body))
	if err != nil {
		return false
	}
	r.Header.Set("X-API-Key", apiKey)
	r.Header.Set("Idempotency-Key", key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode < http.StatusMultipleChoices
}
