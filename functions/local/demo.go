package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"sync"

	"supportbot/functions/local/demo"
	"supportbot/functions/local/platform"
	"supportbot/shared/obs"
)

// playDemo runs the platform for one play, always on the stand-ins: nothing of it
// must reach a real service.
func playDemo(ctx context.Context) error {
	standIns()
	vars := variables{}
	fakes, err := openServices(vars)
	if err != nil {
		return err
	}
	defer fakes.Close()
	stores, _, err := openStores(ctx, vars, fakes)
	if err != nil {
		return err
	}
	defer stores.close()
	log := io.Writer(io.Discard)
	if os.Getenv("LOG_LEVEL") == "debug" {
		log = os.Stderr
	}
	p, err := platform.New(platform.Config{
		Lookup: vars.get, Tick: liveTick,
		Log: func(f string) *slog.Logger { return obs.NewLogger(log, f, slog.LevelDebug) },
	})
	if err != nil {
		return err
	}
	gateway := httptest.NewServer(p.Handler)
	defer gateway.Close()
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	start := func(f func() error) {
		running.Add(1)
		go func() { defer running.Done(); _ = f() }() // nothing of it fails on stand-ins
	}
	defer running.Wait()
	defer stop()
	start(func() error { p.Run(ctx); return nil })
	if _, err := connect(ctx, fakes, vars, p, gateway.URL, start); err != nil {
		return err
	}
	if err := demo.Play(ctx, fakes, os.Stdout); err != nil {
		return err
	}
	fmt.Println("Everybody saw what they had to see, each line once.")
	return nil
}
