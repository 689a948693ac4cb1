package platform_test

import (
	"net"
	"net/http"
	"testing"
)

// host is where a service is reached. A stopped one refuses connections, and is
// found at the same address when it is back.
type host struct {
	t    *testing.T
	addr string
	h    http.Handler
	srv  *http.Server
}

func newHost(t *testing.T, h http.Handler) *host {
	t.Helper()
	s := &host{t: t, addr: "127.0.0.1:0", h: h}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *host) url() string { return "http://" + s.addr }

func (s *host) start() {
	s.t.Helper()
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.addr, s.srv = l.Addr().String(), &http.Server{Handler: s.h}
	srv := s.srv
	go func() { _ = srv.Serve(l) }()
}

func (s *host) stop() { _ = s.srv.Close() }
