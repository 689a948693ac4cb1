package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"supportbot/shared/messenger"
)

func TestComplete(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		env  map[string]string
		want []string // names in the error, none: it is complete
	}{
		{name: "nothing"},
		{name: "a bot", env: map[string]string{"TELEGRAM_TOKEN": "1:a"}},
		{name: "a bot on another server", env: map[string]string{"TELEGRAM_TOKEN": "1:a", "TELEGRAM_API_URL": "http://x"}},
		{name: "a server without a bot", env: map[string]string{"TELEGRAM_API_URL": "http://x"}, want: []string{"TELEGRAM_API_URL", "TELEGRAM_TOKEN"}},
		{name: "a community", env: map[string]string{"VK_TOKEN": "a", "VK_GROUP_ID": "1"}},
		{name: "a token without its community", env: map[string]string{"VK_TOKEN": "a"}, want: []string{"VK_GROUP_ID"}},
		{name: "a Tracker of Yandex 360", env: map[string]string{"TRACKER_TOKEN": "a", "TRACKER_QUEUE": "SUP", "TRACKER_ORG_ID": "1"}},
		{name: "a Tracker of Yandex Cloud", env: map[string]string{"TRACKER_TOKEN": "a", "TRACKER_QUEUE": "SUP", "TRACKER_CLOUD_ORG_ID": "1"}},
		{name: "a queue without a token", env: map[string]string{"TRACKER_QUEUE": "SUP"}, want: []string{"TRACKER_QUEUE", "TRACKER_TOKEN"}},
		{
			name: "everything at once", env: map[string]string{"VK_TOKEN": "a", "TRACKER_TOKEN": "a"},
			want: []string{"VK_GROUP_ID", "TRACKER_QUEUE", "TRACKER_ORG_ID or TRACKER_CLOUD_ORG_ID"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := complete(func(name string) string { return test.env[name] })
			if (err != nil) != (test.want != nil) {
				t.Fatalf("got %v, want problems with %v", err, test.want)
			}
			for _, name := range test.want {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("got %v, want it to name %s", err, name)
				}
			}
		})
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	l, err := listen("0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, taken, _ := net.SplitHostPort(l.Addr().String())
	for port, want := range map[string]string{taken: "PORT=", "http": "not a port number", "-1": "not a port number", "65536": "not a port number"} {
		if _, err := listen(port); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("port %s: got %v, want %q", port, err, want)
		}
	}
}

// An operator's command reaches what a run has started, and is told nothing of what the
// environment has.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	if got := embedded(variables{"CONSOLE_URL": "x"}); got != nil {
		t.Errorf("nothing was started: %q", got)
	}
	got := embedded(variables{"DATABASE_URL": "postgres://a", "REDIS_URL": "redis://b"})
	if len(got) != 1 || !strings.HasSuffix(got[0], "DATABASE_URL='postgres://a' REDIS_URL='redis://b' go run ./functions/local jobs") {
		t.Errorf("told %q", got)
	}
}

type pollerFunc func() error

func (f pollerFunc) Poll(context.Context, http.Handler) error { return f() }

// What cannot be reached is asked again; what refuses ends the run with advice.
func TestPolling(t *testing.T) {
	t.Parallel()
	words := errors.New("the words of the messenger")
	for name, test := range map[string]struct {
		refused func(int) string
		code    int
		want    string
	}{
		"Telegram, wrong token": {refusedByTelegram, http.StatusUnauthorized, "TELEGRAM_TOKEN"},
		"Telegram, a webhook":   {refusedByTelegram, http.StatusConflict, "deleteWebhook"},
		"VK, wrong token":       {refusedByVK, 5, "VK_TOKEN"},
		"VK, wrong community":   {refusedByVK, 100, "VK_GROUP_ID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := []error{
				&messenger.Error{Kind: messenger.Temporary, Err: errors.New("no such host")},
				&messenger.Error{Kind: messenger.Temporary, Code: 502, Err: errors.New("bad gateway")},
				&messenger.Error{Kind: messenger.Temporary, Code: test.code, Err: words},
			}
			err := polling{name: name, refused: test.refused}.run(context.Background(), pollerFunc(func() (err error) {
				err, answers = answers[0], answers[1:]
				return err
			}), nil)
			if len(answers) != 0 || !errors.Is(err, words) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v with %d answers left, want %q, the messenger's own words, and none left", err, len(answers), test.want)
			}
		})
	}
}
