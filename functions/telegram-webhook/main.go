// Command telegram-webhook accepts Telegram's updates and answers them.
package main

import (
	"net/http"

	"supportbot/functions/telegram-webhook/wire"
	"supportbot/shared/redisdb"
	"supportbot/shared/wiring"
	"supportbot/shared/ycf"
)

var app = ycf.Lazy[http.Handler]{Build: func() (http.Handler, error) {
	rt := wiring.Cloud("telegram-webhook")
	redisdb.LogTo(rt.Log)
	return wire.New(rt)
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
