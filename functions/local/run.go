package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"supportbot/functions/local/platform"
	"supportbot/shared/console"
	"supportbot/shared/obs"
	"supportbot/shared/redisdb"
	"supportbot/shared/sandbox"
)

const (
	dataDir  = ".local"
	grace    = 10 * time.Second
	liveTick = 5 * time.Second // of the reconciler: a person watches
)

// run serves the platform until ctx ends; that a person ends it while it still
// starts is no failure either.
func run(ctx context.Context) error {
	redisdb.LogTo(logger("redis"))
	if err := serve(ctx); ctx.Err() == nil {
		return err
	}
	return nil
}

// serve starts with what fails soonest: the port, the variables, what the named
// services and databases say; the embedded databases take the longest.
func serve(ctx context.Context) error {
	vars := variables{}
	listener, err := listen(vars.or("PORT", "8080"))
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	fakes, err := openServices(vars)
	if err != nil {
		return err
	}
	defer fakes.Close()
	lines, err := askTracker(ctx, vars, fakes)
	if err != nil {
		return err
	}
	stores, where, err := openStores(ctx, vars, fakes)
	if err != nil {
		return err
	}
	defer stores.close()
	if stores.standsIn() {
		if err := unused(ctx, vars); err != nil {
			return err
		}
	}
	clickhouse, err := reserveAnalytics(vars)
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	if vars.or("CONSOLE_URL", "") == "" {
		vars["CONSOLE_URL"] = base + console.Path
	}
	admitted, err := admitFirst(ctx, vars, fakes)
	if err != nil {
		return err
	}
	p, err := platform.New(platform.Config{Lookup: vars.get, Log: logger, Tick: liveTick})
	if err != nil {
		return err
	}
	page := sandbox.New(fakes.Config())
	defer page.Close()

	// Whatever ends of the parts below ends all of them.
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var running sync.WaitGroup
	start := func(f func() error) {
		running.Add(1)
		go func() {
			defer running.Done()
			if err := f(); err != nil {
				fail(err)
			}
		}()
	}
	defer running.Wait()
	defer fail(nil)
	server := &http.Server{Handler: routes(ctx, page, p.Handler), ReadHeaderTimeout: 10 * time.Second}
	start(func() error { p.Run(ctx); return nil })
	start(func() error { analytics(ctx, vars, stores.dir, clickhouse); return nil })
	start(func() error { <-ctx.Done(); shut(server, page); return nil })
	start(func() error { return served(server.Serve(listener)) })
	polled, err := connect(ctx, fakes, vars, p, base, start)
	if err != nil {
		fail(err) // unless a part has failed before, and this only follows
		return context.Cause(ctx)
	}
	fmt.Printf("\nThe platform runs. Open %s/sandbox/  (Ctrl-C ends it; %s)\n", base, where)
	for _, line := range slices.Concat(polled, lines, admitted, embedded(vars)) {
		fmt.Println("  " + line)
	}
	fmt.Println()
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// listen takes the port on the loopback, before anything slow is started.
func listen(port string) (net.Listener, error) {
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return nil, fmt.Errorf("PORT=%s is not a port number", port)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %s is taken, perhaps by another run; the variable PORT chooses another one: PORT=8090 make run", port)
	}
	return l, err
}

// routes are the gateway's paths and the page.
func routes(ctx context.Context, page, gateway http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/sandbox/", page)
	mux.Handle("/", http.RedirectHandler("/sandbox/", http.StatusFound))
	for _, path := range []string{"/telegram", "/vk", "/tracker", "/console", "/console/"} {
		mux.Handle(path, gateway)
	}
	mux.Handle("/v1/", platform.Streaming(ctx, gateway))
	return mux
}

func served(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func shut(server *http.Server, page *sandbox.Sandbox) {
	page.Close() // its streams would never end
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	_ = server.Shutdown(ctx)
}

// logger writes the functions' lines to the terminal.
func logger(function string) *slog.Logger {
	level := slog.LevelInfo
	if os.Getenv("LOG_LEVEL") == "debug" {
		level = slog.LevelDebug
	}
	return obs.NewLogger(os.Stdout, function, level)
}

// sandboxAlone serves the stand-ins without the platform, on PORT and the two
// ports after it.
func sandboxAlone(ctx context.Context) error {
	first, err := strconv.Atoi(variables{}.or("PORT", "8081"))
	if err != nil {
		return fmt.Errorf("PORT is not a port number")
	}
	at := func(n int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(first+n)) }
	fakes, err := sandbox.Servers(sandbox.ServersConfig{Telegram: at(0), VK: at(1), Tracker: at(2)})
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; the variable PORT chooses the first of three other ports: PORT=8091 make sandbox", err)
	}
	if err != nil {
		return err
	}
	defer fakes.Close()
	fmt.Println("# The stand-ins run; Ctrl-C ends them. Their addresses and tokens, for a client's environment:")
	for _, v := range fakes.Variables() {
		fmt.Printf("%s=%s\n", v.Name, v.Value)
	}
	<-ctx.Done()
	return nil
}
