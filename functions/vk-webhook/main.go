// Command vk-webhook accepts the events of VK's Callback API and answers them.
package main

import (
	"context"
	"net/http"
	"time"

	"supportbot/functions/vk-webhook/wire"
	"supportbot/shared/wiring"
	"supportbot/shared/ycf"
)

var app = ycf.Lazy[http.Handler]{Timeout: 5 * time.Second, Build: func(context.Context) (http.Handler, error) {
	return wire.New(wiring.Cloud("vk-webhook"))
}}

// Handler is the entry point that Cloud Functions calls.
func Handler(w http.ResponseWriter, r *http.Request) {
	h, err := app.Get(r.Context())
	if err != nil {
		ycf.Unavailable(w, r, err)
		return
	}
	h.ServeHTTP(w, r)
}

func main() {} // the runtime calls Handler
