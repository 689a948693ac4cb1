package ycf

import (
	"encoding/json"
	"net/http"
)

// Unavail is Unavailable with a log that a test can read.
var Unavail = unavailable

// EventJSON is the event that the gateway makes of a request.
func EventJSON(rt Route, r *http.Request, body []byte) ([]byte, error) {
	params, _ := rt.match(r.URL.EscapedPath())
	return json.Marshal(rt.event(r, body, params))
}
