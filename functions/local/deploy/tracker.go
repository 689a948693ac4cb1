package deploy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"supportbot/shared/catalogue"
	"supportbot/shared/env"
	"supportbot/shared/news"
	"supportbot/shared/tracker"
	v3 "supportbot/shared/tracker/v3"
)

// trackerQueues are the queues that tickets come to.
type trackerQueues struct {
	robot   *v3.Client // as the functions ask
	owner   *v3.Client // who may change the queues
	me      tracker.User
	secret  env.Secret // that triggers are told
	queues  []string
	words   *catalogue.Catalogue
	gateway *gateway
	hook    hook
	found   map[string]trigger // ours, by queue
}

func (p *parts) tracker() (service, error) {
	cfg := v3.ConfigFrom(p.vars)
	secrets := p.vars.RequiredSecrets("TRACKER_WEBHOOK_SECRET")
	if cfg.Token.Empty() || cfg.Queue == "" || cfg.OrgID+cfg.CloudOrgID == "" || len(secrets) == 0 {
		return nil, nil // which the reader tells
	}
	words, err := catalogue.Load(catalogue.ConfigFrom(p.vars))
	if err != nil {
		return nil, err
	}
	cfg.Transport = p.transport
	t := &trackerQueues{secret: secrets[0], queues: words.Queues(), words: words, gateway: p.gateway, found: map[string]trigger{}}
	if t.robot, err = v3.New(cfg); err != nil {
		return nil, err
	}
	t.owner = t.robot
	if token := p.vars.String("TRACKER_OWNER_TOKEN", ""); token != "" {
		cfg.Token = env.NewSecret(token)
		if t.owner, err = v3.New(cfg); err != nil {
			return nil, err
		}
	}
	t.hook = hook{
		path: "/tracker", secrets: secrets, variable: "TRACKER_WEBHOOK_SECRET", call: trackerCall, taken: http.StatusBadRequest,
	}
	p.gateway.hooks = append(p.gateway.hooks, t.hook)
	return t, nil
}

// trackerCall names no issue: whoever is let in is told that this is no call of a
// trigger (400).
func trackerCall(secret string) (http.Header, string) {
	h := http.Header{}
	if secret != "" {
		h.Set(news.SecretHeader, secret)
	}
	return h, `{}`
}

func (t *trackerQueues) name() string { return "Tracker" }

// settings implements service.
func (t *trackerQueues) settings(ctx context.Context) (all []Setting, err error) {
	if t.me, err = t.robot.Myself(ctx); err != nil {
		if tracker.KindOf(err) == tracker.Forbidden {
			return nil, errors.New("Tracker does not accept TRACKER_TOKEN for this organisation: " + err.Error())
		}
		return nil, err
	}
	for _, queue := range t.queues {
		for _, read := range []func(context.Context, string) ([]Setting, error){t.access, t.fields, t.trigger, t.statuses} {
			some, err := read(ctx, queue)
			switch tracker.KindOf(err) {
			case tracker.NotFound:
				return nil, fmt.Errorf("queue %s of the catalogue is not in Tracker, or the robot may not see it: %w", queue, err)
			case tracker.Forbidden:
				return nil, fmt.Errorf("queue %s: only its owner may look at it as connect does: make the robot its owner for a while, or give a token of the owner's as TRACKER_OWNER_TOKEN: %w", queue, err)
			}
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return all, nil
}

// access is what the robot may do in a queue, and what it should not be.
func (t *trackerQueues) access(ctx context.Context, queue string) ([]Setting, error) {
	var info struct {
		Team []reference `json:"teamUsers"`
	}
	if err := read(ctx, t.robot, "get queue", &info, "queues", queue+"?expand=team"); err != nil {
		return nil, err
	}
	rights := Setting{
		Name: "rights of " + t.me.Login + " in " + queue, Level: Warning, Want: list([]string{"CREATE", "READ", "WRITE"}),
		Advice: "Give the robot these rights in the queue's settings, Access.",
	}
	rights.Now = t.rights(ctx, queue)
	team := Setting{
		Name: "team of " + queue, Level: Warning, Now: "without the robot", Want: "without the robot",
		Advice: "Take the robot out of the queue's team and leave it its rights: to SLA rules its comments, which are the customers', are the team's answers.",
	}
	if slices.ContainsFunc(info.Team, func(r reference) bool { return t.me.Is(r.id) }) {
		team.Now = "with the robot"
	}
	return []Setting{rights, team}, nil
}

// rights are those of the robot in a queue.
func (t *trackerQueues) rights(ctx context.Context, queue string) string {
	var got struct {
		Permissions map[string]any `json:"permissions"`
	}
	if err := read(ctx, t.owner, "get rights", &got, "queues", queue, "permissions", "users", t.me.ID); err != nil {
		return "not told (" + err.Error() + ")"
	}
	var has []string
	for _, right := range []string{"CREATE", "READ", "WRITE"} {
		if got.Permissions[right] != nil {
			has = append(has, right)
		}
	}
	return list(has)
}

// statuses are those of the queue's workflows, which customers hear of.
func (t *trackerQueues) statuses(ctx context.Context, queue string) ([]Setting, error) {
	s := Setting{
		Name: "statuses of " + queue, Level: Warning, Want: "all with words in the catalogue",
		Advice: "Customers are shown Tracker's own names of them, and one without a type counts as open: CATALOGUE says otherwise (form: shared/catalogue).",
	}
	silent, err := t.silent(ctx, queue)
	switch {
	case err != nil:
		s.Now = "not told (" + err.Error() + ")"
	case len(silent) > 0:
		s.Now = "without words: " + list(silent)
	default:
		s.Now = s.Want
	}
	return []Setting{s}, nil
}

// silent lists the statuses that the catalogue has no words for.
func (t *trackerQueues) silent(ctx context.Context, queue string) (silent []string, err error) {
	var workflows map[string]any
	if err := read(ctx, t.owner, "list workflows", &workflows, "queues", queue, "workflows"); err != nil {
		return nil, err
	}
	for id := range workflows {
		var w struct {
			Steps []struct {
				Status reference `json:"status"`
			} `json:"steps"`
		}
		if err := read(ctx, t.owner, "get workflow", &w, "workflows", id); err != nil {
			return nil, err
		}
		for _, step := range w.Steps {
			if _, known := t.words.Statuses[step.Status.key]; !known && step.Status.key != "" && !slices.Contains(silent, step.Status.key) {
				silent = append(silent, step.Status.key)
			}
		}
	}
	return silent, nil
}
