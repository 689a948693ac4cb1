package telegram_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
)

func id(c *telegram.Customer) string { return strconv.FormatInt(c.Chat(), 10) }

func TestAPI_Paths(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, tt := range map[string]struct {
		path string
		code int
	}{
		"fine":            {"/bot" + token + "/getMe", 200},
		"any case":        {"/bot" + token + "/GETME", 200},
		"wrong token":     {"/bot7000000001:guess/getMe", 401},
		"no token":        {"/getMe", 404},
		"no method":       {"/bot" + token, 404},
		"unknown method":  {"/bot" + token + "/getYou", 404},
		"unknown file":    {"/file/bot" + token + "/photos/file_9.jpg", 404},
		"file, bad token": {"/file/bot7:x/photos/file_9.jpg", 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := http.Get(b.url + tt.path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			var a answer
			if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tt.code || a.OK != (tt.code == 200) || resp.Header.Get("Content-Type") != "application/json" {
				t.Errorf("got %d %+v, want %d", resp.StatusCode, a, tt.code)
			}
		})
	}
}

func TestAPI_Encodings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	form := url.Values{"chat_id": {id(c)}, "text": {"<i>form</i>"}, "parse_mode": {"HTML"}}
	b.decode("sendMessage", b.post("sendMessage", "application/x-www-form-urlencoded", []byte(form.Encode())), &sent{})
	b.decode("sendMessage", b.upload("sendMessage", "unused", "x", []byte("x"), map[string]string{"chat_id": id(c), "text": "multipart"}), &sent{})
	b.send(c, "json", nil)
	b.decode("sendMessage", b.post("sendMessage?chat_id="+id(c)+"&text=query", "", nil), &sent{})
	if got, want := seen(b, c), "form|multipart|json|query"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, body := range map[string]string{"half": `{"text":`, "list": `[]`} {
		if a := b.post("sendMessage", "application/json", []byte(body)); a.Code != 400 {
			t.Errorf("%s: got %+v, want 400", name, a)
		}
	}
	if a := b.post("sendMessage", "application/x-www-form-urlencoded", []byte("chat_id="+id(c)+"&text=%ff")); a.Description != "Bad Request: strings must be encoded in UTF-8" {
		t.Errorf("got %+v", a)
	}
}

// seen is the texts that a customer sees, joined.
func seen(b *bundle, c *telegram.Customer) string {
	var list []string
	for _, m := range b.Chat(c.Chat()) {
		list = append(list, m.Text)
	}
	return strings.Join(list, "|")
}

func TestAPI_Profile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	var me struct {
		ID       int64
		Username string
		IsBot    bool `json:"is_bot"`
	}
	b.result("getMe", nil, &me)
	if me.ID != 7000000001 || !me.IsBot || me.Username == "" {
		t.Errorf("got %+v", me)
	}
	ru := fields{"commands": []fields{{"command": "help", "description": "Помощь"}}, "language_code": "ru"}
	b.result("setMyCommands", ru, new(bool))
	var commands []struct{ Command string }
	b.result("getMyCommands", fields{"language_code": "ru"}, &commands)
	if len(commands) != 1 || commands[0].Command != "help" {
		t.Errorf("got %+v", commands)
	}
	b.result("getMyCommands", nil, &commands)
	if len(commands) != 0 {
		t.Errorf("got %+v in another language", commands)
	}
	b.result("deleteMyCommands", fields{"language_code": "ru"}, new(bool))
	b.result("setMyDescription", fields{"description": "what it can"}, new(bool))
	b.result("setMyName", fields{"name": "Support"}, new(bool))
	var text struct{ Description, Name string }
	b.result("getMyDescription", fields{"language_code": "en"}, &text)
	b.result("getMyName", nil, &text)
	if text.Description != "what it can" || text.Name != "Support" {
		t.Errorf("got %+v", text)
	}
	var chat struct {
		Type      string
		FirstName string `json:"first_name"`
	}
	b.result("getChat", fields{"chat_id": c.Chat()}, &chat)
	if chat.Type != "private" || chat.FirstName != "Анна" {
		t.Errorf("got %+v", chat)
	}
	b.result("sendChatAction", fields{"chat_id": c.Chat(), "action": "typing"}, new(bool))
}

