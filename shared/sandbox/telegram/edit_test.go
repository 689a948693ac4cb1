package telegram_test

import (
	"testing"
	"time"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	rows := keyboard(`[[{"text":"a","callback_data":"a"}]]`)
	m := b.send(c, "one", fields{"reply_markup": rows})
	b.clock.move(time.Minute)

	var edited sent
	b.result("editMessageText", fields{"chat_id": c.Chat(), "message_id": m.ID, "text": "<b>two</b>", "parse_mode": "HTML", "reply_markup": rows}, &edited)
	if edited.ID != m.ID || edited.Text != "two" || edited.EditDate != m.Date+60 || edited.Markup == nil {
		t.Errorf("got %+v", edited)
	}
	// Formatting alone is a change; so is a keyboard that goes.
	b.result("editMessageText", fields{"chat_id": c.Chat(), "message_id": m.ID, "text": "two", "reply_markup": rows}, &edited)
	b.result("editMessageText", fields{"chat_id": c.Chat(), "message_id": m.ID, "text": "two"}, &edited)
	if got := b.Chat(c.Chat())[0].Keyboard; got != nil {
		t.Errorf("got %+v", got)
	}
	b.result("editMessageReplyMarkup", fields{"chat_id": c.Chat(), "message_id": m.ID, "reply_markup": rows}, &edited)
	seen := b.Chat(c.Chat())
	if len(seen) != 1 || seen[0].Text != "two" || !seen[0].Edited || len(seen[0].Keyboard) != 1 {
		t.Errorf("got %+v", seen)
	}
	b.result("deleteMessage", fields{"chat_id": c.Chat(), "message_id": m.ID}, new(bool))
	if got := b.Chat(c.Chat()); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	if got := b.updates(nil); len(got) != 0 {
		t.Errorf("the bot was told of its own edits: %v", texts(got))
	}
}

func TestEdit_Caption(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	var m sent
	b.decode("sendDocument", b.upload("sendDocument", "document", "x", []byte("x"), map[string]string{"chat_id": id(c)}), &m)
	b.result("editMessageCaption", fields{"chat_id": c.Chat(), "message_id": m.ID, "caption": "<i>c</i>", "parse_mode": "HTML"}, &m)
	if got := b.Chat(c.Chat())[0]; got.HTML != "<i>c</i>" || got.File == nil {
		t.Errorf("got %+v", got)
	}
}

func TestDelete_TooLate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	m := b.send(c, "x", nil)
	b.clock.move(48*time.Hour + time.Second)
	if a := b.call("deleteMessage", fields{"chat_id": c.Chat(), "message_id": m.ID}); a.Description != "Bad Request: message can't be deleted" {
		t.Errorf("got %+v", a)
	}
}

func TestReply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	asked := c.Write("a question about a thing")
	m := b.send(c, "answer", fields{"reply_parameters": fields{"message_id": asked, "quote": "thing"}})
	if m.Reply == nil || m.Reply.ID != asked {
		t.Errorf("got %+v", m.Reply)
	}
	if got := b.Chat(c.Chat())[1]; got.ReplyTo != asked {
		t.Errorf("got %+v", got)
	}
	a := b.call("sendMessage", fields{"chat_id": c.Chat(), "text": "x", "reply_parameters": fields{"message_id": asked, "quote": "no such words"}})
	if a.Description != "Bad Request: QUOTE_TEXT_INVALID" {
		t.Errorf("got %+v", a)
	}
}
