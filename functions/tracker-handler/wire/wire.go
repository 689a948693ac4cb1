// Package wire puts the receiver of Tracker's triggers together.
package wire

import (
	"net/http"

	"supportbot/shared/news"
	"supportbot/shared/wiring"
	"supportbot/shared/ycf"
)

// New makes the handler of POST /tracker.
func New(rt wiring.Runtime) (http.Handler, error) {
	secrets := rt.Env.RequiredSecrets("TRACKER_WEBHOOK_SECRET")
	core, err := wiring.NewCore(rt)
	if err != nil {
		return nil, err
	}
	return ycf.Recover(rt.Log, &news.Trigger{Secrets: secrets, Store: core.DB, Publisher: core.Publisher, Log: rt.Log}), nil
}
