package storm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

// record reads what the stand-ins have on record into books.
type record struct {
	*Books
	w       *world
	taken   map[brought]bool // by the platform
	presses map[string]bool  // of buttons, likewise
}

type brought struct {
	chat   string
	number int64
}

func (r *record) read() error {
	for _, log := range []struct {
		calls []fault.Call
		read  func(fault.Call) error
	}{
		{r.w.calls.telegram.Since(0), r.telegram}, {r.w.calls.vk.Since(0), r.vk}, {r.w.calls.tracker.Since(0), r.tracker},
	} {
		for _, c := range log.calls {
			if err := log.read(c); err != nil {
				return fmt.Errorf("call %d, %s: %w", c.N, c.Method, err)
			}
		}
	}
	return nil
}

// message notes that a messenger brought a message.
func (r *record) message(c fault.Call, chat string, number int64) {
	r.Brought = append(r.Brought, Brought{chat, number, c.At.Add(-c.Took), c.At})
	if c.Effect {
		r.taken[brought{chat, number}] = true
	}
}

func (r *record) press(c fault.Call, id string) {
	if c.Effect {
		r.presses[id] = true
	}
}

func (r *record) call(service string, c fault.Call) *Call {
	r.Calls = append(r.Calls, Call{
		Service: service, Method: c.Method, Text: string(c.Params), At: c.At, Process: r.w.process(c.From), Fault: c.Fault,
	})
	return &r.Calls[len(r.Calls)-1]
}

// telegram reads a call of Telegram's log.
func (r *record) telegram(c fault.Call) error {
	if c.Method == telegram.WebhookMethod {
		var u struct {
			Message struct {
				ID   int64 `json:"message_id"`
				Chat struct {
					ID int64 `json:"id"`
				} `json:"chat"`
			} `json:"message"`
			Press struct {
				ID string `json:"id"`
			} `json:"callback_query"`
		}
		if err := json.Unmarshal(c.Params, &u); err != nil {
			return err
		}
		r.message(c, fmt.Sprint(messenger.Telegram, ":", u.Message.Chat.ID), u.Message.ID)
		r.press(c, u.Press.ID)
		return nil
	}
	one := r.call(telegramming, c)
	one.Refused = c.Fault == "" && c.Status == http.StatusTooManyRequests
	if !strings.HasPrefix(c.Method, "send") || c.Method == "sendChatAction" {
		return nil
	}
	var asked struct {
		Chat string `json:"chat_id"`
	}
	err := json.Unmarshal(c.Params, &asked)
	one.Chat = fmt.Sprint(messenger.Telegram, ":", asked.Chat)
	return err
}

// tooMany is in VK's answer to a call that is one too many.
const tooMany = `"error_code":6,`

// vk reads a call of VK's log. Uploads do not count there.
func (r *record) vk(c fault.Call) error {
	if c.Method == vk.CallbackMethod {
		return r.callback(c)
	}
	if c.Method == "upload" {
		return nil
	}
	one := r.call(vkontakte, c)
	one.Refused = c.Fault == "" && strings.Contains(string(c.Result), tooMany)
	if c.Method != "messages.send" {
		return nil
	}
	var asked struct {
		Peer  string `json:"peer_id"`
		Peers string `json:"peer_ids"`
	}
	err := json.Unmarshal(c.Params, &asked)
	one.Chat = fmt.Sprint(messenger.VK, ":", asked.Peer, asked.Peers)
	return err
}

func (r *record) callback(c fault.Call) error {
	var e struct {
		Type   string `json:"type"`
		Object struct {
			Press   string `json:"event_id"`
			Message struct {
				Number int64 `json:"conversation_message_id"`
				Peer   int64 `json:"peer_id"`
			} `json:"message"`
		} `json:"object"`
	}
	if err := json.Unmarshal(c.Params, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message_new":
		r.message(c, fmt.Sprint(messenger.VK, ":", e.Object.Message.Peer), e.Object.Message.Number)
	case "message_event":
		r.press(c, e.Object.Press)
	}
	return nil
}

func (r *record) tracker(c fault.Call) error {
	if c.Method == "trigger" || r.w.process(c.From) == nobody {
		return nil
	}
	r.call(tracking, c).Refused = c.Fault == "" && c.Status == http.StatusTooManyRequests
	return nil
}

// customer reads what a person wrote, has and was promised.
func (r *record) customer(c *customer) {
	address := c.phone.address()
	r.Chats[address] = c.phone.got()
	for _, s := range c.phone.said() {
		for _, t := range tokens(s.Text) {
			r.Said = append(r.Said, Said{
				Token: t, Chat: address, Number: s.ID, At: s.At, Burst: c.bursts[t], File: s.File,
				Brought: r.taken[brought{address, s.ID}],
			})
		}
	}
	for _, f := range c.forms {
		form := *f
		if r.presses[f.press] {
			form.Sent = f.pressed
		}
		r.Forms = append(r.Forms, form)
	}
	for _, d := range c.written {
		r.Written = append(r.Written, *d)
	}
	r.Ratings = append(r.Ratings, c.ratings...)
}

// nobody is who is no process.
const nobody = -1

// process says which one asks a service at this address.
func (w *world) process(host string) int {
	if n, ok := w.hosts[host]; ok {
		return n
	}
	return nobody
}
