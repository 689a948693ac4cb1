package host_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	host "supportbot/.ci/host"
	"supportbot/.ci/package/archive"
)

// configuration has a value for every variable that functions require. Every value
// is a canary, and nothing is called with it.
var configuration = map[string]string{
	"DATABASE_URL": "postgres://CANARY:CANARY@127.0.0.1:1/CANARY", "REDIS_URL": "redis://CANARY:CANARY@127.0.0.1:1/0",
	"CLICKHOUSE_URL":   "http://CANARY:CANARY@127.0.0.1:1/CANARY",
	"QUEUE_ACCESS_KEY": "CANARY", "QUEUE_SECRET_KEY": "CANARY",
	"QUEUE_URL_TICKETS": "http://127.0.0.1:1/CANARY", "QUEUE_URL_DELIVERIES": "http://127.0.0.1:1/CANARY",
	"QUEUE_URL_BROADCASTS": "http://127.0.0.1:1/CANARY",
	"TELEGRAM_TOKEN":       telegramToken, "TELEGRAM_WEBHOOK_SECRET": secret,
	"VK_TOKEN": vkToken, "VK_GROUP_ID": "209", "VK_SECRET": secret, "VK_CONFIRMATION": "CANARY",
	"TRACKER_TOKEN": trackerToken, "TRACKER_ORG_ID": "CANARY", "TRACKER_QUEUE": "CANARY", "TRACKER_WEBHOOK_SECRET": secret,
}

// required are the variables of each function. Those of the messengers are not
// among the workers': a messenger without a token is left out.
var (
	core     = []string{"DATABASE_URL", "QUEUE_ACCESS_KEY", "QUEUE_SECRET_KEY", "QUEUE_URL_TICKETS", "QUEUE_URL_DELIVERIES", "QUEUE_URL_BROADCASTS"}
	bot      = append([]string{"REDIS_URL", "TRACKER_TOKEN", "TRACKER_ORG_ID", "TRACKER_QUEUE"}, core...)
	required = map[string][]string{
		"telegram-webhook":    append([]string{"TELEGRAM_TOKEN", "TELEGRAM_WEBHOOK_SECRET"}, bot...),
		"vk-webhook":          append([]string{"VK_TOKEN", "VK_GROUP_ID", "VK_SECRET", "VK_CONFIRMATION"}, bot...),
		"ticket-worker":       bot,
		"tracker-worker":      bot,
		"notification-api":    bot,
		"notification-worker": bot,
		"reconciler":          bot,
		"tracker-handler":     append([]string{"TRACKER_WEBHOOK_SECRET"}, core...),
		"analytics-loader":    {"DATABASE_URL", "REDIS_URL", "CLICKHOUSE_URL", "TRACKER_TOKEN", "TRACKER_ORG_ID", "TRACKER_QUEUE"},
		"migrate":             {"DATABASE_URL"},
	}
	overHTTP = []string{"telegram-webhook", "vk-webhook", "tracker-handler", "notification-api"}
)

// A function without its configuration says which variables it misses, all at
// once, and the value of none: over HTTP it answers 503, a trigger's call is an error.
func TestFunctions_MissingVariables(t *testing.T) {
	t.Parallel()
	names, err := archive.Functions(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			variables := required[name]
			if len(variables) == 0 {
				t.Fatalf("functions/%s is not in required: name the variables that it cannot do without", name)
			}
			t.Run("all", func(t *testing.T) {
				t.Parallel()
				env := maps.Clone(configuration)
				for _, v := range variables {
					delete(env, v)
				}
				refuses(t, name, env, variables...)
			})
			t.Run("last", func(t *testing.T) {
				t.Parallel()
				last := variables[len(variables)-1]
				env := maps.Clone(configuration)
				delete(env, last)
				refuses(t, name, env, last)
			})
		})
	}
}

func refuses(t *testing.T, name string, env map[string]string, variables ...string) {
	t.Helper()
	p := function(t, name, env)
	said := ""
	if slices.Contains(overHTTP, name) {
		res, err := http.Post(serve(t, p)+"/", "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
			t.Errorf("got %d, want 503 with Retry-After", res.StatusCode)
		}
	} else {
		said = triggered(t, p)
	}
	p.Close() // its log is whole then
	said += p.Log.String()
	for _, v := range variables {
		if !strings.Contains(said, v+" is not set") {
			t.Errorf("%s is not named: %s", v, said)
		}
	}
	if strings.Contains(said, "CANARY") {
		t.Errorf("a value is shown: %s", said)
	}
}

// triggered gives the error of a trigger's call.
func triggered(t *testing.T, p *host.Process) string {
	t.Helper()
	a, err := p.Call([]byte(`{"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	if a.Error == nil {
		t.Error("got no error, the trigger would not repeat the call")
		return ""
	}
	return a.Error.Error()
}
