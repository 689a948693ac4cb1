package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"supportbot/shared/env"
)

// probeTime bounds a call of the gateway: the first one of a function that has not
// run for a while takes its time.
const probeTime = 30 * time.Second

// gateway is both entries of the platform, as whoever calls them sees them.
type gateway struct {
	address string // of the webhooks
	console string // of the console and the API; "": not told
	client  *http.Client
	hooks   []hook
}

// hook is a webhook and how a call of its service looks.
type hook struct {
	path    string
	secrets []env.Secret
	// call makes a call that concerns nobody; secret may be "".
	call func(secret string) (header http.Header, body string)
	// taken is the status that says that the call was let in, answer the body that
	// has to come with it; "": any.
	taken  int
	answer string
	// variable holds the secrets.
	variable string
}

func (g *gateway) name() string { return "Gateway" }

func (g *gateway) settings(context.Context) ([]Setting, error) { return nil, nil }

// endpoint is where a service has to call.
func (g *gateway) endpoint(h hook) string { return g.address + h.path }

// stay follows no redirect: the services that call do not either, and a secret is for
// the gateway alone.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// accepts is the error of a platform that does not take calls with the first of the
// secrets: a service that is told of it would call in vain. Nor does it do when calls
// without it are taken: somebody who answers 200 to everybody is not the platform, and
// what a service brings there is lost.
func (g *gateway) accepts(ctx context.Context, h hook) error {
	f := g.closed(ctx, h)
	if f.Level != Failure {
		f = g.probe(ctx, h, 0)
	}
	if f.Level == Failure {
		return errors.New("the platform does not take it yet, so it was left as it was: " + f.What + ". " + f.Advice)
	}
	return nil
}

// check calls every path as its service would, without a secret and, if that is
// refused, with each.
func (g *gateway) check(ctx context.Context) []Finding {
	var found []Finding
	for _, h := range g.hooks {
		closed := g.closed(ctx, h)
		if found = append(found, closed); closed.Level == Failure {
			continue
		}
		for i := range h.secrets {
			found = append(found, g.probe(ctx, h, i))
		}
	}
	if g.console == "" {
		return append(found, Finding{Warning, "the console and the API were not looked at", "CONSOLE=https://... names their gateway; terraform output prints it."})
	}
	return append(found, g.reaches(ctx, "/v1/broadcasts", http.StatusUnauthorized, "asks for a key"), g.reaches(ctx, "/console", http.StatusOK, "shows the page"))
}

// closed looks whether a call without a secret is refused.
func (g *gateway) closed(ctx context.Context, h hook) Finding {
	status, _, err := g.post(ctx, h, "")
	switch {
	case err != nil:
		return g.silent(h.path, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fine("%s refuses calls without the secret", h.path)
	case status == h.taken || status < http.StatusMultipleChoices:
		return Finding{
			Failure, fmt.Sprintf("%s answers a call without the secret with %d", h.path, status),
			"Nobody may be let in without it: compare the address with that of terraform output, it may be another one's.",
		}
	}
	return g.strange(h.path, "a call without the secret", status)
}

// probe looks whether a call with a secret is let in.
func (g *gateway) probe(ctx context.Context, h hook, i int) Finding {
	status, body, err := g.post(ctx, h, h.secrets[i].Reveal())
	which := "the secret"
	if len(h.secrets) > 1 {
		which = fmt.Sprintf("secret %d of %d", i+1, len(h.secrets))
	}
	switch {
	case err != nil:
		return g.silent(h.path, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return Finding{
			Failure, fmt.Sprintf("%s refuses %s of %s", h.path, which, h.variable),
			h.variable + " here and the one of the function differ: set the same in terraform's variables and apply.",
		}
	case status == h.taken && h.answer != "" && strings.TrimSpace(body) != h.answer:
		return Finding{
			Failure, h.path + " answers another confirmation than VK_CONFIRMATION says",
			"VK_CONFIRMATION here and that of the function differ: set the same in terraform's variables and apply.",
		}
	case status == h.taken:
		return fine("%s takes %s", h.path, which)
	}
	return g.strange(h.path, "a call with "+which, status)
}

// reaches looks at a path of the other gateway.
func (g *gateway) reaches(ctx context.Context, path string, want int, how string) Finding {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.console+path, nil)
	if err != nil {
		return g.silent(path, err)
	}
	status, _, err := g.do(r)
	switch {
	case err != nil:
		return g.silent(path, err)
	case status == want:
		return fine("%s answers and %s", path, how)
	}
	return g.strange(path, "a call without a key", status)
}

func (g *gateway) silent(path string, err error) Finding {
	return Finding{Failure, path + " does not answer: " + bare(err).Error(), "Compare the address with that of terraform output; look at the gateway in the cloud's console."}
}

// strange tells what a status that was not expected means (API Gateway and Cloud
// Functions, "Troubleshooting").
func (g *gateway) strange(path, what string, status int) Finding {
	advice := map[int]string{
		http.StatusNotFound:           "The gateway has no such path: terraform apply makes it, or the address is another one's.",
		http.StatusTooManyRequests:    "The quota of calls at the same time is used up: raise serverless.request.count.",
		http.StatusBadGateway:         "The function broke: its log says why, most often a variable or a secret that is missing.",
		http.StatusServiceUnavailable: "The function could not be put together or cannot reach a database: its log says which.",
		http.StatusGatewayTimeout:     "The function did not answer in time: its log says what it waited for.",
	}[status]
	if advice == "" {
		advice = "The log of the function says why."
	}
	return Finding{Failure, fmt.Sprintf("%s answers %s with %d", path, what, status), advice}
}

func (g *gateway) post(ctx context.Context, h hook, secret string) (status int, body string, err error) {
	header, text := h.call(secret)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.endpoint(h), strings.NewReader(text))
	if err != nil {
		return 0, "", err
	}
	r.Header = header
	r.Header.Set("Content-Type", "application/json")
	return g.do(r)
}

func (g *gateway) do(r *http.Request) (status int, body string, err error) {
	res, err := g.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	return res.StatusCode, string(raw), err
}

// bare is an error of the HTTP client without the address, which may hold a token.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
