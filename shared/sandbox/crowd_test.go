package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"supportbot/shared/sandbox"
	"supportbot/shared/sandbox/crowd"
	"supportbot/shared/sandbox/vk"
)

const crowdMost = 100_000

// found is what a search in the crowd answers.
type found struct {
	People []struct{ ID, Name, Username, Last, State string }
}

func TestCrowd(t *testing.T) {
	t.Parallel()
	for _, messenger := range []string{"telegram", "vk"} {
		t.Run(messenger, func(t *testing.T) {
			t.Parallel()
			var registered []sandbox.Newcomer
			b := setup(t, func(c *sandbox.Config) {
				c.Register = func(_ context.Context, m string, list []sandbox.Newcomer) error {
					if m != messenger {
						return fmt.Errorf("of %s", m)
					}
					registered = append(registered, list...)
					return nil
				}
			})
			people := len(b.people(messenger))
			got := b.made(messenger, 500)
			if got != [2]int{500, 500} || len(registered) != 500 {
				t.Fatalf("%v were made, %d registered, want 500", got, len(registered))
			}
			if got := b.made(messenger, crowdMost); got != [2]int{crowdMost - 500, crowdMost} || len(registered) != crowdMost {
				t.Errorf("%v were made, %d registered, want the rest up to %d", got, len(registered), crowdMost)
			}
			if again := b.do("POST", "chats/"+messenger+"/crowd", map[string]int{"count": 1}); again.status != http.StatusBadRequest {
				t.Errorf("one more: status %d, want 400", again.status)
			}
			if n := len(b.people(messenger)); n != people {
				t.Errorf("%d people are listed, want %d as before", n, people)
			}
			b.reaches(messenger, registered[70_007])
			if n := len(b.people(messenger)); n != people+1 {
				t.Errorf("%d people are listed, want one more than %d", n, people)
			}
		})
	}
}

// reaches sends somebody a message as the bot does, finds them by their nick, takes
// them in hand and lets them answer.
func (b *bundle) reaches(messenger string, n sandbox.Newcomer) {
	b.t.Helper()
	id := strconv.FormatInt(n.ID, 10)
	if messenger == "telegram" {
		b.telegram("sendMessage", map[string]any{"chat_id": id, "text": "News"})
	} else {
		b.vk("messages.send", url.Values{"peer_id": {id}, "random_id": {"7"}, "message": {"News"}})
	}
	var f found
	b.must("GET", "chats/"+messenger+"/crowd?find="+id, nil).into(b.t, &f)
	if len(f.People) != 1 || f.People[0].ID != id || f.People[0].Name != n.Name || f.People[0].Last != "News" || f.People[0].State != "open" {
		b.t.Fatalf("found %+v, want %+v with the news", f, n)
	}
	b.must("POST", "chats/"+messenger+"/"+id+"/take", struct{}{})
	b.must("POST", "chats/"+messenger+"/"+id+"/start", map[string]string{"payload": "x"})
	if c := b.chat(messenger, id); len(c.Put) != 2 || !c.Put[0].Out || c.Put[1].Out {
		b.t.Errorf("their chat is %+v, want the news and what they wrote", c.Put)
	}
}

func TestCrowd_Refusals(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *sandbox.Config) {
		c.Register = func(context.Context, string, []sandbox.Newcomer) error { return errors.New("no database") }
	})
	for name, test := range map[string]struct {
		path   string
		body   any
		status int
	}{
		"nobody":                     {"chats/vk/crowd", map[string]int{"count": 0}, http.StatusBadRequest},
		"too many":                   {"chats/vk/crowd", map[string]int{"count": crowdMost + 1}, http.StatusBadRequest},
		"no number":                  {"chats/vk/crowd", map[string]string{"count": "many"}, http.StatusBadRequest},
		"a messenger that is none":   {"chats/icq/crowd", map[string]int{"count": 1}, http.StatusNotFound},
		"the platform does not know": {"chats/telegram/crowd", map[string]int{"count": 1}, http.StatusInternalServerError},
		"a stranger":                 {"chats/telegram/" + strconv.FormatInt(crowd.First+5, 10) + "/take", struct{}{}, http.StatusNotFound},
	} {
		if r := b.do("POST", test.path, test.body); r.status != test.status {
			t.Errorf("%s: status %d, want %d: %s", name, r.status, test.status, r.body)
		}
	}
}

// vk calls VK as the community.
func (b *bundle) vk(method string, params url.Values) {
	b.t.Helper()
	params.Set("access_token", b.VKToken)
	params.Set("v", vk.Version)
	r, err := http.NewRequestWithContext(b.ctx, http.MethodPost, b.VKURL+"/method/"+method, strings.NewReader(params.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if got := b.send(r); strings.Contains(string(got.body), `"error"`) {
		b.t.Fatalf("%s: %s", method, got.body)
	}
}

// made lets people be made up, and gives how many there are more and in all.
func (b *bundle) made(messenger string, n int) [2]int {
	b.t.Helper()
	var out struct{ Added, Total int }
	b.must("POST", "chats/"+messenger+"/crowd", map[string]int{"count": n}).into(b.t, &out)
	return [2]int{out.Added, out.Total}
}
