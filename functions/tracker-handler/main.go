// Command tracker-handler accepts the calls of Tracker's triggers: look at this issue.
package main

import (
	"net/http"

	"supportbot/functions/tracker-handler/wire"
	"supportbot/shared/wiring"
	"supportbot/shared/ycf"
)

var app = ycf.Lazy[http.Handler]{Build: func() (http.Handler, error) {
	return wire.New(wiring.Cloud("tracker-handler"))
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
