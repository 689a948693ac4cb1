// Command local runs the whole platform in one process: every function, embedded
// databases, a queue in memory, and stand-ins for Telegram, VK and Tracker with a
// page to play with. Whatever the environment names is used instead: a database,
// a bot, a Tracker.
//
//	local [run]     the platform and the sandbox, until interrupted
//	local sandbox   the three stand-ins alone; prints their addresses
//	local demo      plays the main job by itself and prints what was said
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command := "run"
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	commands := map[string]func(context.Context) error{"run": run, "sandbox": sandboxAlone, "demo": playDemo}
	f, ok := commands[command]
	if !ok {
		fmt.Fprintf(os.Stderr, "unknown command %q; there are run, sandbox and demo\n", command)
		os.Exit(2)
	}
	if err := f(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
