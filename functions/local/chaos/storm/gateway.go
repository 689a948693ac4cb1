package storm

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"supportbot/functions/local/chaos/process"
)

// gateway brings calls to one process or another. Where nobody answers it says so, as
// the cloud's does; the adversary makes it turn calls away, or lose answers.
type gateway struct {
	places []*process.Place
	client http.Client

	refuse, forget     atomic.Int64 // calls to come that meet it
	refused, forgotten atomic.Int64 // calls that have
}

// gatewayTime is how long a function may take to answer.
const gatewayTime = 30 * time.Second

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if take(&g.refuse, &g.refused) {
		http.Error(w, "no instance", http.StatusBadGateway)
		return
	}
	to := g.places[rand.IntN(len(g.places))].Present().URL
	call, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	call.Header = r.Header.Clone()
	answer, err := g.client.Do(call)
	if err != nil {
		http.Error(w, "no answer", http.StatusBadGateway)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || take(&g.forget, &g.forgotten) {
		http.Error(w, "no whole answer", http.StatusBadGateway)
		return
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(text)
}

// take counts a call that meets a fault, if there are any left.
func take(left, met *atomic.Int64) bool {
	for n := left.Load(); n > 0; n = left.Load() {
		if left.CompareAndSwap(n, n-1) {
			met.Add(1)
			return true
		}
	}
	return false
}

func (g *gateway) peace() {
	g.refuse.Store(0)
	g.forget.Store(0)
}
