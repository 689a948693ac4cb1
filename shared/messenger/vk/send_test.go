package vk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	sandbox "supportbot/shared/sandbox/vk"
)

func text(chat, text, key string) messenger.Outgoing {
	return messenger.Outgoing{Chat: chat, Part: messenger.Part{Text: text}, Key: key}
}

// kindAndCode compares err with what it should be.
func kindAndCode(t *testing.T, err error, kind messenger.ErrorKind, code int) {
	t.Helper()
	var e *messenger.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Code != code {
		t.Errorf("got %v, want %s (%d)", err, kind, code)
	}
}

// called gives the parameters of the calls of a method.
func called(h *harness, method string) []map[string]string {
	var list []map[string]string
	for _, c := range h.calls.Since(0) {
		if c.Method != method {
			continue
		}
		var params map[string]string
		if err := json.Unmarshal(c.Params, &params); err != nil {
			h.t.Fatal(err)
		}
		list = append(list, params)
	}
	return list
}

func TestSend_RepeatedKeyTakesEffectOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	h.faults.Add(fault.Fault{Method: "messages.send", Kind: fault.HTMLAfter, Times: 1})
	_, err := h.bot.Send(h.ctx, text(c.Chat(), "hello", "job:1"))
	kindAndCode(t, err, messenger.Uncertain, 0)
	again, err := h.bot.Send(h.ctx, text(c.Chat(), "hello", "job:1"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := h.bot.Send(h.ctx, text(c.Chat(), "hello", "job:2"))
	if err != nil {
		t.Fatal(err)
	}
	if seen := c.Seen(); len(seen) != 2 || seen[0].ID != again.MessageID || seen[1].ID != other.MessageID {
		t.Errorf("got %+v, want messages %s and %s", seen, again.MessageID, other.MessageID)
	}
}

func TestSend_WithoutKeyIsNeverTakenForARepetition(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	for range 2 {
		if _, err := h.bot.Send(h.ctx, text(c.Chat(), "hello", "")); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(c.Seen()); got != 2 {
		t.Errorf("got %d messages, want 2", got)
	}
}

func TestSend_RandomIDIsPositiveAndOfTheChat(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ids := map[string]bool{}
	for range 2 {
		c := h.customer()
		for i := range 4 {
			if _, err := h.bot.Send(h.ctx, text(c.Chat(), fmt.Sprint(i), fmt.Sprint("key", i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, params := range called(h, "messages.send") {
		id := params["random_id"]
		if id == "0" || strings.HasPrefix(id, "-") {
			t.Errorf("got random_id %s, want a positive number", id)
		}
		ids[id] = true
	}
	if len(ids) != 8 {
		t.Errorf("got %d different numbers, want 8", len(ids))
	}
}

func TestSend_MentionsAreNotActive(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	for typed, want := range map[string]string{
		"[id1|Pavel] and @club5 (us), *id7": "[\u200bid1|Pavel] and @\u200bclub5 (us), *\u200bid7",
		"[a|b] me@ideal.ru 2*2 [link](x)":   "[a|b] me@ideal.ru 2*2 [link](x)",
		"[id1|" + strings.Repeat("x", 4091): "[id1|" + strings.Repeat("x", 4091), // no room
	} {
		r, err := h.bot.Send(h.ctx, text(c.Chat(), typed, typed))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Seen() {
			if s.ID == r.MessageID && s.Text != want {
				t.Errorf("got %q, want %q", s.Text, want)
			}
		}
	}
	for _, params := range called(h, "messages.send") {
		if params["disable_mentions"] != "1" || params["dont_parse_links"] != "1" {
			t.Errorf("got %v, want mentions and links switched off", params)
		}
	}
}

func TestSend_Keyboards(t *testing.T) {
	t.Parallel()
	button := func(i int) messenger.Button {
		return messenger.Button{Label: fmt.Sprint("Button ", i), Data: fmt.Sprint("b:", i)}
	}
	column := func(n int) messenger.Keyboard {
		var k messenger.Keyboard
		for i := range n {
			k = append(k, []messenger.Button{button(i)})
		}
		return k
	}
	row := func(n int) (r []messenger.Button) {
		for i := range n {
			r = append(r, button(i))
		}
		return r
	}
	for name, tt := range map[string]struct {
		keyboard messenger.Keyboard
		textual  bool
		want     []int // lengths of rows
		kind     messenger.ErrorKind
	}{
		"a column of ten is packed": {column(10), false, []int{2, 2, 2, 2, 1, 1}, ""},
		"a long row is broken":      {messenger.Keyboard{row(7)}, false, []int{5, 2}, ""},
		"empty rows are left out":   {messenger.Keyboard{{}, row(1), nil}, false, []int{1}, ""},
		"only empty rows":           {messenger.Keyboard{{}, nil}, false, nil, ""},
		"eleven":                    {column(11), false, nil, messenger.Invalid},
		"twelve for an old client":  {column(12), true, []int{2, 2, 1, 1, 1, 1, 1, 1, 1, 1}, ""},
		"no label":                  {messenger.Keyboard{{{Data: "x"}}}, false, nil, messenger.Invalid},
		"neither data nor link":     {messenger.Keyboard{{{Label: "x"}}}, false, nil, messenger.Invalid},
		"data too long":             {messenger.Keyboard{{{Label: "x", Data: strings.Repeat("x", 250)}}}, false, nil, messenger.Invalid},
		"long label":                {messenger.Keyboard{{{Label: strings.Repeat("ы", 41), URL: "https://a.b"}}}, false, []int{1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			c := h.customer()
			o := text(c.Chat(), "choose", "k")
			o.Keyboard, o.NoCallback = tt.keyboard, tt.textual
			_, err := h.bot.Send(h.ctx, o)
			if tt.kind != "" {
				kindAndCode(t, err, tt.kind, 0)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var rows []int
			for _, row := range c.Seen()[0].Keyboard {
				rows = append(rows, len(row))
			}
			if diff := cmp.Diff(tt.want, rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSend_OldClientPressesTextButtons(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	o := text(c.Chat(), "choose", "k")
	o.Keyboard, o.NoCallback = messenger.Keyboard{{{Label: "Yes", Data: "yes"}, {Label: "Site", URL: "https://a.b"}}}, true
	if _, err := h.bot.Send(h.ctx, o); err != nil {
		t.Fatal(err)
	}
	events := collect(h)
	cmid, err := c.Tap("Yes")
	if err != nil {
		t.Fatal(err)
	}
	e := <-events
	want := &messenger.Press{Chat: c.Chat(), User: c.User(), Data: "yes"}
	if diff := cmp.Diff(want, e.Press); diff != "" || e.Kind != messenger.EventPress || e.Sequence != cmid {
		t.Errorf("got %+v, press (-want +got):\n%s", e, diff)
	}
	if err := h.bot.Answer(h.ctx, *e.Press, "done"); err != nil {
		t.Errorf("answer: %v", err)
	}
	if _, err := c.Tap("Yes"); err == nil {
		t.Error("the keyboard is still there, want it gone after one press")
	}
}

func TestSend_RefusedKeyboardIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, code := range []int{911, 912} {
		h := newHarness(t)
		c := h.customer()
		o := text(c.Chat(), "choose", "k")
		o.Keyboard = messenger.Keyboard{{{Label: "Yes", Data: "yes"}}}
		h.faults.Add(fault.Fault{Method: "messages.send", Kind: fault.Status, Status: code, Times: 1})
		r, err := h.bot.Send(h.ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		if seen := c.Seen(); len(seen) != 1 || seen[0].Keyboard != nil || seen[0].Text != "choose" {
			t.Errorf("got %+v, want the text alone", seen)
		}
		if !strings.Contains(h.Logged(), fmt.Sprintf("(%d)", code)) {
			t.Errorf("got log %q, want code %d in it", h.Logged(), code)
		}
		h.faults.Add(fault.Fault{Method: "messages.edit", Kind: fault.Status, Status: code, Times: 1})
		o.Part.Text = "chosen"
		if err := h.bot.Edit(h.ctx, r.MessageID, o); err != nil {
			t.Errorf("edit: %v", err)
		}
	}
}

func TestSend_Errors(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]struct {
		kind messenger.ErrorKind
		wait time.Duration
	}{
		6: {messenger.RateLimited, time.Second}, 9: {messenger.RateLimited, 3 * time.Minute}, 29: {messenger.RateLimited, time.Hour},
		1: {messenger.Uncertain, 0}, 10: {messenger.Uncertain, 0}, 13: {messenger.Temporary, 0},
		5: {messenger.Temporary, 0}, 15: {messenger.Temporary, 0}, 27: {messenger.Temporary, 0}, 14: {messenger.Temporary, 0},
		18: {messenger.Blocked, 0}, 900: {messenger.Blocked, 0}, 901: {messenger.Blocked, 0}, 902: {messenger.Blocked, 0},
		8: {messenger.Invalid, 0}, 100: {messenger.Invalid, 0}, 113: {messenger.Invalid, 0}, 914: {messenger.Invalid, 0},
		917: {messenger.Invalid, 0}, 7777: {messenger.Temporary, 0},
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			h.schema = nil // not every code is one that the method gives
			c := h.customer()
			h.faults.Add(fault.Fault{Method: "messages.send", Kind: fault.Status, Status: code, Times: 1})
			_, err := h.bot.Send(h.ctx, text(c.Chat(), "canary of the text", "k"))
			kindAndCode(t, err, want.kind, code)
			var e *messenger.Error
			if errors.As(err, &e) && e.RetryAfter != want.wait {
				t.Errorf("got wait %s, want %s", e.RetryAfter, want.wait)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("got %q, want nothing of the text or the token", err)
			}
			if len(c.Seen()) != 0 {
				t.Errorf("the customer sees %+v, want nothing", c.Seen())
			}
		})
	}
}

// VK says what is wrong with one recipient inside a successful answer.
func TestSend_ErrorsOfTheRecipient(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*customer)
		kind   messenger.ErrorKind
		code   int
	}{
		"denied":    {func(c *customer) { c.Deny() }, messenger.Blocked, 901},
		"hidden":    {func(c *customer) { c.Hide() }, messenger.Blocked, 902},
		"blacklist": {func(c *customer) { c.Blacklist(true) }, messenger.Blocked, 900},
		"deleted":   {func(c *customer) { c.Deactivate() }, messenger.Blocked, 18},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			c := h.customer()
			tt.change(c)
			_, err := h.bot.Send(h.ctx, text(c.Chat(), "hello", "k"))
			kindAndCode(t, err, tt.kind, tt.code)
		})
	}
}

func TestSend_TransportErrors(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fault.Kind]messenger.ErrorKind{
		fault.CloseBefore: messenger.Uncertain, fault.CloseAfter: messenger.Uncertain,
		fault.HTMLBefore: messenger.Uncertain, fault.HTMLAfter: messenger.Uncertain,
		fault.HangBefore: messenger.Uncertain, fault.HangAfter: messenger.Uncertain,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			c := h.customer()
			ctx, cancel := context.WithCancel(h.ctx)
			defer cancel()
			met := h.faults.Met(h.faults.Add(fault.Fault{Method: "messages.send", Kind: kind, Times: 1}))
			if strings.HasPrefix(string(kind), "hang") {
				go func() { <-met; cancel() }()
			}
			_, err := h.bot.Send(ctx, text(c.Chat(), "hello", "k"))
			kindAndCode(t, err, want, 0)
		})
	}
	t.Run("over before it began", func(t *testing.T) {
		t.Parallel()
		h := newHarness(t)
		ctx, cancel := context.WithCancel(h.ctx)
		cancel()
		_, err := h.bot.Send(ctx, text(h.customer().Chat(), "hello", "k"))
		kindAndCode(t, err, messenger.Temporary, 0)
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		h := newHarness(t)
		_, err := h.Unreachable().Send(h.ctx, text(h.customer().Chat(), "hello", "k"))
		kindAndCode(t, err, messenger.Temporary, 0)
	})
}

func TestEdit_Errors(t *testing.T) {
	t.Parallel()
	now := &clock{t: time.Now()}
	h := newHarness(t, func(c *sandbox.Config) { c.Now = now.now })
	c := h.customer()
	r, err := h.bot.Send(h.ctx, text(c.Chat(), "hello", "k"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := c.Write("mine")
	kindAndCode(t, h.bot.Edit(h.ctx, theirs, text(c.Chat(), "x", "")), messenger.Invalid, 920)
	kindAndCode(t, h.bot.Edit(h.ctx, "77", text(c.Chat(), "x", "")), messenger.Invalid, 0)
	kindAndCode(t, h.bot.Edit(h.ctx, "none", text(c.Chat(), "x", "")), messenger.Invalid, 0)
	now.move(25 * time.Hour)
	kindAndCode(t, h.bot.Edit(h.ctx, r.MessageID, text(c.Chat(), "x", "")), messenger.Invalid, 909)
}

func TestEdit_FilesStay(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.customer()
	o := text(c.Chat(), "caption", "k")
	o.File = file("a.txt", "text/plain", []byte("abc"))
	r, err := h.bot.Send(h.ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.bot.Edit(h.ctx, r.MessageID, text(c.Chat(), "mended", "")); err != nil {
		t.Fatal(err)
	}
	if seen := c.Seen()[0]; seen.Text != "mended" || seen.File == nil || string(seen.File.Data) != "abc" {
		t.Errorf("got %+v, want the new caption and the old file", seen)
	}
	h.faults.Add(fault.Fault{Method: "messages.getById", Kind: fault.HTMLBefore, Times: 1})
	kindAndCode(t, h.bot.Edit(h.ctx, r.MessageID, text(c.Chat(), "x", "")), messenger.Temporary, 0)
}

// collect connects a webhook that gives what the adapter receives.
func collect(h *harness) <-chan messenger.Event {
	events := make(chan messenger.Event, 100)
	h.Connect(webhook(h, events))
	return events
}

// content reads an attachment as the platform does.
func content(h *harness, a messenger.Attachment) string {
	h.t.Helper()
	r, err := h.bot.Open(h.ctx, a)
	if err != nil {
		h.t.Fatalf("open %s: %v", a.Name, err)
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	if err != nil {
		h.t.Fatalf("read %s: %v", a.Name, err)
	}
	return string(b)
}
