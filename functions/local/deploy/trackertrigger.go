package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"supportbot/shared/news"
	v3 "supportbot/shared/tracker/v3"
)

// What the trigger is and says (Tracker API, "Create a trigger"): ids only, since a
// variable that is unknown is an empty text and a text is not escaped.
const (
	triggerName = "Support bot: news of a ticket"
	triggerBody = `{"id":"{{issue.id}}","key":"{{issue.key}}"}`
	contentType = "application/json; charset=UTF-8"
)

// trigger is one of a queue's triggers, as far as it matters here.
type trigger struct {
	ID         reference   `json:"id"`
	Name       string      `json:"name"`
	Active     bool        `json:"active"`
	Version    reference   `json:"version"`
	Conditions []condition `json:"conditions"`
	Actions    []struct {
		Type        string            `json:"type"`
		Endpoint    string            `json:"endpoint"`
		Method      string            `json:"method"`
		ContentType string            `json:"contentType"`
		Headers     map[string]string `json:"headers"`
		Body        json.RawMessage   `json:"body"`
	} `json:"actions"`
}

type condition struct {
	Type       string      `json:"type"`
	Conditions []condition `json:"conditions"`
	User       reference   `json:"user"`
	Field      reference   `json:"field"`
}

// trigger is the trigger of a queue that tells the platform of comments and of
// changes of the status that are not the robot's own.
func (t *trackerQueues) trigger(ctx context.Context, queue string) ([]Setting, error) {
	var all []trigger
	if err := read(ctx, t.owner, "list triggers", &all, "queues", queue, "triggers"); err != nil {
		return nil, err
	}
	endpoint := t.gateway.endpoint(t.hook)
	s := Setting{Name: "trigger of " + queue, Want: "calls " + endpoint + " with " + told(true)}
	s.Set = func(ctx context.Context) error { return t.setTrigger(ctx, queue) }
	delete(t.found, queue)
	ours := slices.DeleteFunc(all, func(one trigger) bool {
		return one.Name != triggerName && (len(one.Actions) == 0 || one.Actions[0].Endpoint != endpoint)
	})
	if len(ours) == 0 {
		return []Setting{s}, nil
	}
	t.found[queue] = ours[0]
	s.Now, s.Untold = t.describe(ours[0])
	settings := []Setting{s}
	if len(ours) > 1 {
		settings = append(settings, Setting{
			Name: "triggers of " + queue + " that call the platform", Level: Warning, Now: fmt.Sprint(len(ours)), Want: "1",
			Advice: "Delete all but one: each call makes the same look at the ticket.",
		})
	}
	return settings, nil
}

// describe tells a trigger in the words of Want, or what is wrong with it. untold is
// the secret, where Tracker hides it.
func (t *trackerQueues) describe(one trigger) (now, untold string) {
	var wrong []string
	if !one.Active {
		wrong = append(wrong, "is paused")
	}
	conditions := make([]string, len(one.Conditions))
	for i, c := range one.Conditions {
		conditions[i] = t.condition(c)
	}
	if !slices.Equal(conditions, []string{"Or(And(Event.comment-create, CommentAuthorNot robot), And(Event.update, FieldChangedCondition status))"}) {
		wrong = append(wrong, "has other conditions")
	}
	if len(one.Actions) != 1 {
		return strings.Join(append(wrong, "has not one action"), ", "), ""
	}
	a := one.Actions[0]
	var body string
	if json.Unmarshal(a.Body, &body) != nil {
		body = string(a.Body)
	}
	if a.Type != "Webhook" || a.Method != http.MethodPost || a.ContentType != contentType || body != triggerBody {
		wrong = append(wrong, "makes another call")
	}
	secret := told(true)
	switch given := a.Headers[news.SecretHeader]; {
	case given == t.secret.Reveal():
	case strings.Trim(given, "*•") == "" && given != "":
		untold = "its secret"
	default:
		secret = told(false)
	}
	return strings.Join(append(wrong, "calls "+a.Endpoint+" with "+secret), ", "), untold
}

// condition writes a condition in a form of our own: Tracker gives back objects where
// it was given keys.
func (t *trackerQueues) condition(c condition) string {
	parts := make([]string, len(c.Conditions))
	for i, inner := range c.Conditions {
		parts[i] = t.condition(inner)
	}
	text := c.Type
	switch {
	case len(parts) > 0:
		text += "(" + strings.Join(parts, ", ") + ")"
	case t.me.Is(c.User.id) || t.me.Is(c.User.key):
		text += " robot"
	case c.User.id != "":
		text += " another"
	case c.Field.key != "":
		text += " " + c.Field.key
	case c.Field.id != "":
		text += " " + c.Field.id
	}
	return text
}

