package tracker

import (
	"io"
	"net/http"
	"time"
)

// TimeHeader lets a call say when its operation happened (RFC 3339, milliseconds
// count), where Config.Past allows it; the original has no such thing. It is how a
// desk gets years of history: the caller is who did it, by their own token. A ticket's
// operations have to be told in their order.
//
// What is told of is no traffic: no trigger runs for it (as for what the original
// imports), no limit, fault or lag applies, and the log of calls leaves it out.
const TimeHeader = "X-Sandbox-Time"

// tell answers a call that tells of the past.
func (s *Server) tell(c *call, rt route, w http.ResponseWriter, past string) answer {
	at, err := time.Parse(time.RFC3339Nano, past)
	switch {
	case !s.cfg.Past || rt.upload || rt.download:
		return fail(http.StatusForbidden, "This server takes no calls that tell of the past")
	case err != nil || at.After(s.cfg.Now()):
		return fail(http.StatusBadRequest, "%s has to be a time that has passed", TimeHeader)
	}
	c.past = at.UTC().Truncate(time.Millisecond)
	if c.body, err = io.ReadAll(http.MaxBytesReader(w, c.r.Body, maxBody)); err != nil {
		return fail(http.StatusRequestEntityTooLarge, "Request entity is too large")
	}
	return s.answer(c, rt)
}
