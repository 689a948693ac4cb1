package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
)

// Off in place of an address leaves a server out: the real one is used.
const Off = "off"

// ServersConfig says which stand-ins to start and where. Addresses are
// "host:port"; empty is a free port of the loopback.
type ServersConfig struct {
	Telegram, VK, Tracker string
	Log                   *slog.Logger
}

// Running is the stand-ins with demonstration data, and how a client finds them.
// What was left out is nil or empty.
type Running struct {
	Telegram      *telegram.Server
	TelegramURL   string // base address: TELEGRAM_API_URL
	TelegramToken string

	VK             *vk.Server
	VKURL          string // base address: VK_API_URL
	VKToken        string
	VKGroup        int64
	VKSecret       string // of the callback servers that VK.Connect makes
	VKConfirmation string

	Tracker      *tracker.Server
	TrackerURL   string // base address: TRACKER_API_URL
	TrackerToken string
	TrackerOrg   string // TRACKER_ORG_ID
	TrackerQueue string

	Register Register // of the page, see Config
	History  *Past    // likewise; Past.Load is the caller's to set

	log     *slog.Logger
	servers []*http.Server
	closers []func()
}

// Variable is an environment variable of the platform.
type Variable struct{ Name, Value string }

// Servers starts the stand-ins. The caller calls Close in the end.
func Servers(c ServersConfig) (*Running, error) {
	r := &Running{log: c.Log}
	if r.log == nil {
		r.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	err := errors.Join(r.startTelegram(c.Telegram), r.startVK(c.VK), r.startTracker(c.Tracker))
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("start sandbox: %w", err)
	}
	return r, nil
}

// Config is that of the page over the running servers.
func (r *Running) Config() Config {
	return Config{Telegram: r.Telegram, VK: r.VK, Tracker: r.Tracker, Register: r.Register, History: r.History, Log: r.log}
}

// Variables is what a client's environment has to name to reach the servers.
func (r *Running) Variables() []Variable {
	var list []Variable
	if r.Telegram != nil {
		list = append(list, Variable{"TELEGRAM_API_URL", r.TelegramURL}, Variable{"TELEGRAM_TOKEN", r.TelegramToken})
	}
	if r.VK != nil {
		list = append(list,
			Variable{"VK_API_URL", r.VKURL}, Variable{"VK_TOKEN", r.VKToken},
			Variable{"VK_GROUP_ID", strconv.FormatInt(r.VKGroup, 10)},
			Variable{"VK_SECRET", r.VKSecret}, Variable{"VK_CONFIRMATION", r.VKConfirmation})
	}
	if r.Tracker != nil {
		list = append(list,
			Variable{"TRACKER_API_URL", r.TrackerURL}, Variable{"TRACKER_TOKEN", r.TrackerToken},
			Variable{"TRACKER_ORG_ID", r.TrackerOrg}, Variable{"TRACKER_QUEUE", r.TrackerQueue})
	}
	return list
}

// serve serves h at the address and gives the base address for clients; stop is
// called by Close first, since it ends the calls that hang.
func (r *Running) serve(name, address string, h http.Handler, stop func()) (string, error) {
	r.closers = append(r.closers, stop)
	l, err := net.Listen("tcp", cmp.Or(address, "127.0.0.1:0"))
	if err != nil {
		return "", fmt.Errorf("listen for %s: %w", name, err)
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(r.log.Handler(), slog.LevelDebug), // faults break connections on purpose
	}
	r.servers = append(r.servers, server)
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			r.log.ErrorContext(context.Background(), "sandbox stopped serving", "server", name, "error", err)
		}
	}()
	return "http://" + l.Addr().String(), nil
}

// Close stops the servers.
func (r *Running) Close() {
	for _, stop := range r.closers {
		stop()
	}
	for _, s := range r.servers {
		_ = s.Close()
	}
}