// Trigger is the body of a call that makes the trigger of a queue (Tracker API, "Create
// a trigger"): it calls endpoint with the secret about comments that are not the
// robot's own, who is named by id or login, and about changes of the status.
func Trigger(robot, endpoint, secret string) map[string]any {
	and := func(conditions ...map[string]string) map[string]any {
		return map[string]any{"type": "And", "conditions": conditions}
	}
	return map[string]any{
		"name": triggerName, "active": true,
		"conditions": []any{map[string]any{"type": "Or", "conditions": []any{
			and(map[string]string{"type": "Event.comment-create"}, map[string]string{"type": "CommentAuthorNot", "user": robot}),
			and(map[string]string{"type": "Event.update"}, map[string]string{"type": "FieldChangedCondition", "field": "status"}),
		}}},
		"actions": []any{map[string]any{
			"type": "Webhook", "endpoint": endpoint, "method": http.MethodPost, "contentType": contentType,
			"headers": map[string]string{news.SecretHeader: secret}, "authContext": map[string]string{"type": "noauth"},
			"body": triggerBody,
		}},
	}
}

// setTrigger makes the trigger, or puts ours right, after the platform has shown that
// it takes the secret.
func (t *trackerQueues) setTrigger(ctx context.Context, queue string) error {
	if err := t.gateway.accepts(ctx, t.hook); err != nil {
		return err
	}
	m := v3.Managed{
		Call: "create trigger", Method: http.MethodPost, Path: []string{"queues", queue, "triggers"},
		Body: Trigger(t.me.ID, t.gateway.endpoint(t.hook), t.secret.Reveal()),
	}
	if ours, there := t.found[queue]; there {
		m.Call, m.Method, m.Path = "change trigger", http.MethodPatch, append(m.Path, ours.ID.id)
		m.Query = url.Values{"version": {ours.Version.id}}
	}
	return t.change(ctx, m)
}

// logged is a call in the log of a trigger (Tracker API, "Get the log of webhooks").
type logged struct {
	StartTime string `json:"startTime"`
	Response  struct {
		StatusCode int    `json:"statusCode"`
		Error      string `json:"error"`
	} `json:"response"`
}

func (l logged) well() bool { return l.Response.StatusCode >= 200 && l.Response.StatusCode < 300 }

// check implements service: what became of the triggers' last calls.
func (t *trackerQueues) check(ctx context.Context) (found []Finding) {
	for _, queue := range t.queues {
		one, there := t.found[queue]
		if !there {
			continue
		}
		var log []logged
		err := read(ctx, t.owner, "read log of trigger", &log, "queues", queue, "triggers", one.ID.id, "webhooks", "log?limit=20")
		if err != nil {
			found = append(found, Finding{Warning, "the log of the trigger of " + queue + " could not be read: " + err.Error(), "Look at it in the queue's settings, Automation."})
			continue
		}
		found = append(found, calls(queue, log))
	}
	return found
}

// calls says how the calls of a trigger ended; the newest comes first.
func calls(queue string, log []logged) Finding {
	if len(log) == 0 {
		return fine("the trigger of %s has made no call yet", queue)
	}
	failed := 0
	for _, l := range log {
		if !l.well() {
			failed++
		}
	}
	if failed == 0 {
		return fine("the last %s of the trigger of %s went well", counted(len(log), "call"), queue)
	}
	i := slices.IndexFunc(log, func(l logged) bool { return !l.well() })
	f := Finding{
		Level: Warning, What: fmt.Sprintf("%d of the last %s of the trigger of %s failed; the newest at %s: %s",
			failed, counted(len(log), "call"), queue, when(log[i].StartTime), outcome(log[i])),
		Advice: "Nothing is lost, the reconciler looks at all tickets that changed. The log of tracker-handler says why.",
	}
	if i == 0 {
		f.Level = Failure
	}
	return f
}

func outcome(l logged) string {
	switch {
	case l.Response.StatusCode == http.StatusForbidden:
		return "403, the platform refuses its secret"
	case l.Response.StatusCode != 0:
		return fmt.Sprint(l.Response.StatusCode)
	}
	return "no answer"
}

func when(text string) string {
	at, err := time.Parse("2006-01-02T15:04:05.000-0700", text)
	if err != nil {
		return "an unknown time"
	}
	return at.UTC().Format(time.RFC3339)
}
