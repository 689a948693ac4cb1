package broadcasting_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
)

// TestTelegram_Outcomes: each refusal is one recipient's, and is remembered where it
// says that somebody cannot be written to.
func TestTelegram_Outcomes(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.Telegram, 8)
	answers := map[string]string{
		chats[0]: `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`,
		chats[1]: `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`,
		chats[2]: `{"ok":false,"error_code":400,"description":"Bad Request: something new"}`,
		chats[3]: `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":` + chats[7] + `}}`,
		chats[4]: `{"ok":false,"error_code":500,"description":"Internal Server Error"}`,
		chats[5]: `{"ok":true,"result":{}}`,
	}
	s.exec(`DELETE FROM identities WHERE chat = $1`, chats[7]) // it is where the group moves to
	s.refuses(func(_ string, form url.Values) (int, string) { return 200, answers[form.Get("chat_id")] })
	id := s.planned()
	s.until("it ends", s.is(id, broadcast.Finished))
	s.want(id, broadcast.Counts{Total: 7, Sent: 2, Blocked: 2, Failed: 1, Uncertain: 2})
	s.each(chats[6:], 1)
	if want := []string{chats[3] + " -> " + chats[7]}; !slices.Equal(s.moved, want) {
		t.Errorf("moved %q, want %q", s.moved, want)
	}
	for i, chat := range chats[:7] {
		if i == 3 {
			chat = chats[7]
		}
		want := 1
		if i < 2 {
			want = 0
		}
		if n := s.number(`SELECT count(*) FROM identities WHERE chat = $1 AND reachable`, chat); n != want {
			t.Errorf("chat %d can be written to: %d, want %d", i, n, want)
		}
	}
	if n := len(s.calls("sendMessage")); n != 8 { // the moved one twice
		t.Errorf("%d calls, want 8: nothing is sent twice", n)
	}
}

const tooMany = `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after %d","parameters":{"retry_after":%d}}`

// TestTelegram_OneHasToWait: three hours of one chat are nobody else's, and no
// failure; after them it gets its message.
func TestTelegram_OneHasToWait(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.Telegram, 30)
	s.refuses(func(_ string, form url.Values) (int, string) {
		if form.Get("chat_id") == chats[10] {
			return 429, fmt.Sprintf(tooMany, 3*3600, 3*3600)
		}
		return 0, ""
	})
	id := s.planned()
	s.until("the job waits for the one", func() bool {
		return s.number(`SELECT count(*) FROM jobs WHERE kind = 'broadcast.batch' AND state = 'queued'
			AND run_at > clock_timestamp() + interval '2 hours 50 minutes'`) == 1
	})
	s.want(id, broadcast.Counts{Total: 30, Sent: 29})
	s.each(slices.Delete(slices.Clone(chats), 10, 11), 1)
	s.refuses(func(string, url.Values) (int, string) { return 0, "" })
	s.passed()
	s.until("it ends", s.is(id, broadcast.Finished))
	s.want(id, broadcast.Counts{Total: 30, Sent: 30})
	s.each(chats, 1)
}

// TestTelegram_AllHaveToWait: when it is the messenger that asks to wait it is left
// alone but for probes, and nobody is lost.
func TestTelegram_AllHaveToWait(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.Telegram, 300)
	s.refuses(func(string, url.Values) (int, string) { return 429, fmt.Sprintf(tooMany, 3*3600, 3*3600) })
	id := s.planned()
	s.until("the job waits", func() bool {
		return s.number(`SELECT count(*) FROM jobs WHERE kind = 'broadcast.batch' AND state = 'queued' AND run_at > clock_timestamp() + interval '5 seconds'`) == 1
	})
	s.want(id, broadcast.Counts{Total: 300})
	if n := len(s.calls("sendMessage")); n > 128 {
		t.Errorf("%d calls to a messenger that asks to wait", n)
	}
	if n := s.number(`SELECT count(*) FROM jobs WHERE open AND run_at > clock_timestamp() + interval '1 minute'`); n != 0 {
		t.Error("nobody probes for a minute")
	}
	s.refuses(func(string, url.Values) (int, string) { return 0, "" })
	s.passed()
	s.until("it ends", s.is(id, broadcast.Finished))
	s.want(id, broadcast.Counts{Total: 300, Sent: 300})
	s.each(chats, 1)
}
