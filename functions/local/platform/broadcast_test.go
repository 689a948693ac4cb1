package platform_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
)

const apiKey = "SECRET-CANARY-api-key"

// api calls the notification API and decodes a success into out; it gives the status
// and the text of what was answered. Like any caller it repeats what nobody answered.
func (w *world) api(method, path string, body, out any, headers ...string) (status int, text string) {
	w.t.Helper()
	w.poll("an answer of the API", func() bool {
		status, text = w.call(method, path, body, out, headers)
		return status != http.StatusBadGateway && status != http.StatusServiceUnavailable
	})
	return status, text
}

func (w *world) call(method, path string, body, out any, headers []string) (int, string) {
	w.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.ctx, method, w.url+path, bytes.NewReader(raw))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", apiKey)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if out != nil && res.StatusCode < 300 {
		if err := json.Unmarshal(text, out); err != nil {
			w.t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
	return res.StatusCode, string(text)
}

// key makes the API key that api uses.
func (w *world) key() {
	w.t.Helper()
	hash := sha256.Sum256([]byte(apiKey))
	w.exec(`INSERT INTO api_keys (name, role, hash) VALUES ('test', 'admin', $1)`, hash[:])
}

// registered lets so many people write to the bot.
func (w *world) registered(like customer, n int) (all []customer) {
	w.t.Helper()
	for i := range n {
		var c customer
		if like.address().Messenger == messenger.Telegram {
			c = w.telegramCustomer(telegramID + 100 + int64(i))
		} else {
			c = w.vkCustomer(vkID + 100 + int64(i))
		}
		c.write("/start")
		all = append(all, c)
	}
	for _, c := range all {
		c.sees("бот поддержки")
	}
	return all
}

func news(text string) map[string]any {
	return map[string]any{"kind": "news", "texts": map[string]string{"ru": text}, "audience": map[string]any{}}
}

// sent creates a broadcast.
func (w *world) sent(key string, body map[string]any) (b broadcast.Broadcast) {
	w.t.Helper()
	if status, text := w.api("POST", "/v1/broadcasts", body, &b, "Idempotency-Key", key); status != http.StatusAccepted {
		w.t.Fatalf("create: %d %s", status, text)
	}
	return b
}

// finished waits for a state of a broadcast.
func (w *world) became(id int64, want broadcast.State) (b broadcast.Broadcast) {
	w.t.Helper()
	w.until("the broadcast is "+string(want), 1, `SELECT count(*) FROM broadcasts WHERE id = $1 AND state = $2`, id, string(want))
	if status, text := w.api("GET", fmt.Sprintf("/v1/broadcasts/%d", id), nil, &b); status != http.StatusOK {
		w.t.Fatalf("get: %d %s", status, text)
	}
	return b
}

