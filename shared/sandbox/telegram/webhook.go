package telegram

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// webhook is where updates are posted to.
type webhook struct {
	url         string
	secret      string
	connections int
	certificate bool

	busy        int // calls under way
	failing     bool
	success     time.Time // of the last call that went well
	lastError   string
	lastErrorAt time.Time
	gone        time.Time // since when it answers 410; zero: it does not
	timer       *time.Timer
}

func (h *webhook) stop() {
	if h.timer != nil {
		h.timer.Stop()
	}
}

// Connect sets a webhook as the bot itself would by setWebhook. secret may be empty.
func (s *Server) Connect(address, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attach(&webhook{url: address, secret: secret, connections: 40})
}

// attach replaces the webhook; callers hold s.mu.
func (s *Server) attach(h *webhook) {
	if s.hook != nil {
		s.hook.stop()
	}
	s.hook = h
	for _, u := range s.pending {
		u.attempt, u.due = 0, s.now()
	}
	if h != nil {
		h.success = s.now()
	}
	close(s.arrived) // a long poll has to notice
	s.arrived = make(chan struct{})
	s.pump()
}

func (s *Server) setWebhook(c *call) (any, *refusal) {
	address := c.text("url")
	if address == "" {
		return s.deleteWebhook(c)
	}
	if s.now().Before(s.nextHook) {
		return nil, tooMany(1)
	}
	h := &webhook{url: address, secret: c.text("secret_token"), connections: int(c.number("max_connections", 40))}
	if r := h.check(c); r != nil {
		return nil, r
	}
	if r := s.allow(c); r != nil {
		return nil, r
	}
	s.nextHook = s.now().Add(time.Second)
	if c.flag("drop_pending_updates") {
		s.pending = nil
	}
	s.attach(h)
	c.effect = true
	return true, nil
}

const secretAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// check refuses what the original refuses. As an original server that runs with
// --local does, it takes plain HTTP and any port for addresses of this machine.
func (h *webhook) check(c *call) *refusal {
	u, err := url.Parse(h.url)
	if err != nil || u.Host == "" {
		return bad("bad webhook: invalid webhook URL specified")
	}
	if !loopback(u.Hostname()) {
		if u.Scheme != "https" {
			return bad("bad webhook: An HTTPS URL must be provided for webhook")
		}
		switch u.Port() {
		case "", "443", "80", "88", "8443":
		default:
			return bad("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
		}
	}
	switch {
	case len(h.secret) > 256:
		return bad("secret token is too long")
	case strings.Trim(h.secret, secretAlphabet) != "":
		return bad("secret token contains unallowed characters")
	}
	h.connections = min(max(1, h.connections), 100)
	h.certificate = c.files["certificate"] != nil
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s *Server) deleteWebhook(c *call) (any, *refusal) {
	if c.flag("drop_pending_updates") {
		s.pending = nil
	}
	if s.hook != nil {
		s.attach(nil)
		c.effect = true
	}
	return true, nil
}

func (s *Server) getWebhookInfo(*call) (any, *refusal) {
	s.expire()
	w := map[string]any{"url": "", "has_custom_certificate": false, "pending_update_count": len(s.pending)}
	if s.allowed != nil {
		kinds := make([]string, 0, len(s.allowed))
		for kind := range s.allowed {
			kinds = append(kinds, kind)
		}
		slices.Sort(kinds)
		w["allowed_updates"] = kinds
	}
	if h := s.hook; h != nil {
		w["url"], w["has_custom_certificate"], w["max_connections"] = h.url, h.certificate, h.connections
		if h.lastError != "" {
			w["last_error_date"], w["last_error_message"] = h.lastErrorAt.Unix(), h.lastError
		}
	}
	return w, nil
}
