package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// serverTitle is what a callback server of ours is called: 14 characters at most.
const serverTitle = "supportbot"

// confirming is how long VK may take to ask for the confirmation.
const (
	confirming  = 30 * time.Second
	confirmTick = 500 * time.Millisecond
)

// callbackServer is one of those that VK calls.
type callbackServer struct {
	ID     int64  `json:"id"`
	Title  string `json:"title"`
	URL    string `json:"url"`
	Secret string `json:"secret_key"`
	Status string `json:"status"` // unconfigured, failed, wait, ok
}

func (c *community) servers(ctx context.Context) ([]callbackServer, error) {
	var got struct {
		Items []callbackServer `json:"items"`
	}
	err := c.ask(ctx, "groups.getCallbackServers", nil, &got)
	return got.Items, err
}

// ours is the server with our address, else the one with our title.
func (c *community) ours(all []callbackServer) (callbackServer, bool) {
	for _, mine := range []func(callbackServer) bool{
		func(s callbackServer) bool { return s.URL == c.gateway.endpoint(c.hook) },
		func(s callbackServer) bool { return s.Title == serverTitle },
	} {
		if i := slices.IndexFunc(all, mine); i >= 0 {
			return all[i], true
		}
	}
	return callbackServer{}, false
}

func (c *community) callbackServer(ctx context.Context) (Setting, error) {
	describe := func(url, secret, status string) string { return fmt.Sprintf("%s (%s; %s)", url, secret, status) }
	s := Setting{Name: "callback server", Want: describe(c.gateway.endpoint(c.hook), told(true), "ok")}
	all, err := c.servers(ctx)
	if err != nil {
		return s, err
	}
	server, there := c.ours(all)
	s.Set = func(ctx context.Context) error { return c.setServer(ctx, server, there) }
	if c.server = server.ID; there {
		s.Now = describe(server.URL, told(server.Secret == c.secret.Reveal()), server.Status)
	}
	return s, nil
}

// setServer adds our server or changes it. One that VK has given up is made anew,
// since VK asks only a new address for the confirmation; the reconciler reads the
// conversations for what was not brought meanwhile.
func (c *community) setServer(ctx context.Context, now callbackServer, there bool) error {
	if err := c.ready(ctx); err != nil {
		return err
	}
	params := map[string]any{"url": c.gateway.endpoint(c.hook), "title": serverTitle, "secret_key": c.secret.Reveal()}
	if there && now.URL == c.gateway.endpoint(c.hook) && now.Status != "ok" {
		if err := c.ask(ctx, "groups.deleteCallbackServer", map[string]any{"server_id": now.ID}, new(int)); err != nil {
			return err
		}
		there = false
	}
	if there {
		params["server_id"] = now.ID
		if err := c.ask(ctx, "groups.editCallbackServer", params, new(int)); err != nil {
			return err
		}
		return c.confirmed(ctx)
	}
	var added struct {
		ID int64 `json:"server_id"`
	}
	if err := c.ask(ctx, "groups.addCallbackServer", params, &added); err != nil {
		return err
	}
	c.server = added.ID
	if err := c.setEvents(ctx); err != nil {
		return err
	}
	return c.confirmed(ctx)
}

// ready is the error of a platform that would not confirm.
func (c *community) ready(ctx context.Context) error {
	code, err := c.code(ctx)
	if err != nil {
		return err
	}
	if !code.right() {
		return errors.New("VK would not accept the confirmation: " + code.Advice)
	}
	return c.gateway.accepts(ctx, c.hook)
}

// confirmed waits until VK has asked the server for the confirmation.
func (c *community) confirmed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, confirming)
	defer cancel()
	for {
		all, err := c.servers(ctx)
		if err != nil {
			return err
		}
		server, there := c.ours(all)
		switch {
		case !there:
			return errors.New("VK does not list the server")
		case server.Status == "ok":
			return nil
		case server.Status == "failed":
			return errors.New("VK did not get the confirmation from the server; the log of vk-webhook says what it answered")
		}
		select {
		case <-ctx.Done():
			return errors.New("VK has not asked for the confirmation yet: run make connect again in a minute")
		case <-time.After(confirmTick):
		}
	}
}
