// Command vk-webhook accepts the events of VK's Callback API and answers them.
package main

import (
	"net/http"

	"supportbot/functions/vk-webhook/wire"
	"supportbot/shared/redisdb"
	"supportbot/shared/wiring"
	"supportbot/shared/ycf"
)

var app = ycf.Lazy[http.Handler]{Build: func() (http.Handler, error) {
	rt := wiring.Cloud("vk-webhook")
	redisdb.LogTo(rt.Log)
	return wire.New(rt)
}}

// Handler is the entry point that Cloud Functions calls.
func Handler(w http.ResponseWriter, r *http.Request) {
	h, err := app.Get(r.Context())
	if err != nil {
		ycf.UnavailableUntil(w, r, err)
		return
	}
	h.ServeHTTP(w, r)
}

func main() {} // the runtime calls Handler
