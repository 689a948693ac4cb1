package sandbox_test

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"supportbot/shared/sandbox"
)

func TestServers_AreFoundByTheirVariables(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := map[string]string{}
	for _, v := range b.Variables() {
		if v.Value == "" || got[v.Name] != "" {
			t.Errorf("%s: got %q", v.Name, v.Value)
		}
		got[v.Name] = v.Value
	}
	for _, name := range []string{
		"TELEGRAM_API_URL", "TELEGRAM_TOKEN", "VK_API_URL", "VK_TOKEN", "VK_GROUP_ID", "VK_SECRET", "VK_CONFIRMATION",
		"TRACKER_API_URL", "TRACKER_TOKEN", "TRACKER_ORG_ID", "TRACKER_QUEUE",
	} {
		if got[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	for name, c := range map[string]struct{ url, token, org, want string }{
		"telegram": {url: got["TELEGRAM_API_URL"] + "/bot" + got["TELEGRAM_TOKEN"] + "/getMe", want: `"is_bot":true`},
		"vk": {
			url:  got["VK_API_URL"] + "/method/groups.getById?v=5.199&group_id=" + got["VK_GROUP_ID"] + "&access_token=" + url.QueryEscape(got["VK_TOKEN"]),
			want: got["VK_GROUP_ID"],
		},
		"tracker": {
			url: got["TRACKER_API_URL"] + "/v3/queues/BIL/localFields", token: got["TRACKER_TOKEN"], org: got["TRACKER_ORG_ID"], want: "supportRating",
		},
	} {
		r, err := http.NewRequestWithContext(b.ctx, http.MethodGet, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.token != "" {
			r.Header.Set("Authorization", "OAuth "+c.token)
			r.Header.Set("X-Org-ID", c.org)
		}
		if a := b.send(r); a.status != http.StatusOK || !strings.Contains(string(a.body), c.want) {
			t.Errorf("%s: got %d %s, want %s in it", name, a.status, a.body, c.want)
		}
	}
}

func TestServers_LeftOut(t *testing.T) {
	t.Parallel()
	r, err := sandbox.Servers(sandbox.ServersConfig{Telegram: sandbox.Off, VK: sandbox.Off, Tracker: sandbox.Off})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	if c := r.Config(); c.Telegram != nil || c.VK != nil || c.Tracker != nil || len(r.Variables()) != 0 {
		t.Errorf("got %+v, %v, want nothing", c, r.Variables())
	}
}

func TestServers_AddressInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if r, err := sandbox.Servers(sandbox.ServersConfig{VK: l.Addr().String()}); err == nil || !strings.Contains(err.Error(), "listen for vk") {
		t.Errorf("got %v, %v, want an error that names VK", r, err)
	}
}
