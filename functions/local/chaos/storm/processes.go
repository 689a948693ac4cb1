package storm

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"supportbot/functions/local/chaos/process"
	"supportbot/functions/local/platform"
)

func (w *world) serve(h http.Handler) string {
	server := httptest.NewServer(h)
	w.closers = append(w.closers, func() error { server.CloseClientConnections(); server.Close(); return nil })
	return server.URL
}

// work starts the processes and the gateway before them.
func (w *world) work() error {
	vars := map[string]string{
		"DATABASE_URL": withPassword(w.Postgres.URL()), "DATABASE_MAX_CONNS": "3", "REDIS_URL": w.Redis.URL(),
		"TELEGRAM_TOKEN": telegramToken, "TELEGRAM_WEBHOOK_SECRET": secret,
		"VK_TOKEN": vkToken, "VK_GROUP_ID": fmt.Sprint(vkGroup), "VK_SECRET": secret, "VK_CONFIRMATION": "confirm",
		"TRACKER_TOKEN": trackerToken, "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": secret,
		"TRACKER_RATE_PER_SECOND": fmt.Sprint(trackerLimit),
		process.QueueVariable:     w.serve(platform.ServeQueue(w.queue)),
		process.LeaseVariable:     w.Lease.String(),
	}
	w.trackerURL = w.serve(w.tracker)
	w.vk.SetURL(w.serve(w.vk)) // of files
	for i := range w.Processes {
		own := maps.Clone(vars)
		own["TMPDIR"] = w.scratch(i)
		if err := os.Mkdir(own["TMPDIR"], 0o700); err != nil {
			return fmt.Errorf("make temporary folder: %w", err)
		}
		for name, service := range map[string]http.Handler{"TELEGRAM_API_URL": w.telegram, "VK_API_URL": w.vk, "TRACKER_API_URL": w.tracker} {
			own[name] = w.serve(service)
			w.hosts[strings.TrimPrefix(own[name], "http://")] = i
		}
		w.vars = append(w.vars, own)
		log := w.log.of()
		p := process.NewPlace(own, log, func() error { log.end(); return w.between() })
		if err := p.Start(); err != nil {
			return err
		}
		w.places = append(w.places, p)
	}
	w.gateway.places = w.places
	w.url = w.serve(w.gateway)
	return nil
}

// withPassword gives an address with a password, which a database that trusts everybody
// does not look at.
func withPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.User = url.UserPassword(u.User.Username(), canary+"-database-password")
	return u.String()
}

// scratch is the temporary folder of a process.
func (w *world) scratch(n int) string { return filepath.Join(w.Dir, fmt.Sprint("tmp", n)) }

// between is what a process waits for that takes another's place.
func (w *world) between() error {
	w.rest.RLock()
	defer w.rest.RUnlock()
	return nil
}
