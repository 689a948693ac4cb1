package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"supportbot/functions/local/platform"
	"supportbot/shared/obs"
	"supportbot/shared/sandbox"
)

const (
	dataDir  = ".local"
	grace    = 10 * time.Second
	liveTick = 5 * time.Second // of the reconciler: a person watches
)

// run serves the platform until ctx ends.
func run(ctx context.Context) error {
	lookup := variables{}
	fakes, err := openServices(lookup)
	if err != nil {
		return err
	}
	defer fakes.Close()
	stores, where, err := openStores(ctx, lookup, fakes)
	if err != nil {
		return err
	}
	defer stores.close()

	p, err := platform.New(platform.Config{Lookup: lookup.get, Log: logger, Tick: liveTick})
	if err != nil {
		return err
	}
	address := net.JoinHostPort("127.0.0.1", lookup.or("PORT", "8080"))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w (PORT=... chooses another port)", err)
	}
	page := sandbox.New(fakes.Config())
	defer page.Close()
	mux := http.NewServeMux()
	mux.Handle("/sandbox/", page)
	mux.Handle("/", http.RedirectHandler("/sandbox/", http.StatusFound))
	for _, path := range []string{"/telegram", "/vk", "/tracker"} {
		mux.Handle(path, p.Handler)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	var running sync.WaitGroup
	start := func(f func()) {
		running.Add(1)
		go func() { defer running.Done(); f() }()
	}
	start(func() { p.Run(ctx) })
	start(func() { <-ctx.Done(); shut(server, page) })
	if err := connect(ctx, fakes, lookup, p, "http://"+address, start); err != nil {
		return err
	}
	fmt.Printf("\nThe platform runs. Open http://%s/sandbox/  (Ctrl-C ends it; %s)\n\n", address, where)
	err = server.Serve(listener)
	running.Wait()
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

// sandboxAlone serves the stand-ins without the platform.
func sandboxAlone(ctx context.Context) error {
	fakes, err := sandbox.Servers(sandbox.ServersConfig{Telegram: "127.0.0.1:8081", VK: "127.0.0.1:8082", Tracker: "127.0.0.1:8083"})
	if err != nil {
		return err
	}
	defer fakes.Close()
	for _, v := range fakes.Variables() {
		fmt.Printf("%s=%s\n", v.Name, v.Value)
	}
	<-ctx.Done()
	return nil
}
