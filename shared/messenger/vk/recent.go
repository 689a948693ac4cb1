package vk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/SevereCloud/vksdk/v2/api"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

const (
	// pageSize is the most that VK gives of conversations or messages at once.
	pageSize = 200
	// callsMost is how many calls one execute may make.
	callsMost = 25
	// firstSize is how many messages of a chat are read with those of others.
	firstSize = 40
	// saidMost is how many messages of one chat are looked at, the newest.
	saidMost = 5 * pageSize
)

// Chats gives the private chats in which something was said at since or later, by
// whomever, with the time of the last message: where to ask Said when VK has
// stopped calling a server that failed. turn is called before each call of VK's
// API and waits until it may be made; its error ends the matter and is passed on.
// All other errors are *messenger.Error, never Uncertain.
func (b *Bot) Chats(ctx context.Context, since time.Time, turn func(context.Context) error) (map[string]time.Time, error) {
	b = b.paced(turn)
	chats := map[string]time.Time{}
	for offset := 0; ; offset += pageSize {
		more, err := b.listChats(ctx, offset, since, chats)
		if err != nil {
			return nil, err
		}
		if !more && offset > 0 {
			// A chat in which something is said while we turn the pages is the first
			// of the list by now.
			_, err = b.listChats(ctx, 0, since, chats)
		}
		if !more {
			return chats, err
		}
	}
}

// listChats adds a page of chats, of which those with the newest messages come
// first, and says whether the next one has to be read too.
func (b *Bot) listChats(ctx context.Context, offset int, since time.Time, chats map[string]time.Time) (more bool, err error) {
	var page struct {
		Items []struct {
			Last message `json:"last_message"`
		} `json:"items"`
	}
	if err := b.read(ctx, "messages.getConversations", api.Params{"offset": offset, "count": pageSize}, &page); err != nil {
		return false, err
	}
	for _, item := range page.Items {
		last := item.Last
		if last.Date < since.Unix() {
			return false, nil
		}
		if last.PeerID > 0 && !isGroupChat(last.PeerID) {
			chats[id(last.PeerID)] = time.Unix(last.Date, 0).UTC()
		}
	}
	return len(page.Items) == pageSize, nil
}

// Said gives what customers wrote in some chats from since on and before until, to
// the second, oldest first and as Receive would have given it: under the same keys,
// so that what did arrive is not taken twice. Of very many it gives the newest; a
// chat that VK refuses to show is left out. Edits and presses of callback buttons
// are not in VK's history, and it does not tell a customer's language. turn and
// errors are as those of Chats.
func (b *Bot) Said(
	ctx context.Context, chats []string, since, until time.Time, turn func(context.Context) error,
) (map[string][]messenger.Event, error) {
	b = b.paced(turn)
	said := map[string][]messenger.Event{}
	for some := range slices.Chunk(chats, callsMost) {
		pages, err := b.firstPages(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, chat := range some {
			p := period{b: b, chat: chat, since: since, until: until}
			if p.read(pages[i], firstSize) {
				said[chat] = p.events()
				continue
			}
			err := p.whole(ctx)
			switch {
			case err == nil:
				said[chat] = p.events()
			case messenger.KindOf(err) == messenger.Invalid:
				b.log.WarnContext(ctx, "VK does not show a chat", obs.Messenger, messenger.VK, obs.Chat, chat, obs.Error, err)
			default:
				return nil, err
			}
		}
	}
	return said, nil
}

// firstPages reads the newest messages of several chats with one call. A page that
// VK refused has none and is not the end: see period.read.
func (b *Bot) firstPages(ctx context.Context, chats []string) ([][]message, error) {
	calls := make([]string, len(chats))
	for i, chat := range chats {
		peer, err := strconv.ParseInt(chat, 10, 64)
		if err != nil {
			return nil, invalid(fmt.Errorf("execute: %q is no chat", chat))
		}
		calls[i] = fmt.Sprintf(`API.messages.getHistory({"peer_id":%d,"count":%d})`, peer, firstSize)
	}
	var answers []json.RawMessage
	if err := b.read(ctx, "execute", api.Params{"code": "return [" + strings.Join(calls, ",") + "];"}, &answers); err != nil {
		return nil, err
	}
	pages := make([][]message, len(chats))
	for i, raw := range answers[:min(len(answers), len(pages))] {
		var page struct {
			Items []message `json:"items"`
		}
		if lenient(raw, &page) == nil {
			pages[i] = page.Items
		}
	}
	return pages, nil
}

// period collects what was said in a chat within a time.
type period struct {
	b            *Bot
	chat         string
	since, until time.Time
	found        []messenger.Event
}

// read takes a page of messages, the newest first, of which there were to be size.
// It reports whether nothing older belongs to the period: a chat in which something
// was said has no empty page.
func (p *period) read(page []message, size int) (end bool) {
	for _, m := range page {
		if m.Date < p.since.Unix() {
			return true
		}
		if m.Date >= p.until.Unix() || p.b.mine(m) || m.CMID <= 0 || id(m.PeerID) != p.chat {
			continue
		}
		if event, ok := p.b.said("message_new", "", m, nil); ok {
			p.found = append(p.found, event)
		}
	}
	return len(page) > 0 && len(page) < size
}

// whole reads page by page.
func (p *period) whole(ctx context.Context) error {
	for offset := 0; offset < saidMost; offset += pageSize {
		page, err := p.b.history(ctx, "messages.getHistory", api.Params{"peer_id": p.chat, "offset": offset, "count": pageSize})
		if err != nil {
			return err
		}
		if p.read(page, pageSize) || len(page) == 0 {
			return nil
		}
	}
	return nil
}

// events gives what was found, in order and once: what is said while pages are
// turned shifts them.
func (p *period) events() []messenger.Event {
	slices.SortFunc(p.found, func(a, b messenger.Event) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return slices.CompactFunc(p.found, func(a, b messenger.Event) bool { return a.Key == b.Key })
}

// history calls a method whose response is a list of messages.
func (b *Bot) history(ctx context.Context, method string, params api.Params) ([]message, error) {
	var page struct {
		Items []message `json:"items"`
	}
	err := b.read(ctx, method, params, &page)
	return page.Items, err
}
