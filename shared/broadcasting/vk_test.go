package broadcasting_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/fault"
)

func vkError(code int) string {
	return fmt.Sprintf(`{"error":{"error_code":%d,"error_msg":"CANARY words of VK's"}}`, code)
}

// peers are the chats of a call.
func peers(form url.Values) []string { return strings.Split(form.Get("peer_ids"), ",") }

// TestVK_OneOfMany: what is wrong with one of 25 is not wrong with the others.
func TestVK_OneOfMany(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.VK, 50)
	s.lie(func(w http.ResponseWriter, method string, form url.Values, next http.Handler, r *http.Request) bool {
		if method != "messages.send" {
			return false
		}
		return rewrite(w, next, r, func(items []map[string]any) []map[string]any {
			for _, item := range items {
				switch i := slices.Index(chats, fmt.Sprint(int64(item["peer_id"].(float64)))); i {
				case 3, 4, 30:
					item["error"] = map[string]any{"code": map[int]int{3: 900, 4: 901, 30: 902}[i]}
				case 31:
					item["error"] = map[string]any{"code": 914}
				case 32: // nobody has heard of it: VK will say it again, and the broadcast has to end
					item["error"] = map[string]any{"code": 4321}
				}
			}
			return items
		})
	})
	id := s.planned()
	s.until("it ends", s.is(id, broadcast.Finished))
	s.want(id, broadcast.Counts{Total: 50, Sent: 45, Blocked: 3, Failed: 2})
	if n := len(s.calls("messages.send")); n != 2 {
		t.Errorf("%d calls for 50 people, want 2", n)
	}
	if n := s.number(`SELECT count(*) FROM identities WHERE NOT reachable`); n != 3 {
		t.Errorf("%d cannot be written to, want 3", n)
	}
	if n := s.number(`SELECT count(*) FROM recipients WHERE error LIKE '%CANARY%'`); n != 0 {
		t.Error("the messenger's own words are kept")
	}
}

// rewrite lets the fake act and changes its answer.
func rewrite(w http.ResponseWriter, next http.Handler, r *http.Request, change func([]map[string]any) []map[string]any) bool {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	var answer struct {
		Response []map[string]any `json:"response"`
	}
	if json.Unmarshal(rec.Body.Bytes(), &answer) != nil {
		return false
	}
	answerJSON(w, map[string]any{"response": change(answer.Response)})
	return true
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// TestVK_WholeCall: a call that fails as a whole says nothing of each of its chats.
// Whoever can be written to gets one message, in the end.
func TestVK_WholeCall(t *testing.T) {
	t.Parallel()
	for _, code := range []int{900, 901, 902, 7, 6, 9, 10, 100, 914} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			s := newStudio(t)
			chats := s.people(messenger.VK, 30)
			var whole atomic.Int64
			s.refuses(func(method string, form url.Values) (int, string) {
				if method == "messages.send" && len(peers(form)) > 1 && whole.Add(1) <= 2 {
					return 200, vkError(code)
				}
				return 0, ""
			})
			id := s.planned()
			s.until("it ends", func() bool { s.passed(); return s.is(id, broadcast.Finished)() })
			s.want(id, broadcast.Counts{Total: 30, Sent: 30})
			s.each(chats, 1)
			if n := s.number(`SELECT count(*) FROM identities WHERE NOT reachable`); n != 0 {
				t.Errorf("%d are taken for unreachable", n)
			}
		})
	}
}

// TestVK_Poison: one chat for which VK refuses every call that names it takes no other
// along.
func TestVK_Poison(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]broadcast.Counts{
		901: {Total: 30, Sent: 29, Blocked: 1}, 100: {Total: 30, Sent: 29, Failed: 1},
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			s := newStudio(t)
			chats := s.people(messenger.VK, 30)
			s.refuses(func(method string, form url.Values) (int, string) {
				if method == "messages.send" && slices.Contains(peers(form), chats[7]) {
					return 200, vkError(code)
				}
				return 0, ""
			})
			id := s.planned()
			s.until("it ends", func() bool { s.passed(); return s.is(id, broadcast.Finished)() })
			s.want(id, want)
			s.each(slices.Delete(slices.Clone(chats), 7, 8), 1)
			s.each(chats[7:8], 0)
		})
	}
}

