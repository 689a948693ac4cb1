package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"supportbot/functions/local/deploy"
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
	body, err := json.Marshal(deploy.Trigger(robot, endpoint, secret))
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
