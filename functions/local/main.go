// Command local runs the whole platform in one process: every function, embedded
// databases, a queue in memory, and stand-ins for Telegram, VK and Tracker with a
// page to play with. Whatever the environment names is used instead: a database,
// a bot, a Tracker.
//
//	local [run]     the platform and the sandbox, until interrupted
//	local sandbox   the three stand-ins alone; prints their addresses
//	local demo      plays the main job by itself and prints what was said
//	local bench     measures (see package bench)
//	local chaos ... shows what the platform survives (see package chaos)
//	local connect   tells Telegram, VK and Tracker where a deployment is (see package deploy)
//	local doctor    examines a deployment from outside
//	local reproduce hands a recorded event to the function that it was for (see package reproduce)
//	local ban ...   an operator's command (see package operate): ban, grant, key, replay, restore...
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"supportbot/functions/local/bench"
	"supportbot/functions/local/chaos"
	"supportbot/functions/local/operate"
	"supportbot/shared/backend"
)

func main() {
	backend.ServeClickHouse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := do(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(operate.ExitCode(err))
	}
}

func do(ctx context.Context, args []string) error {
	command := "run"
	if len(args) > 0 {
		command = args[0]
	}
	commands := map[string]func(context.Context) error{"run": run, "sandbox": sandboxAlone, "demo": playDemo}
	for _, name := range operate.Names() {
		commands[name] = func(ctx context.Context) error { return operate.New(os.Stdout).Run(ctx, name, args[1:]...) }
	}
	commands["bench"] = func(ctx context.Context) error { return bench.Run(ctx, args[1:], os.Stdout) }
	commands["chaos"] = func(ctx context.Context) error { return chaos.Run(ctx, args[1:], os.Stdout) }
	commands["connect"] = func(ctx context.Context) error { return connectDeployment(ctx, args[1:]) }
	commands["doctor"] = func(ctx context.Context) error { return examineDeployment(ctx, args[1:]) }
	commands["reproduce"] = func(ctx context.Context) error { return reproduceEvent(ctx, args[1:]) }
	f, ok := commands[command]
	if !ok {
		return fmt.Errorf("unknown command %q; there are %s", command, strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
	}
	return f(ctx)
}
