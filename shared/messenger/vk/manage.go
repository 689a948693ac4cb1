package vk

import (
	"context"

	"github.com/SevereCloud/vksdk/v2/api"
)

// Version is the version of the API that the adapter speaks.
const Version = apiVersion

// Events are the kinds of events that mean something here, for
// groups.setCallbackSettings.
func Events() []string {
	return []string{
		"message_new", "message_edit", "message_event", "message_allow", "message_deny", "user_block", "user_unblock",
	}
}

// Manage calls a method by which the community's bot itself is set up
// (dev.vk.com/method/groups) and decodes its response into result. The error is a
// *messenger.Error.
func (b *Bot) Manage(ctx context.Context, method string, params map[string]any, result any) error {
	return harmless(b.call(ctx, method, api.Params(params), result))
}