// TestBroadcast: from the call of the API to everybody's phone, once each; whoever
// does not want news, has blocked the bot or is banned gets none.
func TestBroadcast(t *testing.T) {
	t.Parallel()
	eachMessenger(t, func(t *testing.T, w *world, c customer) {
		w.key()
		all := w.registered(c, 8)
		all[0].write("/settings")
		all[0].press("✅ Новости")
		all[1].block()
		w.until("one has blocked", 1, `SELECT count(*) FROM identities WHERE NOT reachable`)
		w.until("one wants no news", 1, `SELECT count(*) FROM people WHERE NOT news`)
		w.exec(`UPDATE people SET banned_at = now() WHERE id = (SELECT person_id FROM identities WHERE chat = $1)`, all[2].address().Chat)

		body := news("Вышла **новая** версия & <ещё>")
		body["buttons"] = []any{map[string]any{"labels": map[string]string{"ru": "Подробнее"}, "url": "https://example.com/news"}}
		b := w.sent("news-1", body)
		again := w.sent("news-1", body)
		if again.ID != b.ID {
			t.Errorf("the same Idempotency-Key made broadcasts %d and %d", b.ID, again.ID)
		}
		body["title"] = "other"
		if status, _ := w.api("POST", "/v1/broadcasts", body, nil, "Idempotency-Key", "news-1"); status != http.StatusUnprocessableEntity {
			t.Errorf("the same key with another body: %d", status)
		}
		done := w.became(b.ID, broadcast.Finished)
		if want := (broadcast.Counts{Total: 5, Sent: 5}); done.Counts != want {
			t.Errorf("counts %+v, want %+v", done.Counts, want)
		}
		for i, c := range all {
			want := 1
			if i < 3 {
				want = 0
			}
			w.check(fmt.Sprintf("the news at customer %d", i), saw(c, "версия & <ещё>"), want)
		}
		var p broadcast.Progress
		if status, text := w.api("GET", fmt.Sprintf("/v1/broadcasts/%d/progress", b.ID), nil, &p); status != 200 || p.Counts != done.Counts || p.State != broadcast.Finished {
			t.Errorf("progress: %d %s", status, text)
		}

		// The button below the news ends them, and leaves the news alone.
		all[3].press("Не присылать новости")
		all[3].sees("Больше не будем присылать новости")
		w.check("the news is still there", saw(all[3], "версия & <ещё>"), 1)
		second := w.became(w.sent("news-2", news("Вторая новость")).ID, broadcast.Finished)
		if second.Counts.Sent != 4 {
			t.Errorf("second news: %+v", second.Counts)
		}

		// A correction goes to those who got it, a message to one of them.
		var fix broadcast.Broadcast
		if status, text := w.api("POST", fmt.Sprintf("/v1/broadcasts/%d/correct", second.ID),
			map[string]any{"texts": map[string]string{"ru": "Поправка"}}, &fix, "Idempotency-Key", "fix"); status != http.StatusAccepted {
			t.Fatalf("correct: %d %s", status, text)
		}
		if fixed := w.became(fix.ID, broadcast.Finished); fixed.Counts.Sent != 4 || fixed.Parent != second.ID {
			t.Errorf("correction %+v", fixed)
		}
	})
}

// TestBroadcast_Refusals: clear errors, and nothing is done.
func TestBroadcast_Refusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key()
	hash := sha256.Sum256([]byte("analyst"))
	w.exec(`INSERT INTO api_keys (name, role, hash) VALUES ('analyst', 'analyst', $1)`, hash[:])
	gone := sha256.Sum256([]byte("revoked"))
	w.exec(`INSERT INTO api_keys (name, role, hash, revoked_at) VALUES ('revoked', 'admin', $1, now())`, gone[:])
	with := func(change func(map[string]any)) map[string]any {
		b := news("Текст")
		change(b)
		return b
	}
	for name, tc := range map[string]struct {
		body    any
		headers []string
		status  int
		want    string
	}{
		"no key":            {news("x"), []string{"X-API-Key", ""}, 401, "API key"},
		"wrong key":         {news("x"), []string{"X-API-Key", "guessed"}, 401, "unknown or was revoked"},
		"revoked key":       {news("x"), []string{"X-API-Key", "revoked"}, 401, "unknown or was revoked"},
		"wrong role":        {news("x"), []string{"X-API-Key", "analyst"}, 403, "admin"},
		"no idempotency":    {news("x"), []string{"Idempotency-Key", ""}, 400, "Idempotency-Key"},
		"empty text":        {news(" "), nil, 422, "/texts/ru"},
		"too long":          {news(strings.Repeat("&", 5000)), nil, 422, "too_long"},
		"unknown criterion": {with(func(b map[string]any) { b["audience"] = map[string]any{"city": "x"} }), nil, 422, "city"},
		"unknown messenger": {with(func(b map[string]any) { b["audience"] = map[string]any{"messengers": []string{"icq"}} }), nil, 422, "/audience/messengers/0"},
		"past":              {with(func(b map[string]any) { b["start_at"] = "2020-01-01T00:00:00Z" }), nil, 422, "/start_at"},
		"system to all":     {with(func(b map[string]any) { b["kind"] = "system" }), nil, 422, "/audience/roles"},
		"bad button": {with(func(b map[string]any) {
			b["buttons"] = []any{map[string]any{"labels": map[string]string{"ru": "a"}, "url": "javascript:x"}}
		}), nil, 422, "/buttons/0/url"},
		"bad rate":  {with(func(b map[string]any) { b["rate"] = -1 }), nil, 422, "/rate"},
		"bad hours": {with(func(b map[string]any) { b["hours"] = map[string]string{"from": "9", "to": "21:00", "zone": "UTC"} }), nil, 422, "/hours"},
		"no locale": {with(func(b map[string]any) { b["texts"] = map[string]string{"de": "x"} }), nil, 422, "/texts/de"},
		"too large": {news(strings.Repeat("x", 2<<20)), nil, 413, "1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			headers := append([]string{"Idempotency-Key", name}, tc.headers...)
			if status, text := w.api("POST", "/v1/broadcasts", tc.body, nil, headers...); status != tc.status || !strings.Contains(text, tc.want) {
				t.Errorf("got %d %s, want %d with %q", status, text, tc.status, tc.want)
			}
		})
	}
	w.check("broadcasts", w.count(`SELECT count(*) FROM broadcasts`), 0)

	// Nobody is allowed, and ends at once.
	if b := w.became(w.sent("nobody", news("Никому")).ID, broadcast.Finished); b.Counts != (broadcast.Counts{}) {
		t.Errorf("a broadcast to nobody: %+v", b.Counts)
	}
}

