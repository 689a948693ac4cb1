package vk

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf16"

	"github.com/SevereCloud/vksdk/v2/api"

	"supportbot/shared/messenger"
	"supportbot/shared/obs"
)

// Send implements messenger.Sender. Only the last call is visible to the
// customer, so whatever fails before it is never Uncertain.
func (b *Bot) Send(ctx context.Context, o messenger.Outgoing) (messenger.Receipt, error) {
	params, err := parameters(o)
	if err != nil {
		return messenger.Receipt{}, err
	}
	b = b.placed()
	if o.File != nil {
		attachment, err := b.upload(ctx, o.Chat, *o.File)
		if err != nil {
			return messenger.Receipt{}, err
		}
		params["attachment"] = attachment
	}
	// The list form of the call is the one that answers the number of the
	// message in the conversation, which edits need.
	params["peer_ids"] = o.Chat
	params["random_id"] = randomID(o.Chat, o.Key)
	receipt, err := b.post(ctx, params)
	if _, has := params["keyboard"]; has && keyboardRefused(err) {
		b.log.WarnContext(ctx, "VK refuses the keyboard, sent without", obs.Messenger, messenger.VK, obs.Chat, o.Chat, obs.Error, err)
		delete(params, "keyboard")
		return b.post(ctx, params)
	}
	return receipt, err
}

// parameters gives the parameters that sending and editing share.
func parameters(o messenger.Outgoing) (api.Params, error) {
	text := o.Part.Text
	if o.Part.HTML { // rendered for another messenger
		text = o.Part.Plain
	}
	switch {
	case text == "" && o.File == nil:
		return nil, invalid(errors.New("message has neither text nor file"))
	case len(utf16.Encode([]rune(text))) > limits.Text: // said before a file is uploaded in vain
		return nil, invalid(errors.New("message is longer than VK takes"))
	}
	params := api.Params{"message": inert(text), "dont_parse_links": true, "disable_mentions": true}
	encoded, err := encodeKeyboard(o.Keyboard, o.NoCallback)
	if err != nil {
		return nil, invalid(err)
	}
	if encoded != "" {
		params["keyboard"] = encoded
	}
	return params, nil
}

const methodSend = "messages.send"

// posted is what messages.send answers for one chat. What is wrong with the
// recipient comes inside a successful answer, in a form that vksdk's own type does
// not know.
type posted struct {
	Peer  int64 `json:"peer_id"`
	CMID  int64 `json:"conversation_message_id"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error"`
}

func (p posted) receipt() (messenger.Receipt, error) {
	switch {
	case p.Error != nil:
		e := refusal(methodSend, p.Error.Code)
		if e.Kind == messenger.Temporary { // VK works and knows the token: it says this of the recipient, and will again
			e.Kind = messenger.Invalid
		}
		return messenger.Receipt{}, e
	case p.CMID <= 0:
		return messenger.Receipt{}, &messenger.Error{Kind: messenger.Uncertain, Err: fmt.Errorf("%s: answer names no message", methodSend)}
	}
	return messenger.Receipt{MessageID: id(p.CMID)}, nil
}

// posts makes the visible call.
func (b *Bot) posts(ctx context.Context, params api.Params) (items []posted, err error) {
	err = b.call(ctx, methodSend, params, &items)
	return items, err
}

// post is posts for one chat.
func (b *Bot) post(ctx context.Context, params api.Params) (messenger.Receipt, error) {
	items, err := b.posts(ctx, params)
	switch {
	case err != nil:
		return messenger.Receipt{}, err
	case len(items) != 1:
		return messenger.Receipt{}, &messenger.Error{Kind: messenger.Uncertain, Err: fmt.Errorf("%s: answer names no message", methodSend)}
	}
	return items[0].receipt()
}

func keyboardRefused(err error) bool {
	var e *messenger.Error
	return errors.As(err, &e) && (e.Code == codeKeyboardInvalid || e.Code == codeBotFeatures)
}

// randomID is the number by which VK drops a repetition: the same for each try
// of one message, positive, and never 0, which would switch the check off.
func randomID(chat, key string) int64 {
	sum := sha256.Sum256([]byte(chat + "\x00" + key))
	if key == "" { // nothing to recognise it by; a constant would eat messages
		_, _ = rand.Read(sum[:])
	}
	n := int64(binary.BigEndian.Uint64(sum[:8]) & math.MaxInt64)
	return max(n, 1)
}

func invalid(err error) *messenger.Error {
	return &messenger.Error{Kind: messenger.Invalid, Err: err}
}