// TestVK_Answers: an answer that is lost, or that is not about those who were asked
// for, gives nobody a second message and leaves nobody out.
func TestVK_Answers(t *testing.T) {
	t.Parallel()
	foreign := map[string]any{"peer_id": 5, "message_id": 1, "conversation_message_id": 1}
	for name, change := range map[string]func([]map[string]any) []map[string]any{
		"fewer":   func(items []map[string]any) []map[string]any { return items[:len(items)/2] },
		"none":    func([]map[string]any) []map[string]any { return nil },
		"more":    func(items []map[string]any) []map[string]any { return append(items, foreign) },
		"foreign": func(items []map[string]any) []map[string]any { return append(items[1:], foreign) },
		"doubled": func(items []map[string]any) []map[string]any { return append(items, items...) },
		"turned":  func(items []map[string]any) []map[string]any { slices.Reverse(items); return items },
		"no messages": func(items []map[string]any) []map[string]any {
			delete(items[0], "conversation_message_id")
			return items
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t)
			chats := s.people(messenger.VK, 26)
			var calls atomic.Int64
			s.lie(func(w http.ResponseWriter, method string, _ url.Values, next http.Handler, r *http.Request) bool {
				if method != "messages.send" || calls.Add(1) > 2 {
					return false
				}
				return rewrite(w, next, r, change)
			})
			s.ends(chats)
		})
	}
	for _, kind := range []fault.Kind{fault.CloseAfter, fault.HTMLAfter, fault.CloseBefore, fault.HTMLBefore} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStudio(t)
			chats := s.people(messenger.VK, 26)
			s.faults.vk.Add(fault.Fault{Method: "messages.send", Kind: kind, Times: 3})
			s.ends(chats)
		})
	}
}

// ends: a broadcast to all of them ends with one message for each.
func (s *studio) ends(chats []string) {
	s.t.Helper()
	id := s.planned()
	s.until("it ends", s.is(id, broadcast.Finished))
	s.want(id, broadcast.Counts{Total: len(chats), Sent: len(chats)})
	s.each(chats, 1)
}

// TestVK_SameCallAgain: a call whose end nobody knows is made again for the chats
// that it had, under the number that it had, also when VK asks to wait between.
func TestVK_SameCallAgain(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.VK, 25)
	var n atomic.Int64
	s.lie(func(w http.ResponseWriter, method string, _ url.Values, next http.Handler, r *http.Request) bool {
		if method != "messages.send" {
			return false
		}
		switch n.Add(1) {
		case 1: // takes effect, and the answer is lost
			next.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusBadGateway)
		case 2:
			answerJSON(w, json.RawMessage(vkError(9)))
		case 3:
			answerJSON(w, json.RawMessage(vkError(6)))
		default:
			return false
		}
		return true
	})
	id := s.planned()
	s.until("the first call is made", func() bool { return n.Load() > 0 })
	for _, chat := range chats[:2] { // others are told to wait
		s.pacer.Refused(s.ctx, messenger.Address{Messenger: messenger.VK, Bot: vkBot, Chat: chat}, time.Minute)
	}
	s.exec(`UPDATE jobs SET run_at = now() WHERE open AND state = 'queued'`)
	s.work(s.ctx, time.Minute)
	s.until("it ends", func() bool { s.passed(); return s.is(id, broadcast.Finished)() })
	s.want(id, broadcast.Counts{Total: 25, Sent: 25})
	s.each(chats, 1)
	numbers := map[string]bool{}
	for _, form := range s.calls("messages.send") {
		numbers[form.Get("random_id")+" "+form.Get("peer_ids")] = true
	}
	if len(numbers) != 1 {
		t.Errorf("calls %v, want one, made again", numbers)
	}
}

// TestVK_Language: who changes the language between two looks changes nobody else's.
func TestVK_Language(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	chats := s.people(messenger.VK, 10)
	s.store.beforeClaim = func([]int) error {
		s.exec(`UPDATE people SET locale = 'en' WHERE id = (SELECT min(id) FROM people)`)
		return nil
	}
	id := s.planned(func(b *broadcast.Spec) {
		b.Texts, b.Fallback = map[string]string{"ru": "Новость", "en": "News"}, "ru"
	})
	s.until("it ends", s.is(id, broadcast.Finished))
	s.each(chats, 1)
	for _, form := range s.calls("messages.send") {
		if got := form.Get("message"); got != "Новость" {
			t.Errorf("%d people got %q", len(peers(form)), got)
		}
	}
}
