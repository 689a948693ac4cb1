package telegram_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/messengertest"
	"supportbot/shared/messenger/telegram"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	messengertest.Run(t, func(t *testing.T) messengertest.Harness { return newHarness(t) })
}

func reader(variables map[string]string) *env.Reader {
	return env.NewReaderFrom(func(name string) (string, bool) { v, ok := variables[name]; return v, ok })
}

func TestConfigFrom(t *testing.T) {
	t.Parallel()
	r := reader(map[string]string{
		"TELEGRAM_TOKEN": token, "TELEGRAM_WEBHOOK_SECRET": " one, two,", "TELEGRAM_USERNAME": "@" + username,
	})
	c := telegram.ReceiverConfigFrom(r)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Secrets, []env.Secret{"one", "two"}) || c.APIURL != "https://api.telegram.org" || c.Username != username {
		t.Errorf("got %d secrets, %s, %s", len(c.Secrets), c.APIURL, c.Username)
	}
	bot, err := telegram.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if bot.Name() != messenger.Telegram || bot.Bot() != botID || bot.Limits().Idempotent || bot.Limits().Settle != 0 {
		t.Errorf("got %s %s %+v", bot.Name(), bot.Bot(), bot.Limits())
	}
}

// Who only sends needs no secret; who receives does, and hears what is missing.
func TestConfigFrom_Missing(t *testing.T) {
	t.Parallel()
	sender := reader(map[string]string{"TELEGRAM_TOKEN": token})
	if c := telegram.ConfigFrom(sender); sender.Err() != nil || len(c.Secrets) != 0 {
		t.Errorf("got %v and %d secrets", sender.Err(), len(c.Secrets))
	}
	receiver := reader(nil)
	telegram.ReceiverConfigFrom(receiver)
	err := fmt.Sprint(receiver.Err())
	for _, name := range []string{"TELEGRAM_TOKEN", "TELEGRAM_WEBHOOK_SECRET"} {
		if !strings.Contains(err, name) {
			t.Errorf("got %q, want it to name %s", err, name)
		}
	}
}

// What is wrong with the configuration is said without showing it.
func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]telegram.Config{
		"no token":               {},
		"no bot id":              {Token: "canary-token"},
		"no secret part":         {Token: botID + ":"},
		"token leaves the path":  {Token: botID + ":canary/../x"},
		"token has a control":    {Token: botID + ":canary\x7f"},
		"an empty secret":        {Token: token, Secrets: []env.Secret{"canary", ""}},
		"address without scheme": {Token: token, APIURL: "canary.example.org"},
		"address with a space":   {Token: token, APIURL: "https://canary example.org"},
		"address of a file":      {Token: token, APIURL: "file:///canary"},
	} {
		bot, err := telegram.New(c)
		if err == nil || bot != nil {
			t.Errorf("%s: got %v, want an error", name, err)
			continue
		}
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error shows what it is about: %v", name, err)
		}
	}
}
