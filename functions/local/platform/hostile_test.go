package platform_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
	sandboxtracker "supportbot/shared/sandbox/tracker"
	"supportbot/shared/ticket"
)

// TestHostileCalls: what is forged, oversized, malformed or unknown has the right
// status, ends no process and leaves nothing in the databases.
func TestHostileCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const (
		token = "X-Telegram-Bot-Api-Secret-Token"
		hook  = "X-Webhook-Secret"
	)
	tg := func(update string) call {
		return call{http.MethodPost, "/telegram", http.Header{token: {secret}}, []byte(update)}
	}
	vk := func(rest string) call {
		return call{http.MethodPost, "/vk", http.Header{}, []byte(`{"group_id":209,"v":"5.199","secret":"` + secret + `",` + rest + `}`)}
	}
	tracker := func(body string) call {
		return call{http.MethodPost, "/tracker", http.Header{hook: {secret}}, []byte(body)}
	}
	with := func(c call, change func(*call)) call {
		c.header = c.header.Clone()
		change(&c)
		return c
	}
	huge := strings.Repeat("я", 1<<20)
	message := `{"update_id":1,"message":{"message_id":1,"date":1,"chat":{"id":5,"type":"private"},"from":{"id":5,"first_name":"CANARY"},"text":"CANARY"}}`
	deep := strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000)

	for name, c := range map[string]struct {
		call   call
		status int
	}{
		"telegram, no secret":           {with(tg(message), func(c *call) { c.header.Del(token) }), 403},
		"telegram, wrong secret":        {with(tg(message), func(c *call) { c.header.Set(token, "CANARY-forged") }), 403},
		"telegram, secret of two":       {with(tg(message), func(c *call) { c.header.Set(token, secret+","+secret) }), 403},
		"telegram, too large":           {tg(`{"update_id":1,"message":{"text":"` + huge + `"}}`), 413},
		"telegram, not JSON":            {tg("CANARY{"), 200},
		"telegram, empty":               {tg(""), 200},
		"telegram, null":                {tg("null"), 200},
		"telegram, a list":              {tg("[1,2]"), 200},
		"telegram, deep":                {tg(deep), 200},
		"telegram, no id":               {tg(`{"message":{}}`), 200},
		"telegram, negative id":         {tg(strings.Replace(message, `"update_id":1`, `"update_id":-1`, 1)), 200},
		"telegram, unknown kind":        {tg(`{"update_id":2,"something_of_2031":{"chat":{"id":5}}}`), 200},
		"telegram, empty message":       {tg(`{"update_id":3,"message":{}}`), 200},
		"telegram, message of a list":   {tg(`{"update_id":4,"message":[]}`), 200},
		"telegram, press of nothing":    {tg(`{"update_id":5,"callback_query":{"id":"1","data":"CANARY"}}`), 200},
		"telegram, a poll":              {tg(`{"update_id":6,"poll":{"id":"1"}}`), 200},
		"telegram, GET":                 {with(tg(""), func(c *call) { c.method = http.MethodGet }), 405},
		"vk, no secret":                 {call{http.MethodPost, "/vk", http.Header{}, []byte(`{"type":"message_new","group_id":209,"event_id":"1","object":{}}`)}, 403},
		"vk, wrong secret":              {call{http.MethodPost, "/vk", http.Header{}, []byte(`{"type":"confirmation","group_id":209,"secret":"CANARY"}`)}, 403},
		"vk, another community":         {with(vk(`"type":"confirmation"`), func(c *call) { c.body = bytes.Replace(c.body, []byte("209"), []byte("210"), 1) }), 403},
		"vk, too large":                 {vk(`"type":"message_new","object":"` + huge + `"`), 413},
		"vk, not JSON":                  {call{http.MethodPost, "/vk", http.Header{}, []byte("CANARY")}, 200},
		"vk, unknown kind":              {vk(`"type":"something_of_2031","event_id":"2","object":{}`), 200},
		"vk, empty message":             {vk(`"type":"message_new","event_id":"3","object":{}`), 200},
		"vk, message of a list":         {vk(`"type":"message_new","event_id":"4","object":[]`), 200},
		"vk, no event id":               {vk(`"type":"message_event","object":{"user_id":5,"peer_id":5,"payload":{}}`), 200},
		"vk, GET":                       {with(vk(`"type":"x"`), func(c *call) { c.method = http.MethodGet }), 405},
		"tracker, no secret":            {with(tracker(`{"key":"SUP-1"}`), func(c *call) { c.header.Del(hook) }), 403},
		"tracker, wrong secret":         {with(tracker(`{"key":"SUP-1"}`), func(c *call) { c.header.Set(hook, "CANARY") }), 403},
		"tracker, too large":            {tracker(`{"key":"` + huge + `"}`), 413},
		"tracker, not JSON":             {tracker("CANARY"), 400},
		"tracker, nothing named":        {tracker(`{"id":"","key":""}`), 400},
		"tracker, a path":               {tracker(`{"id":"../../v3/users","key":"A/../B-1"}`), 400},
		"tracker, GET":                  {with(tracker(""), func(c *call) { c.method = http.MethodGet }), 405},
		"unknown path":                  {call{http.MethodPost, "/CANARY", http.Header{}, nil}, 404},
		"telegram, a path of a webhook": {with(tg(message), func(c *call) { c.path = "/telegram/x" }), 404},
	} {
		if got := w.atOnce(c.call)[0]; got != c.status {
			t.Errorf("%s: status %d, want %d", name, got, c.status)
		}
	}
	for _, table := range []string{"people", "identities", "jobs", "lanes", "ticket_cursors"} {
		w.check("rows of "+table, w.count("SELECT count(*) FROM "+table), 0)
	}
	r := w.redis()
	defer func() { _ = r.Close() }()
	for _, key := range r.Keys(w.ctx, "*").Val() {
		if !strings.HasPrefix(key, "mark:missed:") { // how far a duty has come, whatever is called
			t.Errorf("key in Redis: %q", key)
		}
	}
	w.check("calls of Telegram's API", len(w.calls.telegram.Since(0)), 0)
}

