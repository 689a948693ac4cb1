package vk

import (
	"context"
	"slices"
	"time"

	"github.com/SevereCloud/vksdk/v2/api"

	"supportbot/shared/messenger"
)

// pageSize is the most that VK gives of conversations or messages at once.
const pageSize = 200

// Recent gives what customers wrote since a time, as Receive would have given it,
// oldest first within each chat: for when VK has stopped calling a server that
// failed. The keys are those of Receive, so that what did arrive is not taken
// twice. Edits and presses of callback buttons are not in VK's history. Its
// errors are never Uncertain.
func (b *Bot) Recent(ctx context.Context, since time.Time) ([]messenger.Event, error) {
	var events []messenger.Event
	for offset := 0; ; offset += pageSize {
		page, err := b.conversations(ctx, offset)
		if err != nil {
			return nil, err
		}
		for _, last := range page {
			if last.Date < since.Unix() {
				return events, nil // the newest conversations come first
			}
			said, err := b.recentIn(ctx, last.PeerID, since)
			if err != nil {
				return nil, err
			}
			events = append(events, said...)
		}
		if len(page) < pageSize {
			return events, nil
		}
	}
}

// conversations gives the last messages of a page of conversations.
func (b *Bot) conversations(ctx context.Context, offset int) ([]message, error) {
	var page struct {
		Items []struct {
			Last message `json:"last_message"`
		} `json:"items"`
	}
	err := b.call(ctx, "messages.getConversations", api.Params{"offset": offset, "count": pageSize}, &page)
	if err != nil {
		return nil, harmless(err)
	}
	last := make([]message, 0, len(page.Items))
	for _, item := range page.Items {
		last = append(last, item.Last)
	}
	return last, nil
}

func (b *Bot) recentIn(ctx context.Context, peer int64, since time.Time) ([]messenger.Event, error) {
	var events []messenger.Event
	for offset, more := 0, true; more; offset += pageSize {
		page, err := b.history(ctx, "messages.getHistory", api.Params{"peer_id": peer, "offset": offset, "count": pageSize})
		if err != nil {
			return nil, harmless(err)
		}
		more = len(page) == pageSize
		for _, m := range page { // newest first
			if m.Date < since.Unix() {
				more = false
				break
			}
			if b.mine(m) || m.CMID <= 0 {
				continue
			}
			if event, ok := b.said("message_new", "", m, nil); ok {
				events = append(events, event)
			}
		}
	}
	slices.Reverse(events)
	return events, nil
}

// history calls a method whose response is a list of messages.
func (b *Bot) history(ctx context.Context, method string, params api.Params) ([]message, error) {
	var page struct {
		Items []message `json:"items"`
	}
	err := b.call(ctx, method, params, &page)
	return page.Items, err
}
