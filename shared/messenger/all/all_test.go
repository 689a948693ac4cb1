package all_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/all"
)

func reader(vars map[string]string) *env.Reader {
	return env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
}

func logger() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// A messenger that counts every call waits by the platform's pace.
func TestNew_Paced(t *testing.T) {
	t.Parallel()
	e := reader(map[string]string{
		"TELEGRAM_TOKEN": "77:secret", "VK_TOKEN": "token", "VK_GROUP_ID": "209", "VK_SECRET": "secret", "VK_CONFIRMATION": "confirm",
	})
	full := &messenger.Error{Kind: messenger.RateLimited, Err: errors.New("no place")}
	var asked []string
	bots, err := all.New(all.ConfigFrom(e), logger(), func(_ context.Context, m messenger.Name, bot string) error {
		asked = append(asked, string(m)+":"+bot)
		return full
	})
	if err != nil || e.Err() != nil || len(bots) != 2 {
		t.Fatalf("got %d messengers, %v, %v", len(bots), err, e.Err())
	}
	vk, ok := bots.For(messenger.Address{Messenger: messenger.VK, Bot: "209"})
	if !ok {
		t.Fatal("VK is missing")
	}
	err = vk.Answer(context.Background(), messenger.Press{ID: "1", Chat: "5", User: "5"}, "")
	if !errors.Is(err, full) || strings.Join(asked, " ") != "vk:209" {
		t.Errorf("a call of VK's: got %v, asked for %q", err, asked)
	}
	if got := bots.Bots(); got[messenger.Telegram] != "77" || got[messenger.VK] != "209" {
		t.Errorf("got the bots %v", got)
	}
}

// A messenger without its token is not asked for the rest; without any there is no bot.
func TestConfigFrom_OnlyWhatIsSet(t *testing.T) {
	t.Parallel()
	e := reader(map[string]string{"TELEGRAM_TOKEN": "77:secret"})
	bots, err := all.New(all.ConfigFrom(e), logger(), nil)
	if err != nil || e.Err() != nil || len(bots) != 1 {
		t.Errorf("Telegram alone: got %d messengers, %v, %v", len(bots), err, e.Err())
	}
	e = reader(map[string]string{"VK_TOKEN": "token"})
	_, err = all.New(all.ConfigFrom(e), logger(), nil)
	if problems := e.Err(); err == nil || problems == nil || !strings.Contains(problems.Error(), "VK_GROUP_ID is not set") {
		t.Errorf("VK without its community: got %v, %v", err, problems)
	}
	_, err = all.New(all.ConfigFrom(reader(nil)), logger(), nil)
	if err == nil || !strings.Contains(err.Error(), "TELEGRAM_TOKEN") || !strings.Contains(err.Error(), "VK_TOKEN") {
		t.Errorf("nothing: got %v", err)
	}
}
