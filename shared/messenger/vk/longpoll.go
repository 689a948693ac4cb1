package vk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/SevereCloud/vksdk/v2/api"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// pollWait is how long VK keeps a poll open, in seconds.
const pollWait = 25

// Poll asks VK for events instead of being called (Bots Long Poll API): for a
// local run without a public address. Each event goes to handler as the call
// that the Callback API would have made, and comes again until handler accepts
// it. Poll ends with ctx, or with an error of the first call to the API.
func (b *Bot) Poll(ctx context.Context, handler http.Handler) error {
	if len(b.secrets) == 0 {
		return invalid(errors.New("poll: there is no callback secret"))
	}
	if err := b.enablePolling(ctx); err != nil {
		return err
	}
	var at poller
	for ctx.Err() == nil {
		updates, err := b.poll(ctx, &at)
		if err != nil {
			b.log.WarnContext(ctx, "VK gives no events", obs.Messenger, messenger.VK, obs.Error, err)
			pause(ctx)
			continue
		}
		for _, update := range updates {
			for !b.hand(ctx, handler, update) && ctx.Err() == nil {
				pause(ctx)
			}
		}
	}
	return ctx.Err()
}

// poller is a place in the queue of events.
type poller struct {
	Server string `json:"server"`
	Key    string `json:"key"`
	TS     string `json:"ts"`
}

func (b *Bot) enablePolling(ctx context.Context) error {
	params := api.Params{"group_id": b.group, "enabled": true, "api_version": apiVersion}
	for _, event := range []string{"message_new", "message_edit", "message_event", "message_allow", "message_deny"} {
		params[event] = true
	}
	var done json.RawMessage
	return harmless(b.call(ctx, "groups.setLongPollSettings", params, &done))
}

// poll gives the next events. Of what VK can say instead, an outdated place goes
// on at the one that it names, and an expired key is asked for again.
func (b *Bot) poll(ctx context.Context, at *poller) ([]json.RawMessage, error) {
	if at.Key == "" {
		var fresh poller
		if err := b.call(ctx, "groups.getLongPollServer", api.Params{"group_id": b.group}, &fresh); err != nil {
			return nil, err
		}
		at.Server, at.Key = fresh.Server, fresh.Key
		if at.TS == "" {
			at.TS = fresh.TS
		}
	}
	var answer struct {
		TS      json.RawMessage   `json:"ts"` // a text; a number in some errors
		Updates []json.RawMessage `json:"updates"`
		Failed  int               `json:"failed"`
	}
	if err := b.check(ctx, *at, &answer); err != nil {
		return nil, err
	}
	switch answer.Failed {
	case 0, 1:
		at.TS = string(unquoted(answer.TS))
	case 2:
		at.Key = ""
	default:
		*at = poller{}
	}
	return answer.Updates, nil
}

func (b *Bot) check(ctx context.Context, at poller, answer any) error {
	query := url.Values{"act": {"a_check"}, "key": {at.Key}, "ts": {at.TS}, "wait": {fmt.Sprint(pollWait)}}
	ctx, cancel := context.WithTimeout(ctx, (pollWait+10)*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.Server+"?"+query.Encode(), nil)
	if err != nil {
		return temporary("long poll: VK named no server")
	}
	resp, err := b.files.Do(r)
	if err != nil {
		return &messenger.Error{Kind: messenger.Temporary, Err: fmt.Errorf("long poll: %w", withoutURL(err))}
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(io.LimitReader(resp.Body, answerMost)).Decode(answer); err != nil {
		return temporary("long poll: answer cannot be read")
	}
	return nil
}

// hand gives an event to the webhook's handler as VK would have posted it.
func (b *Bot) hand(ctx context.Context, handler http.Handler, update json.RawMessage) bool {
	var event map[string]json.RawMessage
	secret, err := json.Marshal(b.secrets[0].Reveal())
	if err = errors.Join(err, json.Unmarshal(update, &event)); err != nil || event == nil {
		return true // no event: nothing would mend it
	}
	event["secret"] = secret
	body, err := json.Marshal(event)
	if err != nil {
		return true
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/vk", bytes.NewReader(body))
	if err != nil {
		return true
	}
	w := &verdict{header: http.Header{}}
	handler.ServeHTTP(w, r)
	return w.body.String() == "ok"
}

// verdict keeps what a handler answered.
type verdict struct {
	header http.Header
	body   bytes.Buffer
}

func (v *verdict) Header() http.Header         { return v.header }
func (v *verdict) Write(p []byte) (int, error) { return v.body.Write(p) }
func (v *verdict) WriteHeader(int)             {}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}
