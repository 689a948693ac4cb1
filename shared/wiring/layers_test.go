package wiring_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "supportbot/"

// layers names the layer of each package; of several entries the longest that is
// the package or above it counts. A new package has to be put somewhere.
var layers = map[string]string{
	"migrations": "ground", "shared/env": "ground", "shared/obs": "ground",

	// What the platform is about, and the ports: value types, rules and small
	// interfaces. Nothing here knows a vendor's library.
	"shared/analytics": "domain", "shared/broadcast": "domain", "shared/catalogue": "domain", "shared/dialog": "domain", "shared/gauge": "domain", "shared/job": "domain", "shared/markup": "domain",
	"shared/messenger": "domain", "shared/pace": "domain", "shared/person": "domain", "shared/phrase": "domain",
	"shared/queue": "domain", "shared/ticket": "domain", "shared/tracker": "domain", "shared/ycf": "domain",

	"shared/messenger/telegram": "adapter", "shared/messenger/vk": "adapter", "shared/tracker/v3": "adapter",
	"shared/clickhouse": "adapter", "shared/postgres": "adapter", "shared/redisdb": "adapter",
	"shared/queue/ymq": "adapter", "shared/queue/memqueue": "adapter", "shared/queue/trigger": "adapter",

	"shared/access": "use case", "shared/alarm": "use case", "shared/analytics/loader": "use case", "shared/broadcasting": "use case", "shared/console": "use case",
	"shared/conversation": "use case", "shared/delivery": "use case", "shared/metric": "use case", "shared/news": "use case", "shared/notification": "use case",
	"shared/privacy": "use case", "shared/reconcile": "use case", "shared/ticketing": "use case",

	"shared/messenger/all": "wiring", "shared/wiring": "wiring",

	"functions": "function", "functions/local": "local",

	"shared/backend": "test", "shared/clickhouse/clickhousetest": "test", "shared/browsertest": "test", "shared/sandbox": "test", "shared/spec": "test",
	"shared/messenger/messengertest": "test", "shared/queue/queuetest": "test", "shared/wiring/wiringtest": "test",
}

// below says which layers a layer may import, besides itself where it is named.
var below = map[string][]string{
	"ground":   {"ground"},
	"domain":   {"ground", "domain"},
	"adapter":  {"ground", "domain"},
	"use case": {"ground", "domain", "use case"},
	"wiring":   {"ground", "domain", "adapter", "use case", "wiring"},
	"function": {"ground", "domain", "adapter", "use case", "wiring"},
	"local":    {"ground", "domain", "adapter", "use case", "wiring", "function", "local", "test"},
	"test":     {"ground", "domain", "adapter", "use case", "wiring", "test"},
}

// foreign are modules that only some functions may link, by the module's path.
var foreign = map[string][]string{
	"github.com/SevereCloud/vksdk/v2":                    {"vk-webhook", "ticket-worker", "tracker-worker", "reconciler", "notification-api", "notification-worker"},
	"github.com/go-telegram-bot-api/telegram-bot-api/v5": {"telegram-webhook", "ticket-worker", "tracker-worker", "reconciler", "notification-api", "notification-worker"},
	"github.com/pressly/goose/v3":                        {"migrate"},
}

// undeployed is never linked into a function: what only tests need.
var undeployed = []string{
	"testing", "net/http/httptest", "github.com/google/go-cmp", "go.uber.org/goleak", "github.com/alicebob/miniredis",
	"github.com/santhosh-tekuri/jsonschema", "github.com/ClickHouse",
}

type listed struct {
	ImportPath string
	Name       string
	Imports    []string
	Deps       []string
}

// list asks go for every package of the module.
func list(t *testing.T) map[string]listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Imports,Deps", "./...")
	cmd.Dir = "../.."
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problems.String())
	}
	all := map[string]listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if ours := strings.TrimPrefix(p.ImportPath, module); !strings.HasPrefix(ours, ".") && !strings.HasPrefix(ours, "testdata") {
			all[ours] = p
		}
	}
}

func layerOf(path string) string {
	for at := path; at != ""; {
		if l, ok := layers[at]; ok {
			return l
		}
		cut := max(strings.LastIndexByte(at, '/'), 0)
		at = at[:cut]
	}
	return ""
}

func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func TestLayers(t *testing.T) {
	t.Parallel()
	all := list(t)
	if len(all) < 30 {
		t.Fatalf("go list gives %d packages", len(all))
	}
	for path, p := range all {
		layer := layerOf(path)
		if layer == "" {
			t.Errorf("%s has no layer: put it into one", path)
			continue
		}
		for _, i := range p.Imports {
			to, ours := strings.CutPrefix(i, module)
			if ours && !allowed(path, to) {
				t.Errorf("%s (%s) imports %s (%s)", path, layer, to, layerOf(to))
			}
		}
	}
}

// allowed: down by the table, and into one's own folder: the parts of an adapter or
// of a function.
func allowed(from, to string) bool {
	return slices.Contains(below[layerOf(from)], layerOf(to)) || layerOf(from) == layerOf(to) && within(to, from)
}

func TestDeployed_LinkWhatTheyMay(t *testing.T) {
	t.Parallel()
	deployed := 0
	for path, p := range list(t) {
		name, is := strings.CutPrefix(path, "functions/")
		if !is || p.Name != "main" || strings.Contains(name, "/") || name == "local" {
			continue
		}
		deployed++
		for _, d := range p.Deps {
			ours, is := strings.CutPrefix(d, module)
			if is && (layerOf(ours) == "test" || layerOf(ours) == "local") {
				t.Errorf("%s links %s", name, ours)
			}
			for _, u := range undeployed {
				if within(d, u) {
					t.Errorf("%s links %s", name, d)
				}
			}
			for root, may := range foreign {
				if within(d, root) && !slices.Contains(may, name) {
					t.Errorf("%s links %s", name, d)
				}
			}
		}
	}
	if deployed < 7 || deployed > 10 {
		t.Errorf("%d deployed functions, want 7 to 10, the cloud's quota", deployed)
	}
}

// The table itself: no layer reaches up.
func TestLayers_TableGoesDown(t *testing.T) {
	t.Parallel()
	order := []string{"ground", "domain", "adapter", "use case", "wiring", "function", "test", "local"}
	for layer, may := range below {
		for _, to := range may {
			if slices.Index(order, to) > slices.Index(order, layer) {
				t.Errorf("%s may import %s, which is above it", layer, to)
			}
		}
	}
	for _, pair := range [][2]string{{"use case", "adapter"}, {"adapter", "use case"}, {"function", "function"}, {"domain", "adapter"}} {
		if slices.Contains(below[pair[0]], pair[1]) {
			t.Errorf("%s may import %s", pair[0], pair[1])
		}
	}
	if allowed("shared/messenger/vk", "shared/messenger/telegram") || allowed("functions/vk-webhook/wire", "functions/telegram-webhook/wire") || !allowed("functions/vk-webhook", "functions/vk-webhook/wire") {
		t.Error("functions or adapters import each other, or not their own wiring")
	}
}
