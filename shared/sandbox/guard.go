package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// actionHeader has to be in every request that changes something. A page of
// another origin cannot send it without being asked for leave, which is refused.
const actionHeader = "X-Sandbox"

// The most that a request's body may have.
const (
	maxBody   = 1 << 20  // bytes
	maxUpload = 64 << 20 // bytes, with files
)

// policy lets the page load its own files and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
	"media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// admit answers requests that may not come in, and prepares the others.
func (s *Sandbox) admit(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case !ownHost(r.Host):
		// A name of the web that points here would be of one origin with us.
		refuse(w, http.StatusForbidden, "host", "the sandbox is reached by localhost or by an address")
		return false
	case !reads && r.Header.Get(actionHeader) == "":
		refuse(w, http.StatusForbidden, "header", "the header "+actionHeader+" is missing")
		return false
	}
	most := int64(maxBody)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		most = maxUpload
	}
	if r.ContentLength > most {
		refuseLarge(w)
		return false
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	return true
}

// ownHost reports whether a Host header is of this machine or an address.
func ownHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host) != nil
}

func refuseLarge(w http.ResponseWriter) {
	refuse(w, http.StatusRequestEntityTooLarge, "too_large",
		fmt.Sprintf("at most %d MB, or %d MB with files", maxBody>>20, maxUpload>>20))
}

// tooLarge reports whether err is that of a body above its bound.
func tooLarge(err error) bool {
	var most *http.MaxBytesError
	return errors.As(err, &most)
}
