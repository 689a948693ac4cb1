package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/sandbox/vk"
	port "supportbot/shared/tracker"
)

// outside is the world around the measured process, in the process that measures: the
// strict stand-ins and the customers on their phones. Each update goes the stand-in's
// own way, so it waits for the one before it of the same chat.
type outside struct {
	telegram *telegram.Server
	vk       *vk.Server
	tracker  *tracker.Server
	calls    struct{ telegram, vk fault.Log }
	servers  []*httptest.Server
	vars     map[string]string
	vkHook   int64 // VK's callback server; 0: none yet
	line     *line
}

const (
	secret        = "secret"
	telegramBot   = "1099511627777"
	telegramToken = telegramBot + ":token"
	vkToken       = "token"
	vkGroup       = 209
)

// newOutside starts the stand-ins, with the services' own limits or with none.
func newOutside(s *stage, o options, limited bool) *outside {
	w := &outside{line: &line{next: &http.Transport{MaxIdleConnsPerHost: 256}, waiting: map[int64]chan delivered{}}}
	none := 0
	if !limited {
		none = -1
	}
	client := &http.Client{Transport: w.line}
	w.telegram = telegram.New(telegram.Config{Token: telegramToken, Client: client, PerSecond: none, Calls: &w.calls.telegram})
	w.vk = vk.New(vk.Config{
		Token: vkToken, GroupID: vkGroup, Secret: secret, Confirmation: "confirm", Client: client,
		Connections: 100, PerSecond: none, Calls: &w.calls.vk,
	})
	var fields []string
	for _, f := range port.Fields {
		fields = append(fields, string(f))
	}
	w.tracker = tracker.New(tracker.Config{
		Token: "token", OrgID: "77", Queues: []tracker.Queue{tracker.DefaultQueue("SUP", fields...)},
	})
	connections := strconv.Itoa(o.connections)
	w.vars = map[string]string{
		"DATABASE_URL": s.address("measured"), "DATABASE_MAX_CONNS": connections,
		"REDIS_URL": s.redis.URL(), "REDIS_POOL": connections, "REDIS_TIMEOUT": "5s",
		"TELEGRAM_TOKEN": telegramToken, "TELEGRAM_WEBHOOK_SECRET": secret, "TELEGRAM_API_URL": w.serve(w.telegram),
		"VK_TOKEN": vkToken, "VK_GROUP_ID": strconv.Itoa(vkGroup), "VK_SECRET": secret, "VK_CONFIRMATION": "confirm", "VK_API_URL": w.serve(w.vk),
		"TRACKER_TOKEN": "token", "TRACKER_ORG_ID": "77", "TRACKER_QUEUE": "SUP", "TRACKER_WEBHOOK_SECRET": secret,
		"TRACKER_API_URL": w.serve(w.tracker), "TRACKER_RATE_PER_SECOND": "1000",
	}
	if !limited {
		w.vars["TELEGRAM_RATE_PER_SECOND"], w.vars["VK_RATE_PER_SECOND"] = "100000", "100000"
	}
	return w
}

func (w *outside) serve(h http.Handler) string {
	server := httptest.NewServer(h)
	w.servers = append(w.servers, server)
	return server.URL
}

func (w *outside) close() {
	w.telegram.Close()
	w.vk.Close()
	w.tracker.Close()
	for _, s := range w.servers {
		s.Close()
	}
}

// connect tells the messengers where the platform is, as an operator does: as many
// connections as they make, and of VK's events those that the platform needs. What was
// connected before is no more.
func (w *outside) connect(ctx context.Context, base string) error {
	err := post(ctx, w.vars["TELEGRAM_API_URL"]+"/bot"+telegramToken+"/setWebhook", url.Values{
		"url": {base + "/telegram"}, "secret_token": {secret}, "max_connections": {"100"},
	})
	if err == nil && w.vkHook != 0 {
		err = w.group(ctx, "groups.deleteCallbackServer", nil)
	}
	if err != nil {
		return fmt.Errorf("set webhook: %w", err)
	}
	w.vkHook = w.vk.Connect(base + "/vk")
	if err := w.group(ctx, "groups.setCallbackSettings", url.Values{"message_reply": {"0"}}); err != nil {
		return fmt.Errorf("set callback settings: %w", err)
	}
	return nil
}

// group calls a method of VK's about the callback server.
func (w *outside) group(ctx context.Context, method string, form url.Values) error {
	all := url.Values{
		"access_token": {vkToken}, "v": {vk.Version}, "group_id": {strconv.Itoa(vkGroup)}, "server_id": {strconv.FormatInt(w.vkHook, 10)},
	}
	for name, values := range form {
		all[name] = values
	}
	return post(ctx, w.vars["VK_API_URL"]+"/method/"+method, all)
}

func post(ctx context.Context, address string, form url.Values) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader([]byte(form.Encode())))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || bytes.Contains(body, []byte(`"error`))) {
		err = fmt.Errorf("%s: %s", res.Status, body)
	}
	return err
}