// TestBroadcast_PauseResumeCancel: what is paused goes on with those who have had
// nothing; what is cancelled says what had been sent.
func TestBroadcast_PauseResumeCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key()
	all := w.registered(w.telegramCustomer(telegramID), 12)
	slow := news("Медленно")
	slow["rate"] = 2
	b := w.sent("slow", slow)
	path := fmt.Sprintf("/v1/broadcasts/%d", b.ID)
	w.until("some are sent", 1, `SELECT count(*) FROM (SELECT FROM recipients WHERE outcome = 'sent' LIMIT 1) s`)
	post := func(what string, want int) {
		t.Helper()
		if status, text := w.api("POST", path+"/"+what, nil, nil); status != want {
			t.Fatalf("%s: %d %s", what, status, text)
		}
	}
	post("pause", http.StatusOK)
	paused := w.became(b.ID, broadcast.Paused)
	if paused.Counts.Open() == 0 || paused.Counts.Sent == 0 {
		t.Fatalf("paused with %+v", paused.Counts)
	}
	if status, text := w.api("PATCH", path, map[string]float64{"rate": 15}, nil); status != http.StatusOK {
		t.Fatalf("rate: %d %s", status, text)
	}
	w.check("sends while it is paused", w.count(`SELECT count(*) FROM recipients WHERE outcome = 'sent'`), paused.Counts.Sent)
	post("resume", http.StatusOK)
	post("start", http.StatusOK) // it runs already
	if done := w.became(b.ID, broadcast.Finished); done.Counts.Sent != 12 {
		t.Errorf("finished with %+v", done.Counts)
	}
	for i, c := range all {
		w.check(fmt.Sprintf("the message at customer %d", i), saw(c, "Медленно"), 1)
	}

	slow["texts"] = map[string]string{"ru": "Отменят"}
	b = w.sent("cancelled", slow)
	path = fmt.Sprintf("/v1/broadcasts/%d", b.ID)
	w.until("some are sent", 1, `SELECT count(*) FROM (SELECT FROM recipients r JOIN batches x ON x.id = r.batch WHERE x.broadcast = $1 AND outcome = 'sent' LIMIT 1) s`, b.ID)
	post("cancel", http.StatusOK)
	done := w.became(b.ID, broadcast.Cancelled)
	got := 0
	for _, c := range all {
		got += saw(c, "Отменят")
	}
	if done.Counts.Sent != got || done.Counts.Open() != 0 || done.Counts.Skipped != 12-got {
		t.Errorf("cancelled with %+v, %d customers have it", done.Counts, got)
	}
}

// TestBroadcast_Hours: nothing goes out outside the hours, and nothing is a failure.
func TestBroadcast_Hours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key()
	all := w.registered(w.telegramCustomer(telegramID), 3)
	now := time.Now().UTC()
	later := news("Не сейчас")
	later["hours"] = map[string]string{
		"from": now.Add(3 * time.Hour).Format("15:04"), "to": now.Add(4 * time.Hour).Format("15:04"), "zone": "UTC",
	}
	w.sent("later", later)
	w.until("the batch waits for its hours", 1, `SELECT count(*) FROM jobs
		WHERE kind = 'broadcast.batch' AND state = 'queued' AND attempts = 0 AND run_at > clock_timestamp() + interval '2 hours'`)
	for i, c := range all {
		w.check(fmt.Sprintf("the message at customer %d", i), saw(c, "Не сейчас"), 0)
	}
}

