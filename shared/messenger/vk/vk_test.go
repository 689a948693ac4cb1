package vk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/messengertest"
	"supportbot/shared/messenger/vk"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	messengertest.Run(t, func(t *testing.T) messengertest.Harness { return newHarness(t) })
}

func TestConfigFrom(t *testing.T) {
	t.Parallel()
	variables := map[string]string{
		"VK_TOKEN": token, "VK_GROUP_ID": "5", "VK_SECRET": " one, two,", "VK_CONFIRMATION": "abc",
	}
	r := env.NewReaderFrom(func(name string) (string, bool) { v, ok := variables[name]; return v, ok })
	c := vk.ConfigFrom(r)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Secrets, []env.Secret{env.NewSecret("one"), env.NewSecret("two")}) || c.APIURL != "https://api.vk.com" {
		t.Errorf("got %d secrets and %s", len(c.Secrets), c.APIURL)
	}
	bot, err := vk.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if bot.Name() != messenger.VK || bot.Bot() != "5" || !bot.Limits().Idempotent {
		t.Errorf("got %s %s %+v", bot.Name(), bot.Bot(), bot.Limits())
	}
	empty := env.NewReaderFrom(func(string) (string, bool) { return "", false })
	vk.ConfigFrom(empty)
	for _, name := range []string{"VK_TOKEN", "VK_GROUP_ID", "VK_SECRET", "VK_CONFIRMATION"} {
		if err := empty.Err(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want a problem with %s", err, name)
		}
	}
}

func TestNew_FailsClosed(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*vk.Config){
		"no token":         func(c *vk.Config) { c.Token = env.Secret{} },
		"no community":     func(c *vk.Config) { c.GroupID = "" },
		"community's name": func(c *vk.Config) { c.GroupID = "support" },
		"minus":            func(c *vk.Config) { c.GroupID = "-5" },
		"no secret":        func(c *vk.Config) { c.Secrets = nil },
		"empty secret":     func(c *vk.Config) { c.Secrets = []env.Secret{env.NewSecret("one"), {}} },
		"no confirmation":  func(c *vk.Config) { c.Confirmation = "" },
	} {
		c := vk.Config{Token: env.NewSecret(token), GroupID: "5", Secrets: []env.Secret{env.NewSecret("one")}, Confirmation: "abc"}
		spoil(&c)
		if bot, err := vk.New(c); err == nil || bot != nil {
			t.Errorf("%s: got a bot, want an error", name)
		}
	}
}

// What is longer than a message comes back whole from its parts.
func TestPlain(t *testing.T) {
	t.Parallel()
	bot := offline(t)
	for name, text := range map[string]string{
		"paragraphs": strings.Repeat("A line of words.\n\n", 600),
		"one word":   strings.Repeat("я", 9000),
		"emoji":      strings.Repeat("😀", 5000),
		"mentions":   strings.Repeat("[id1|Name] ", 900),
		"empty":      "",
	} {
		var whole strings.Builder
		parts := bot.Plain(text)
		for i, p := range parts {
			if n := units(p.Text); n > 4096 || n == 0 {
				t.Errorf("%s: part %d has %d units", name, i, n)
			}
			whole.WriteString(p.Text)
		}
		if diff := cmp.Diff(visible(text), visible(whole.String())); diff != "" {
			t.Errorf("%s: text (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(parts, bot.Plain(text)); diff != "" {
			t.Errorf("%s: not the same twice:\n%s", name, diff)
		}
	}
}

// visible leaves out what has no width and what parts may lose at their ends.
func visible(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\u200b", "")), "")
}

func units(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
