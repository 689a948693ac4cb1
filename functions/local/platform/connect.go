package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"supportbot/shared/news"
)

// TrackerAccess says how to reach Tracker as the robot.
type TrackerAccess struct {
	URL   string // base address
	Token string // OAuth
	Org   string // X-Org-ID
}

// ConnectTracker makes the trigger of a queue that calls endpoint about comments
// and status changes that are not the robot's own.
func ConnectTracker(ctx context.Context, a TrackerAccess, queue, robot, endpoint, secret string) error {
	and := func(conditions ...map[string]string) map[string]any {
		return map[string]any{"type": "And", "conditions": conditions}
	}
	body, err := json.Marshal(map[string]any{
		"name": "Support bot: news of a ticket",
		"conditions": []any{map[string]any{"type": "Or", "conditions": []any{
			and(map[string]string{"type": "Event.comment-create"}, map[string]string{"type": "CommentAuthorNot", "user": robot}),
			and(map[string]string{"type": "Event.update"}, map[string]string{"type": "FieldChangedCondition", "field": "status"}),
		}}},
		"actions": []any{map[string]any{
			"type": "Webhook", "endpoint": endpoint, "method": http.MethodPost, "contentType": "application/json; charset=UTF-8",
			"headers": map[string]string{news.SecretHeader: secret}, "authContext": map[string]string{"type": "noauth"},
			"body": `{"id":"{{issue.id}}","key":"{{issue.key}}"}`,
		}},
	})
	if err != nil {
		return fmt.Errorf("encode trigger: %w", err)
	}
	address := a.URL + "/v3/queues/" + url.PathEscape(queue) + "/triggers"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make trigger: %w", err)
	}
	req.Header.Set("Authorization", "OAuth "+a.Token)
	req.Header.Set("X-Org-ID", a.Org)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("make trigger: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		return fmt.Errorf("make trigger: %s: %s", res.Status, text)
	}
	return nil
}
