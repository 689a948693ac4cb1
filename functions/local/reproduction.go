package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"supportbot/functions/local/operate"
	"supportbot/functions/local/platform"
	"supportbot/functions/local/reproduce"
	"supportbot/shared/console"
	"supportbot/shared/obs"
	"supportbot/shared/redisdb"
)

// reproduceEvent is the command reproduce: the file with the event, and, where the
// event does not say it, the function that it is for. Databases may be copies of the
// deployment's; hints go nowhere, whatever queue the environment names.
func reproduceEvent(ctx context.Context, args []string) error {
	if len(args) < 1 || len(args) > 2 || args[0] == "" { // make gives "" where EVENT is not set
		return fmt.Errorf("%w: which event? make replay EVENT=file.json [FUNCTION=name], or reproduce <file> [function]", operate.ErrUsage)
	}
	raw, err := os.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	event, err := reproduce.Recognize(raw, append(args, "")[1])
	if err != nil {
		return fmt.Errorf("%w: %w", operate.ErrUsage, err)
	}
	log := func(function string) *slog.Logger { return obs.NewLogger(os.Stdout, function, slog.LevelDebug) }
	redisdb.LogTo(log("redis"))
	vars := variables{"CONSOLE_URL": "http://127.0.0.1" + console.Path}
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
	queue := platform.NewQueue(nil)
	p, err := platform.New(platform.Config{Lookup: vars.get, Log: log, Queue: queue})
	if err != nil {
		return err
	}
	secret := func(name string) string { return reproduce.First(vars.or(name, "")) }
	return reproduce.Run(ctx, reproduce.Config{
		Platform: p, Queue: queue, Services: fakes, Out: os.Stdout,
		Secrets: reproduce.Secrets{
			Telegram: secret("TELEGRAM_WEBHOOK_SECRET"), VK: secret("VK_SECRET"), Tracker: secret("TRACKER_WEBHOOK_SECRET"), VKGroup: vars.or("VK_GROUP_ID", ""),
		},
	}, event)
}