func TestAPI_Forbidden(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do   func(*telegram.Customer)
		want string
	}{
		"blocked":     {(*telegram.Customer).Block, "Forbidden: bot was blocked by the user"},
		"deactivated": {(*telegram.Customer).Deactivate, "Forbidden: user is deactivated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := b.started()
			m := b.send(c, "before", nil)
			tt.do(c)
			for method, params := range map[string]fields{
				"sendMessage":     {"chat_id": c.Chat(), "text": "x"},
				"editMessageText": {"chat_id": c.Chat(), "message_id": m.ID, "text": "x"},
				"sendChatAction":  {"chat_id": c.Chat(), "action": "typing"},
				"sendLocation":    {"chat_id": c.Chat(), "latitude": 1, "longitude": 1},
			} {
				if a := b.call(method, params); a.Code != 403 || a.Description != tt.want {
					t.Errorf("%s: got %d %q, want %q", method, a.Code, a.Description, tt.want)
				}
			}
		})
	}
}

// Each fault either has its effect or has none, whatever the bot gets to see.
func TestAPI_Faults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault  fault.Fault
		effect bool
		status int // 0: no answer
	}{
		"hang before":  {fault.Fault{Kind: fault.HangBefore}, false, 0},
		"hang after":   {fault.Fault{Kind: fault.HangAfter}, true, 0},
		"close before": {fault.Fault{Kind: fault.CloseBefore}, false, 0},
		"close after":  {fault.Fault{Kind: fault.CloseAfter}, true, 0},
		"html before":  {fault.Fault{Kind: fault.HTMLBefore}, false, 502},
		"html after":   {fault.Fault{Kind: fault.HTMLAfter}, true, 502},
		"delay":        {fault.Fault{Kind: fault.Delay, Wait: time.Millisecond}, true, 200},
		"500":          {fault.Fault{Kind: fault.Status, Status: 500}, false, 500},
		"429":          {fault.Fault{Kind: fault.Status, Status: 429, RetryAfter: 7}, false, 429},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := b.started()
			tt.fault.Method, tt.fault.Times = "sendMessage", 1
			met := b.faults.Met(b.faults.Add(tt.fault))
			ctx, cancel := context.WithCancel(b.ctx)
			defer cancel()
			go func() {
				if tt.fault.Kind != fault.HangBefore && tt.fault.Kind != fault.HangAfter {
					return
				}
				<-met
				if tt.effect {
					_ = b.Wait(b.ctx, c.Chat(), func(list []telegram.Message) bool { return len(list) == 1 })
				}
				cancel()
			}()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+"/bot"+token+"/sendMessage",
				strings.NewReader("text=x&chat_id="+id(c)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			status, body := 0, ""
			if resp, err := http.DefaultClient.Do(r); err == nil {
				raw, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				status, body = resp.StatusCode, string(raw)
			}
			if status != tt.status {
				t.Errorf("got status %d, want %d", status, tt.status)
			}
			if tt.fault.RetryAfter > 0 && !strings.Contains(body, `"retry_after":7`) {
				t.Errorf("got %s", body)
			}
			if got := len(b.Chat(c.Chat())) == 1; got != tt.effect {
				t.Errorf("got effect %v, want %v", got, tt.effect)
			}
			if err := b.calls.Wait(b.ctx, func(calls []fault.Call) bool { return len(calls) == 1 && calls[0].Effect == tt.effect }); err != nil {
				t.Errorf("the log does not tell of the call: %+v", b.calls.Since(0))
			}
		})
	}
}

func TestAPI_CloseEndsHangingCalls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	met := b.faults.Met(b.faults.Add(fault.Fault{Method: "getMe", Kind: fault.HangBefore}))
	ended := make(chan error, 1)
	go func() {
		resp, err := http.Get(b.url + "/bot" + token + "/getMe")
		if err == nil {
			_ = resp.Body.Close()
		}
		ended <- err
	}()
	<-met
	b.Close()
	if err := <-ended; err == nil {
		t.Error("a call that hung was answered")
	}
}

func TestAPI_LogHoldsNoSecret(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.result("setWebhook", fields{"url": "https://bot.example/", "secret_token": "canary-secret"}, new(bool))
	for _, call := range b.calls.Since(0) {
		if strings.Contains(string(call.Params)+string(call.Result), "canary") {
			t.Errorf("got %s %s", call.Params, call.Result)
		}
	}
}