// TestForgedButtons: the data of a button can be anything. Nobody sees or changes
// a ticket of somebody else's.
func TestForgedButtons(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	victim := w.telegramCustomer(telegramID)
	// Two of them: one alone would be held off for flooding.
	forgers := []*telegramCustomer{w.telegramCustomer(telegramID + 1), w.telegramCustomer(telegramID + 2)}
	k := opened(w, victim, "Принтер")
	for _, f := range forgers {
		f.start("")
		f.sees("Здравствуйте")
	}
	w.quiet()
	draft := k.Unique[strings.LastIndex(k.Unique, ":")+1:]
	before := k.Version
	for i, data := range []string{
		"v:o:d" + draft, "v:h:d" + draft + ":0", "v:o:i" + k.ID, "v:h:i" + k.ID + ":0", "r:d" + draft + ":1", "r:i" + k.ID + ":5", "r:i" + k.ID + ":99999",
		"t:re:d" + draft, "t:re:i" + k.ID, "t:add:i" + k.ID, "t:add:d" + draft, "a:x:t:d" + draft, "f:" + draft + ":k:ok", "f::::", "", "v:o:", "v:h:dx:-1", "s:s:9",
		"m:", "zzz", strings.Repeat(":", 64),
	} {
		// A press of each, by hand: a phone would not let them.
		press := fmt.Sprintf(`{"update_id":%d,"callback_query":{"id":"%d","from":{"id":%d,"first_name":"CANARY","is_bot":false},`+
			`"chat_instance":"1","data":%q,"message":{"message_id":2,"date":1,"chat":{"id":%d,"type":"private","first_name":"CANARY"}}}}`,
			1<<40+i, 1<<40+i, forgers[i%2].c.ID(), data, forgers[i%2].c.ID())
		w.delivered(call{http.MethodPost, "/telegram", http.Header{"X-Telegram-Bot-Api-Secret-Token": {secret}}, []byte(press)})
	}
	forgers[0].write("CANARY-чужое")
	w.again()
	k = w.ticketOf("Принтер")
	if k.Version != before || k.Fields["supportRating"] != "" {
		t.Errorf("the ticket was changed: %s", show(k))
	}
	for _, f := range forgers {
		w.check("what is the victim's", saw(f, "Принтер")+saw(f, "CANARY-описание"), 0)
		w.check("warned of flooding", saw(f, "слишком много"), 0)
	}
}

// TestCanaries: names, texts, phone numbers, names of files and tokens are in no
// log and in no error, also when everything that carries them is refused.
func TestCanaries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.telegramCustomer(telegramID)
	k := opened(w, c, "CANARY-Принтер")
	w.quiet()
	for _, f := range []fault.Fault{
		{Method: "POST /v3/issues/*/comments", Kind: fault.Status, Status: 422, Times: 1},
		{Method: "POST /v3/attachments", Kind: fault.Status, Status: 422, Times: 1},
	} {
		w.faults.tracker.Add(f)
	}
	for _, f := range []fault.Fault{
		{Method: "sendMessage", Kind: fault.Status, Status: 400, Times: 1},
		{Method: "getFile", Kind: fault.CloseBefore, Times: 1},
	} {
		w.faults.telegram.Add(f)
	}
	c.c.Send(telegram.Content{Text: "CANARY-подпись", File: &telegram.File{Kind: "document", Name: "CANARY-договор.pdf", MIME: "application/pdf", Data: []byte("x")}})
	c.c.Send(telegram.Content{Contact: &telegram.Contact{Phone: "+" + phone, FirstName: "CANARY-Пётр"}})
	c.c.Send(telegram.Content{Location: &telegram.Location{Latitude: 55, Longitude: 37, Title: "CANARY-офис", Address: "CANARY-улица"}})
	w.again()
	w.check("messages that wait for a person", w.count(`SELECT count(*) FROM jobs WHERE state = 'needs_review'`), 1)
	for _, f := range []fault.Fault{
		{Method: "sendMessage", Kind: fault.CloseAfter, Times: 1},
		{Method: "sendDocument", Kind: fault.HTMLBefore, Times: 1},
	} {
		w.faults.telegram.Add(f)
	}
	w.reply(k, "CANARY-ответ", sandboxtracker.NewFile{Name: "CANARY-счёт.txt", Data: []byte("x")})
	w.poll("the answer is tried", func() bool { return len(w.faults.telegram.List()) < 2 })
	w.again()
	w.hosts.vk.stop()
	w.vkCustomer(vkID).write("CANARY-в пустоту")
	w.parked(ticket.KindNotice)
	w.check("faults that nobody met", len(w.faults.tracker.List())+len(w.faults.telegram.List()), 0)
	if !strings.Contains(show(w.tracker.Tickets()), phone) {
		t.Error("the phone number did not reach the ticket: the test shows nothing")
	}
}
