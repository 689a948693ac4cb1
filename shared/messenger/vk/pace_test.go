package vk_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"supportbot/shared/env"
	"supportbot/shared/messenger"
	"supportbot/shared/messenger/vk"
	"supportbot/shared/sandbox/fault"
)

// turnstile counts the calls that it lets through, until it is shut.
type turnstile struct {
	mu     sync.Mutex
	passed int
	bots   []string
	shut   error
}

func (s *turnstile) wait(_ context.Context, m messenger.Name, bot string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut != nil {
		return s.shut
	}
	s.passed++
	s.bots = append(s.bots, string(m)+":"+bot)
	return nil
}

// paced makes a bot that waits before its calls.
func paced(h *harness) (*vk.Bot, *turnstile) {
	h.t.Helper()
	pace := &turnstile{}
	bot, err := vk.New(vk.Config{
		Token: env.NewSecret(token), GroupID: "223344556", Secrets: []env.Secret{env.NewSecret(secrets[0])},
		Confirmation: confirmation, APIURL: h.url, Pace: pace.wait,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return bot, pace
}

// methods gives the calls of the API since the n-th call.
func methods(h *harness, n int) (names []string) {
	for _, c := range h.calls.Since(n) {
		if strings.Contains(c.Method, ".") || c.Method == "execute" {
			names = append(names, c.Method)
		}
	}
	return names
}

// VK counts every call: each has a place, that of the caller or one of its own.
func TestPace_EveryCallHasAPlace(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	c.Write("hello")
	bot, pace := paced(h)
	sent, err := bot.Send(h.ctx, messenger.Outgoing{Chat: c.Chat(), Part: messenger.Part{Text: "old"}})
	if err != nil || pace.passed != 0 {
		t.Fatalf("a message waits %d times more than its caller, %v", pace.passed, err)
	}
	hello := messenger.Outgoing{Chat: c.Chat(), Part: messenger.Part{Text: "hello"}, Keyboard: messenger.Keyboard{{{Label: "a", Data: "a"}}}}
	bare, picture := hello, hello
	bare.Bare, picture.File = true, file("x.txt", "text/plain", []byte("hello"))
	chats := []string{c.Chat()}
	turns, since := &freely{}, time.Now().Add(-time.Hour)
	for name, tt := range map[string]struct {
		do     func() error
		refuse string // the method that refuses the keyboard
		had    int    // places that the caller has
		calls  int
	}{
		"message":              {do: func() error { _, err := bot.Send(h.ctx, hello); return err }, had: 1, calls: 1},
		"without keyboard":     {do: func() error { _, err := bot.Send(h.ctx, hello); return err }, refuse: "messages.send", had: 1, calls: 2},
		"file":                 {do: func() error { _, err := bot.Send(h.ctx, picture); return err }, had: 1, calls: 3},
		"many":                 {do: func() error { _, err := bot.SendMany(h.ctx, chats, hello); return err }, had: 1, calls: 1},
		"many without":         {do: func() error { _, err := bot.SendMany(h.ctx, chats, hello); return err }, refuse: "messages.send", had: 1, calls: 2},
		"edit":                 {do: func() error { return bot.Edit(h.ctx, sent.MessageID, hello) }, had: 1, calls: 2},
		"edit without":         {do: func() error { return bot.Edit(h.ctx, sent.MessageID, bare) }, refuse: "messages.edit", had: 1, calls: 2},
		"edit of what is bare": {do: func() error { return bot.Edit(h.ctx, sent.MessageID, bare) }, had: 1, calls: 1},
		"answer": {do: func() error {
			return bot.Answer(h.ctx, messenger.Press{ID: "1", Chat: c.Chat(), User: c.User()}, "")
		}, calls: 1},
		"profile": {do: func() error { _, err := bot.Profile(h.ctx, c.User()); return err }, calls: 1},
		"manage":  {do: func() error { return bot.Manage(h.ctx, "groups.getById", map[string]any{}, new(json.RawMessage)) }, calls: 1},
		"history": {do: func() error {
			if _, err := bot.Chats(h.ctx, since, turns.turn); err != nil {
				return err
			}
			_, err := bot.Said(h.ctx, chats, since, time.Now(), turns.turn)
			return err
		}, had: 2, calls: 2},
	} {
		if tt.refuse != "" {
			h.faults.Add(fault.Fault{Method: tt.refuse, Kind: fault.Status, Status: 911, Times: 1})
		}
		pace.passed = 0
		before := len(h.calls.Since(0))
		err := tt.do()
		if calls := methods(h, before); err != nil || len(calls) != tt.calls || pace.passed != tt.calls-tt.had {
			t.Errorf("%s: %v waited %d times, %v, want %d calls of which %d had their places", name, calls, pace.passed, err, tt.calls, tt.had)
		}
	}
	if turns.turns != 2 {
		t.Errorf("the history was read in %d turns", turns.turns)
	}
	if slices.ContainsFunc(pace.bots, func(name string) bool { return name != "vk:223344556" }) {
		t.Errorf("waited as %v", pace.bots)
	}
}

// Without a place there is no call, and the error says when to come again.
func TestPace_NoPlaceNoCall(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	c.Write("hello")
	bot, pace := paced(h)
	pace.shut = &messenger.Error{Kind: messenger.RateLimited, RetryAfter: 7 * time.Second}
	before := len(h.calls.Since(0))
	for name, do := range map[string]func() error{
		"profile": func() error { _, err := bot.Profile(h.ctx, c.User()); return err },
		"answer":  func() error { return bot.Answer(h.ctx, messenger.Press{ID: "1", Chat: c.Chat(), User: c.User()}, "") },
	} {
		var e *messenger.Error
		if err := do(); !errors.As(err, &e) || e.Refused() || e.RetryAfter != 7*time.Second {
			t.Errorf("%s: got %v, want to come again in 7 s", name, err)
		}
	}
	if calls := methods(h, before); len(calls) > 0 {
		t.Errorf("called %v", calls)
	}
	_, err := bot.Send(h.ctx, messenger.Outgoing{Chat: c.Chat(), File: file("x.txt", "text/plain", []byte("x"))})
	kindAndCode(t, err, messenger.RateLimited, 0)
	if calls := methods(h, before); len(calls) != 1 || len(c.Seen()) != 0 {
		t.Errorf("called %v, want the first of the file's alone", calls)
	}
}
