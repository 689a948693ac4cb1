package history

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

// api calls the tracker, as one of its users and at a time that has passed.
type api struct {
	Access
	client *http.Client
	robot  string // its login, for summons
}

func newAPI(a Access) api {
	a.Reply = cmp.Or(a.Reply, "/reply")
	transport := &http.Transport{MaxIdleConnsPerHost: Connections, IdleConnTimeout: time.Minute}
	return api{Access: a, client: &http.Client{Transport: transport, Timeout: time.Minute}}
}

// do makes a call by an agent, "" is the robot. at zero: now. out may be nil.
func (a *api) do(ctx context.Context, by string, at time.Time, method, path string, body map[string]any, out any) error {
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode call: %w", err)
		}
		in = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, a.URL+"/v3/"+path, in)
	if err != nil {
		return fmt.Errorf("make call: %w", err)
	}
	token := a.Robot
	if by != "" {
		token = a.Agents[by]
	}
	r.Header.Set("Authorization", "OAuth "+token)
	r.Header.Set("X-Org-ID", a.Org)
	if !at.IsZero() {
		r.Header.Set(tracker.TimeHeader, at.UTC().Format(time.RFC3339Nano))
	}
	resp, err := a.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		return fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, said)
	}
	if out != nil {
		err = json.NewDecoder(resp.Body).Decode(out)
	}
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is used again
	return err
}

// comment is the body of a new comment.
func (a *api) comment(c Comment, t *Ticket, at time.Time) map[string]any {
	body := map[string]any{"text": a.text(c, t, at)}
	if c.Summon {
		body["summonees"] = []string{a.robot}
	}
	return body
}

// text is what a comment says, chosen by the time, marked as the platform marks it.
func (a *api) text(c Comment, t *Ticket, at time.Time) string {
	of := func(list []string) string { return list[int(at.UnixMilli()%int64(len(list)))] }
	mark := func(text, kind string) string {
		return text + "\n\n" + ticket.MarkerPrefix + kind + strconv.FormatInt(at.UnixMilli(), 36) + ")"
	}
	switch {
	case c.To == In:
		return mark("**"+t.Customer.Name+"**:\n\n"+of(questions), ticket.MarkCustomer)
	case c.To == Robot:
		return mark("Оценка клиента", ticket.MarkRobot)
	case c.To == Inside:
		return of(remarks)
	case c.Summon:
		return of(answers)
	}
	return a.Reply + " " + of(answers)
}
