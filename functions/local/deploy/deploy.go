// Package deploy is what a deployment needs outside itself: that Telegram, VK and
// Tracker know where it is and are set up as it expects (Connect), and an examination
// of all of it from outside (Doctor).
//
// Each service lists its settings: what is, what should be, how it is set. Connect
// applies the differences, so that a second run changes nothing; Doctor tells them,
// and looks at more: whether the gateway answers, what waits in queues, what is late
// in the databases, clocks and quotas.
//
// Nothing that is printed has a secret in it.
package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"supportbot/shared/env"
)

// Setting is something outside the platform that has to be in a certain way. Texts
// are for people and hold no secrets: one that differs is "another one".
type Setting struct {
	Name      string
	Now, Want string
	// Untold is a part of it that the service does not tell, as a secret: Now says
	// nothing of it. It is set again with whatever else of the service is, or when
	// that is asked for.
	Untold string
	// Level is how bad it is when Now is not Want; Failure by default.
	Level Level
	// Advice is what a person does about it; "": runs make connect.
	Advice string
	// Set makes it as it should be; nil: only a person can.
	Set func(ctx context.Context) error
}

func (s Setting) right() bool { return s.Now == s.Want }

// Level is how bad a finding is.
type Level int

// The levels. The zero Level of a Setting counts as Failure.
const (
	Failure Level = iota
	Warning
	Fine
)

func (l Level) String() string {
	return [...]string{"FAILURE", "warning", "ok"}[l]
}

// Finding is one result of an examination.
type Finding struct {
	Level  Level
	What   string // a sentence
	Advice string // what to do; "" where all is well
}

func fine(format string, args ...any) Finding {
	return Finding{Level: Fine, What: fmt.Sprintf(format, args...)}
}

// service is something that is examined, and perhaps set up.
type service interface {
	name() string
	// settings reads what is set up there; nil where nothing is.
	settings(ctx context.Context) ([]Setting, error)
	// check looks at whatever is no setting.
	check(ctx context.Context) []Finding
}

// Config is what a Deployment is made of.
type Config struct {
	Lookup    func(name string) (string, bool) // the environment
	Out       io.Writer
	Now       func() time.Time  // nil: time.Now
	Transport http.RoundTripper // of calls over HTTP; nil: http.DefaultTransport
	// Gap is how long to wait before each call of VK, and a twentieth of the time
	// between two looks at whether something took effect; 0: 100 ms.
	Gap time.Duration
	// Reach bounds what is asked of one database, or of the platform; 0: 10 s.
	Reach time.Duration
	// CloudAPI gives the address of a service of the cloud by its name
	// ("quota-manager"); nil: those of Yandex Cloud.
	CloudAPI func(service string) string
}

// Deployment is a deployment as it is seen from outside.
type Deployment struct {
	out      io.Writer
	tick     time.Duration // between two looks at whether something took effect
	services []service     // that are connected, Telegram and the like
	others   []service     // that are only looked at
}

// New reads the environment and calls nobody. A messenger without a token is left
// out. The error names every variable that is missing.
func New(cfg Config) (*Deployment, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Gap == 0 {
		cfg.Gap = 100 * time.Millisecond
	}
	if cfg.Reach == 0 {
		cfg.Reach = reachTime
	}
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	p := &parts{cfg: cfg, vars: env.NewReaderFrom(cfg.Lookup), clocks: &clocks{now: cfg.Now}}
	p.transport = p.clocks.watch(cfg.Transport)
	return p.deployment()
}

// parts is what is shared by the services while they are made.
type parts struct {
	cfg       Config
	vars      *env.Reader
	clocks    *clocks
	transport http.RoundTripper
	gateway   *gateway
}

func (p *parts) has(name string) bool {
	v, _ := p.cfg.Lookup(name)
	return v != ""
}

func (p *parts) deployment() (*Deployment, error) {
	d := &Deployment{out: p.cfg.Out, tick: 20 * p.cfg.Gap}
	webhooks, err := address("WEBHOOKS", p.vars.String("WEBHOOKS", ""))
	problems := []error{err}
	if webhooks == "" && err == nil {
		problems = append(problems, errors.New("WEBHOOKS is not set: the address of the gateway of webhooks, which terraform output prints"))
	}
	p.gateway = &gateway{address: webhooks, client: &http.Client{Transport: p.transport, Timeout: probeTime, CheckRedirect: stay}}
	p.gateway.console, err = address("CONSOLE", p.vars.String("CONSOLE", ""))
	problems = append(problems, err)
	if !p.has("TELEGRAM_TOKEN") && !p.has("VK_TOKEN") {
		problems = append(problems, errors.New("neither TELEGRAM_TOKEN nor VK_TOKEN is set: customers need a messenger"))
	}
	for _, s := range []struct {
		token string
		open  func() (service, error)
	}{
		{"TELEGRAM_TOKEN", p.telegram}, {"VK_TOKEN", p.vk}, {"", p.tracker},
	} {
		if s.token != "" && !p.has(s.token) {
			continue
		}
		one, err := s.open()
		problems = append(problems, err)
		d.services = append(d.services, one)
	}
	d.others = []service{p.gateway}
	for _, open := range []func() (service, error){p.queues, p.stores, p.quotas} {
		one, err := open()
		problems = append(problems, err)
		d.others = append(d.others, one)
	}
	d.others = append(d.others, p.clocks)
	if err := errors.Join(append(problems, p.vars.Err())...); err != nil {
		return nil, err
	}
	return d, nil
}

// address is the address of a gateway, of which only the host counts; "" when there
// is none.
func address(variable, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return "", fmt.Errorf("%s is not an address like https://d5d....apigw.yandexcloud.net, as terraform output prints it", variable)
	}
	return u.Scheme + "://" + u.Host, nil
}

func loopback(host string) bool {
	return host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
}

// list writes a list as people read it.
func list(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(slices.Values(items)), ", ")
}

// told says whether a secret is the one that is configured.
func told(same bool) string {
	if same {
		return "the secret as configured"
	}
	return "another secret"
}
