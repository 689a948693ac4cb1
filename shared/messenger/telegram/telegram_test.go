package telegram_test

import (
	"context"
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
	if !slices.Equal(c.Secrets, []env.Secret{env.NewSecret("one"), env.NewSecret("two")}) || c.APIURL != "https://api.telegram.org" || c.Username != username {
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
		"no bot id":              {Token: env.NewSecret("canary-token")},
		"no secret part":         {Token: env.NewSecret(botID + ":")},
		"token leaves the path":  {Token: env.NewSecret(botID + ":canary/../x")},
		"token has a control":    {Token: env.NewSecret(botID + ":canary\x7f")},
		"an empty secret":        {Token: env.NewSecret(token), Secrets: []env.Secret{env.NewSecret("canary"), {}}},
		"address without scheme": {Token: env.NewSecret(token), APIURL: "canary.example.org"},
		"address with a space":   {Token: env.NewSecret(token), APIURL: "https://canary example.org"},
		"address of a file":      {Token: env.NewSecret(token), APIURL: "file:///canary"},
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

// A button that Telegram would refuse is named before anything is sent. Its data
// is limited in bytes: Cyrillic counts twice.
func TestSend_ButtonDataIsCheckedFirst(t *testing.T) {
	t.Parallel()
	away := newHarness(t).Unreachable()
	for _, data := range []string{strings.Repeat("d", 65), strings.Repeat("ы", 33)} {
		o := messenger.Outgoing{Chat: "1", Part: messenger.Part{Text: "x"}, Keyboard: messenger.Keyboard{{{Label: "b", Data: data}}}}
		if _, err := away.Send(context.Background(), o); messenger.KindOf(err) != messenger.Invalid {
			t.Errorf("%d bytes: got %v, want Invalid", len(data), err)
		}
	}
}

// A field of another type than it has today costs only itself.
func TestReceive_OddFields(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	body := `{"update_id":5,"message":{"message_id":7,"date":"soon","chat":{"id":9,"type":"private","title":[]},
		"from":{"id":9,"is_bot":"no","first_name":"A"},"text":"words","entities":{},"photo":{"file_id":1},"poll":true},
		"callback_query":"later"}`
	events, _, err := h.bot.Receive(h.Call([]byte(body), messengertest.Right))
	if err != nil || len(events) != 1 || events[0].Text != "words" || events[0].MessageID != "7" || events[0].User.Name != "A" {
		t.Errorf("got %+v, %v, want the words", events, err)
	}
}