// TestBroadcast_Overtaken: a maintenance notice goes before running news.
func TestBroadcast_Overtaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key()
	w.registered(w.telegramCustomer(telegramID), 10)
	slow := news("Новость")
	slow["rate"] = 0.1 // so slow that it does not end before the notice
	first := w.sent("news", slow)
	w.until("it runs", 1, `SELECT count(*) FROM (SELECT FROM recipients WHERE outcome = 'sent' LIMIT 1) s`)
	urgent := news("Работы в полночь")
	urgent["kind"] = "maintenance"
	if done := w.became(w.sent("works", urgent).ID, broadcast.Finished); done.Counts.Sent != 10 {
		t.Errorf("notice %+v", done.Counts)
	}
	if open := w.count(`SELECT count(*) FROM recipients r JOIN batches b ON b.id = r.batch WHERE b.broadcast = $1 AND outcome IS NULL`, first.ID); open == 0 {
		t.Error("the news was not overtaken")
	}
	if status, text := w.api("PATCH", fmt.Sprintf("/v1/broadcasts/%d", first.ID), map[string]float64{"rate": 0}, nil); status != 200 {
		t.Fatalf("rate: %d %s", status, text)
	}
	if done := w.became(first.ID, broadcast.Finished); done.Counts.Sent != 10 {
		t.Errorf("news %+v", done.Counts)
	}
}

// TestBroadcast_Refused: who is asked to wait gets it later, others go on; a blocked
// one is remembered as such.
func TestBroadcast_Refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key()
	all := w.registered(w.telegramCustomer(telegramID), 6)
	w.quiet()
	w.faults.telegram.Add(fault.Fault{Method: "sendMessage", Kind: fault.Status, Status: 429, RetryAfter: 3, Times: 1})
	b := w.sent("news", news("Новость"))
	if done := w.became(b.ID, broadcast.Finished); done.Counts.Sent != 6 {
		t.Errorf("finished with %+v", done.Counts)
	}
	for i, c := range all {
		w.check(fmt.Sprintf("the news at customer %d", i), saw(c, "Новость"), 1)
	}
	// One blocks the bot without its being told.
	w.exec(`UPDATE identities SET reachable = true`)
	all[0].block()
	w.quiet()
	w.exec(`UPDATE identities SET reachable = true, unreachable_since = NULL`)
	if done := w.became(w.sent("more", news("Ещё")).ID, broadcast.Finished); done.Counts.Sent != 5 || done.Counts.Blocked != 1 {
		t.Errorf("finished with %+v", done.Counts)
	}
	w.until("the blocked one is noted", 1, `SELECT count(*) FROM identities WHERE NOT reachable`)
}

// sending reports whether the process that dies at a point may have messages of a
// broadcast under way: those of the plan's first batches begin when they are published.
func sending(point string) bool {
	planned := strings.HasPrefix(point, broadcast.KindPlan+"/") && !strings.HasSuffix(point, "/"+job.HookBegun)
	return planned || strings.Contains(point, "/send/")
}

// dieBroadcasting: everybody has it once. On Telegram, which knows no repetitions,
// those whose call was under way are uncertain, counted and not sent to again.
func dieBroadcasting(w *world, c customer, points []string) {
	w.key()
	all := w.registered(c, 6)
	w.quiet()
	w.crash.arm()
	b := w.sent("news", news("Новость"))
	done := w.became(b.ID, broadcast.Finished)
	w.quiet()
	got := 0
	for i, c := range all {
		n := saw(c, "Новость")
		got += n
		if n > 1 {
			w.t.Errorf("customer %d has it %d times", i, n)
		}
	}
	inFlight := c.address().Messenger == messenger.Telegram && slices.ContainsFunc(points, sending)
	switch n := done.Counts; {
	case n.Total != 6 || n.Sent+n.Uncertain != 6:
		w.t.Errorf("counts %+v", n)
	case !inFlight && (got != 6 || n.Sent != 6):
		w.t.Errorf("%d have it, counts %+v", got, n)
	case got < n.Sent || got > n.Sent+n.Uncertain:
		w.t.Errorf("%d have it, counts %+v", got, n)
	}
}
