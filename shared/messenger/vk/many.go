package vk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// peersMost is how many chats one messages.send takes (dev.vk.com/method/messages.send).
const peersMost = 100

// SendMany implements messenger.Multi: one call for many chats. VK answers for each
// of them; one that it leaves out is Uncertain.
func (b *Bot) SendMany(ctx context.Context, chats []string, o messenger.Outgoing) ([]messenger.Delivered, error) {
	if len(chats) == 0 || len(chats) > peersMost || o.File != nil {
		return nil, invalid(errors.New("a call addresses 1 to 100 chats and takes no file"))
	}
	params, err := parameters(o)
	if err != nil {
		return nil, err
	}
	b = b.placed()
	params["peer_ids"] = strings.Join(chats, ",")
	// The chats are no part of the number: VK drops what each of them has had.
	params["random_id"] = randomID("", o.Key)
	items, err := b.posts(ctx, params)
	if _, has := params["keyboard"]; has && keyboardRefused(err) {
		b.log.WarnContext(ctx, "VK refuses the keyboard, sent without", obs.Messenger, messenger.VK, obs.Error, err)
		delete(params, "keyboard")
		items, err = b.posts(ctx, params)
	}
	if err != nil {
		return nil, err
	}
	out := make([]messenger.Delivered, len(chats))
	for i, chat := range chats {
		at := slices.IndexFunc(items, func(p posted) bool { return strconv.FormatInt(p.Peer, 10) == chat })
		if at < 0 {
			out[i].Err = &messenger.Error{Kind: messenger.Uncertain, Err: fmt.Errorf("%s: answer leaves a chat out", methodSend)}
			continue
		}
		out[i].Receipt, out[i].Err = items[at].receipt()
	}
	return out, nil
}
