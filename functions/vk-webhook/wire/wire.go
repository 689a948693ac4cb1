// Package wire puts the VK webhook together.
package wire

import (
	"net/http"

	"supportbot/shared/conversation"
	"supportbot/shared/messenger/vk"
	"supportbot/shared/wiring"
	"supportbot/shared/wiring/bot"
	"supportbot/shared/ycf"
)

// New makes the handler of POST /vk.
func New(rt wiring.Runtime) (http.Handler, error) {
	cfg := vk.ConfigFrom(rt.Env)
	cfg.Log, cfg.Now = rt.Log, rt.Now
	b, err := bot.New(rt)
	if err != nil {
		return nil, err
	}
	cfg.Pace = b.Pace.Call
	m, err := vk.New(cfg)
	if err != nil {
		b.DB.Close() // the next call of the function opens all of it anew
		return nil, err
	}
	return ycf.Recover(rt.Log, conversation.Webhook(m, b.Conversation(m))), nil
}
