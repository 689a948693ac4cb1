package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"supportbot/shared/env"
)

// quotaPage is where quotas are raised.
const quotaPage = "https://console.yandex.cloud/cloud?section=quotas"

// quota is a limit of the cloud that the platform meets (Cloud Functions, "Quotas
// and limits").
type quota struct {
	id, what string
	need     float64 // before customers come
	why      string
}

// wantedQuotas are those to look at before production. A new cloud has ten of each.
func wantedQuotas() []quota {
	return []quota{
		{"serverless.functions.count", "functions", 10, "the platform has exactly ten; a second environment in the same cloud needs twenty"},
		{"serverless.request.count", "calls at the same time in a zone", 50, "a hundred customers at once, the workers and the timers: above it the cloud answers 429"},
		{"serverless.workers.count", "instances in a zone", 20, "each function needs one at least, and an instance takes eight calls at most"},
	}
}

// quotas asks the Quota Manager, with a token of the deployer's (Quota Manager API,
// REST, QuotaLimit.Get).
type quotas struct {
	token         env.Secret
	cloud, folder string // the cloud, or a folder of it
	address       func(service string) string
	client        *http.Client
}

func (p *parts) quotas() (service, error) {
	q := &quotas{
		token: env.NewSecret(p.vars.String("YC_TOKEN", "")), cloud: p.vars.String("YC_CLOUD_ID", ""), folder: p.vars.String("YC_FOLDER_ID", ""),
		address: p.cfg.CloudAPI, client: &http.Client{Transport: p.transport, Timeout: reachTime},
	}
	if q.address == nil {
		q.address = func(service string) string { return "https://" + service + ".api.cloud.yandex.net" }
	}
	return q, nil
}

func (q *quotas) name() string { return "Quotas" }

func (q *quotas) settings(context.Context) ([]Setting, error) { return nil, nil }

// check implements service. What cannot be asked is told, so that a person looks.
func (q *quotas) check(ctx context.Context) (found []Finding) {
	unknown := q.unaskable()
	if unknown == "" && q.cloud == "" {
		var folder struct {
			CloudID string `json:"cloudId"`
		}
		if err := q.get(ctx, "resource-manager", "/resource-manager/v1/folders/"+url.PathEscape(q.folder), &folder); err != nil {
			unknown = "the cloud of YC_FOLDER_ID is not known: " + err.Error()
		}
		q.cloud = folder.CloudID
	}
	for _, one := range wantedQuotas() {
		found = append(found, q.look(ctx, one, unknown))
	}
	return found
}

func (q *quotas) unaskable() string {
	switch {
	case q.token.Empty():
		return "YC_TOKEN is not set"
	case q.cloud == "" && q.folder == "":
		return "neither YC_CLOUD_ID nor YC_FOLDER_ID is set"
	}
	return ""
}

func (q *quotas) look(ctx context.Context, one quota, unknown string) Finding {
	advice := fmt.Sprintf("It has to be %.0f at least before customers come (%s): %s, Cloud Functions, %s.", one.need, one.why, quotaPage, one.id)
	var got struct {
		Limit float64 `json:"limit"`
		Usage float64 `json:"usage"`
	}
	if unknown == "" {
		query := url.Values{"resource.id": {q.cloud}, "resource.type": {"resource-manager.cloud"}}
		if err := q.get(ctx, "quota-manager", "/quota-manager/v1/quotaLimits/"+one.id+"?"+query.Encode(), &got); err != nil {
			unknown = err.Error()
		}
	}
	switch {
	case unknown != "":
		return Finding{Warning, one.what + ": the quota could not be read: " + unknown, advice}
	case got.Limit < one.need:
		return Finding{Warning, fmt.Sprintf("%s: the quota is %.0f, of which %.0f are used", one.what, got.Limit, got.Usage), advice}
	case one.id == "serverless.functions.count" && got.Limit-got.Usage < one.need:
		f := fine("%s: the quota is %.0f, of which %.0f are used", one.what, got.Limit, got.Usage)
		f.Advice = fmt.Sprintf("A second environment needs %.0f more: %s, %s.", one.need, quotaPage, one.id)
		return f
	}
	return fine("%s: the quota is %.0f, of which %.0f are used", one.what, got.Limit, got.Usage)
}

func (q *quotas) get(ctx context.Context, service, path string, out any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, q.address(service)+path, nil)
	if err != nil {
		return bare(err)
	}
	r.Header.Set("Authorization", "Bearer "+q.token.Reveal())
	res, err := q.client.Do(r)
	if err != nil {
		return bare(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", service, res.Status)
	}
	return json.NewDecoder(io.LimitReader(res.Body, 1<<16)).Decode(out)
}
