package vk_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/vk"
)

func anna(b *bundle) *vk.Customer {
	return b.Customer(vk.User{ID: 1<<40 + 1, FirstName: "Анна", LastName: "К", Allowed: true})
}

func TestAPI_RefusesStrangers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, tt := range map[string]struct {
		method string
		params url.Values
		code   int
	}{
		"no token":       {"users.get", url.Values{"v": {vk.Version}}, 5},
		"wrong token":    {"users.get", url.Values{"v": {vk.Version}, "access_token": {"x"}}, 5},
		"no version":     {"users.get", url.Values{"access_token": {token}}, 8},
		"old version":    {"users.get", url.Values{"access_token": {token}, "v": {"5.131"}}, 8},
		"unknown method": {"messages.shout", url.Values{"access_token": {token}, "v": {vk.Version}}, 3},
	} {
		if got := b.raw(tt.method, tt.params).Error.Code; got != tt.code {
			t.Errorf("%s: got code %d, want %d", name, got, tt.code)
		}
	}
	for _, c := range b.calls.Since(0) {
		if strings.Contains(string(c.Params)+string(c.Result), token) {
			t.Errorf("the log shows the token: %s", c.Params)
		}
	}
}

func TestAPI_TakesTheTokenFromTheHeader(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, err := http.NewRequestWithContext(b.ctx, http.MethodPost, b.url+"/method/users.get", strings.NewReader("v=5.199&user_ids=1"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || string(a.Response) != "[]" {
		t.Errorf("got %s, %v, want an empty list", a.Response, err)
	}
}

func TestAPI_TwentyCallsPerSecond(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 20 {
		if code := b.call("users.get", "user_ids=1").Error.Code; code != 0 {
			t.Fatalf("call %d: got code %d", i, code)
		}
	}
	if code := b.call("users.get", "user_ids=1").Error.Code; code != 6 {
		t.Errorf("got code %d for the 21st call, want 6", code)
	}
	b.clock.move(time.Second)
	if code := b.call("users.get", "user_ids=1").Error.Code; code != 0 {
		t.Errorf("got code %d a second later, want none", code)
	}
}

func TestSend_Refusals(t *testing.T) {
	t.Parallel()
	const ok = `&random_id=0&message=x`
	keyboard := func(k string) string {
		return "peer_id=1099511627777&random_id=0&message=x&keyboard=" + url.QueryEscape(k)
	}
	buttons := func(rows, columns int, inline bool) string {
		button := `{"action":{"type":"text","label":"x"}}`
		row := "[" + strings.TrimSuffix(strings.Repeat(button+",", columns), ",") + "]"
		return fmt.Sprintf(`{"inline":%v,"one_time":false,"buttons":[%s]}`, inline, strings.TrimSuffix(strings.Repeat(row+",", rows), ","))
	}
	one := func(action, more string) string {
		return keyboard(`{"inline":true,"buttons":[[{"action":` + action + more + `}]]}`)
	}
	for name, tt := range map[string]struct {
		query string
		code  int
	}{
		"nobody":                  {"random_id=0&message=x", 100},
		"unknown person":          {"peer_id=77" + ok, 901},
		"another community":       {"peer_id=-77" + ok, 100},
		"no number":               {"peer_id=anna" + ok, 100},
		"unknown chat":            {"peer_id=2000000009" + ok, 917},
		"no random_id":            {"peer_id=1099511627777&message=x", 100},
		"nothing to say":          {"peer_id=1099511627777&random_id=0", 100},
		"4096 characters":         {"peer_id=1099511627777&random_id=0&message=" + strings.Repeat("я", 4096), 0},
		"4097 characters":         {"peer_id=1099511627777&random_id=0&message=" + strings.Repeat("я", 4097), 914},
		"2049 emoji":              {"peer_id=1099511627777&random_id=0&message=" + strings.Repeat("😀", 2049), 914},
		"101 recipients":          {"peer_ids=" + strings.TrimSuffix(strings.Repeat("1,", 101), ",") + ok, 100},
		"unknown attachment":      {"peer_id=1099511627777&random_id=0&attachment=photo-1_2", 100},
		"payload is not JSON":     {"peer_id=1099511627777&payload=x" + ok, 100},
		"inline 5x2":              {keyboard(buttons(2, 5, true)), 0},
		"inline, six columns":     {keyboard(buttons(1, 6, true)), 911},
		"inline, seven rows":      {keyboard(buttons(7, 1, true)), 911},
		"inline, eleven buttons":  {keyboard(buttons(6, 2, true)), 911},
		"ordinary 5x8":            {keyboard(buttons(8, 5, false)), 0},
		"ordinary, 41 buttons":    {keyboard(buttons(9, 5, false)), 911},
		"ordinary, eleven rows":   {keyboard(buttons(11, 1, false)), 911},
		"empty row":               {keyboard(`{"buttons":[[]]}`), 911},
		"no buttons hides":        {keyboard(`{"buttons":[]}`), 0},
		"buttons missing":         {keyboard(`{"inline":true}`), 911},
		"not JSON":                {keyboard(`buttons`), 911},
		"one_time with inline":    {keyboard(`{"one_time":true,"inline":true,"buttons":[[{"action":{"type":"text","label":"x"}}]]}`), 911},
		"unknown action":          {one(`{"type":"shout","label":"x"}`, ``), 911},
		"no label":                {one(`{"type":"text"}`, ``), 911},
		"label of 40":             {one(`{"type":"text","label":"`+strings.Repeat("ы", 40)+`"}`, ``), 0},
		"label of 41":             {one(`{"type":"text","label":"`+strings.Repeat("ы", 41)+`"}`, ``), 911},
		"payload of 256":          {one(`{"type":"callback","label":"x","payload":"`+strings.Repeat("1", 256)+`"}`, ``), 911},
		"payload of no JSON":      {one(`{"type":"callback","label":"x","payload":"{"}`, ``), 911},
		"link without an address": {one(`{"type":"open_link","label":"x"}`, ``), 911},
		"colour of a link":        {one(`{"type":"open_link","label":"x","link":"https://a.b"}`, `,"color":"primary"`), 911},
		"colour":                  {one(`{"type":"text","label":"x"}`, `,"color":"positive"`), 0},
		"no colour":               {one(`{"type":"text","label":"x"}`, `,"color":"blue"`), 911},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			anna(b)
			if a := b.call("messages.send", tt.query); a.Error.Code != tt.code {
				t.Errorf("got code %d (%s), want %d", a.Error.Code, a.Error.Text, tt.code)
			}
		})
	}
}

func TestSend_RandomID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := anna(b)
	other := b.Customer(vk.User{ID: 5, Allowed: true})
	send := func(peer int64, random int, text string) (id int64) {
		b.result("messages.send", fmt.Sprintf("peer_id=%d&random_id=%d&message=%s", peer, random, text), &id)
		return id
	}
	first, second := send(c.Peer(), 7, "a"), send(c.Peer(), 7, "b")
	if first != second {
		t.Errorf("got %d for a repeated random_id, want %d again", second, first)
	}
	if third := send(other.Peer(), 7, "a"); third == first {
		t.Error("another person got the same message")
	}
	if third, fourth := send(c.Peer(), 0, "c"), send(c.Peer(), 0, "c"); third == fourth {
		t.Error("0 dropped a repetition, want it to switch that off")
	}
	var texts []string
	for _, m := range b.Chat(c.Peer()) {
		texts = append(texts, m.Text)
	}
	if diff := cmp.Diff([]string{"a", "c", "c"}, texts); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

func TestSend_ListSaysWhatIsWrongWithEach(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := anna(b)
	silent := b.Customer(vk.User{ID: 5})
	c.InChat(3)
	type item struct {
		Peer    int64 `json:"peer_id"`
		Message int64 `json:"message_id"`
		CMID    int64 `json:"conversation_message_id"`
		Error   struct{ Code int }
	}
	var got []item
	b.result("messages.send", fmt.Sprintf("peer_ids=%d,%d,2000000003&random_id=1&message=x", c.Peer(), silent.Peer()), &got)
	for i := range got {
		if got[i].Message > 0 {
			got[i].Message = 1 // whichever it is
		}
	}
	want := []item{{Peer: c.Peer(), Message: 1, CMID: 1}, {Peer: 5}, {Peer: 2000000003, CMID: 1}}
	want[1].Error.Code = 901
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

func TestSend_Flood(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *vk.Config) { c.Flood = 3 })
	c := anna(b)
	send := func(random int) int {
		return b.call("messages.send", fmt.Sprintf("peer_id=%d&random_id=%d&message=buy", c.Peer(), random)).Error.Code
	}
	for i := range 3 {
		if code := send(i + 1); code != 0 {
			t.Fatalf("got code %d", code)
		}
	}
	if code := send(4); code != 9 {
		t.Errorf("got code %d, want 9", code)
	}
	if code := send(3); code != 0 {
		t.Errorf("got code %d for a repetition, want none", code)
	}
	b.clock.move(2 * time.Minute)
	if code := send(5); code != 0 {
		t.Errorf("got code %d two minutes later, want none", code)
	}
}

func TestSend_BotFeaturesOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := anna(b)
	b.result("groups.setSettings", fmt.Sprintf("group_id=%d&bots_capabilities=0", group), new(int))
	query := fmt.Sprintf(`peer_id=%d&random_id=1&message=x&keyboard={"buttons":[]}`, c.Peer())
	if code := b.call("messages.send", query).Error.Code; code != 912 {
		t.Errorf("got code %d, want 912", code)
	}
	if code := b.call("groups.getSettings", fmt.Sprintf("group_id=%d", group)).Error.Code; code != 27 {
		t.Errorf("settings: got code %d, want 27: they are told to people's tokens only", code)
	}
}

func TestTokenPermissions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var got struct {
		Mask        int `json:"mask"`
		Permissions []struct {
			Name    string `json:"name"`
			Setting int    `json:"setting"`
		} `json:"permissions"`
	}
	b.result("groups.getTokenPermissions", "", &got)
	if len(got.Permissions) != 4 || got.Mask&got.Permissions[0].Setting == 0 {
		t.Errorf("got %+v", got)
	}
	b.Lack("manage", "docs")
	got.Permissions = nil
	if b.result("groups.getTokenPermissions", "", &got); len(got.Permissions) != 2 || got.Permissions[0].Name != "messages" {
		t.Errorf("got %+v, want messages and photos", got)
	}
}

func TestLongPollSettings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	query := fmt.Sprintf("group_id=%d", group)
	var got struct {
		Enabled bool           `json:"is_enabled"`
		Events  map[string]int `json:"events"`
	}
	b.result("groups.getLongPollSettings", query, &got)
	if !got.Enabled || got.Events["message_new"] != 1 || got.Events["wall_post_new"] != 0 {
		t.Errorf("got %+v", got)
	}
	b.result("groups.setLongPollSettings", query+"&enabled=0&wall_post_new=1", new(int))
	if b.result("groups.getLongPollSettings", query, &got); got.Enabled || got.Events["wall_post_new"] != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestEditAndDelete(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := anna(b)
	id := c.Peer()
	for range 2 {
		b.result("messages.send", fmt.Sprintf("peer_id=%d&random_id=0&message=x", id), new(int))
	}
	theirs := c.Write("mine")
	for query, code := range map[string]int{
		"cmid=1&message=y": 0, "message_id=1&message=z": 0, "cmid=9&message=y": 100, "cmid=1": 100,
		fmt.Sprintf("cmid=%d&message=y", theirs): 920, "cmid=1&message=" + strings.Repeat("x", 4097): 914,
	} {
		if got := b.call("messages.edit", fmt.Sprintf("peer_id=%d&%s", id, query)).Error.Code; got != code {
			t.Errorf("%s: got code %d, want %d", query, got, code)
		}
	}
	var items []struct{ Response int }
	b.result("messages.delete", fmt.Sprintf("peer_id=%d&cmids=2,9&delete_for_all=1", id), &items)
	if len(items) != 2 || items[0].Response != 1 || items[1].Response != 0 {
		t.Errorf("got %v, want the first deleted", items)
	}
	if seen := b.Chat(id); len(seen) != 2 || !seen[0].Edited || seen[1].ID != theirs {
		t.Errorf("got %+v, want an edited message and the customer's", seen)
	}
	b.clock.move(25 * time.Hour)
	if got := b.call("messages.edit", fmt.Sprintf("peer_id=%d&cmid=1&message=y", id)).Error.Code; got != 909 {
		t.Errorf("got code %d a day later, want 909", got)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := anna(b)
	for i := range 5 {
		c.Write(fmt.Sprint(i))
	}
	quiet := b.Customer(vk.User{ID: 5, Allowed: true})
	b.result("messages.send", "peer_id=5&random_id=0&message=answer", new(int))
	var history struct {
		Count int
		Items []struct{ Text string }
	}
	texts := func(query string) string {
		b.result("messages.getHistory", fmt.Sprintf("peer_id=%d&%s", c.Peer(), query), &history)
		s := ""
		for _, m := range history.Items {
			s += m.Text
		}
		return s
	}
	for query, want := range map[string]string{"": "43210", "rev=1": "01234", "count=2&offset=1": "32", "offset=9": ""} {
		if got := texts(query); got != want || history.Count != 5 {
			t.Errorf("%s: got %s of %d, want %s of 5", query, got, history.Count, want)
		}
	}
	var conversations struct {
		Count int
		Items []struct {
			Conversation struct {
				Peer   struct{ ID int64 }
				Unread int `json:"unread_count"`
			}
		}
	}
	b.result("messages.getConversations", "", &conversations)
	if conversations.Count != 2 || conversations.Items[0].Conversation.Peer.ID != quiet.Peer() {
		t.Errorf("got %+v, want the newest first", conversations)
	}
	b.result("messages.getConversations", "filter=unanswered", &conversations)
	if conversations.Count != 1 || conversations.Items[0].Conversation.Unread != 5 {
		t.Errorf("got %+v, want the unanswered one", conversations)
	}
	b.result("messages.markAsRead", fmt.Sprintf("peer_id=%d", c.Peer()), new(int))
	b.result("messages.getConversations", "filter=unread", &conversations)
	if conversations.Count != 0 {
		t.Errorf("got %d unread conversations, want none", conversations.Count)
	}
	b.result("messages.setActivity", fmt.Sprintf("peer_id=%d&type=typing", c.Peer()), new(int))
}

func TestExecute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := anna(b)
	code := fmt.Sprintf(`return [API.messages.send({"peer_id":%d,"random_id":1,"message":"a"}), API.users.get({"user_ids":"%[1]d"}), API.messages.send({"peer_id":77,"random_id":1,"message":"a"})];`, c.Peer())
	a := b.call("execute", "code="+url.QueryEscape(code))
	var results []json.RawMessage
	if err := json.Unmarshal(a.Response, &results); err != nil || len(results) != 3 || string(results[2]) != "false" {
		t.Errorf("got %s, %v, want three results, the last one false", a.Response, err)
	}
	if len(a.ExecuteErrors) != 1 || a.ExecuteErrors[0].Code != 901 {
		t.Errorf("got errors %v, want one of code 901", a.ExecuteErrors)
	}
	if len(b.Chat(c.Peer())) != 1 {
		t.Error("the message was not sent")
	}
	many := "return [" + strings.TrimSuffix(strings.Repeat(`API.users.get({}),`, 26), ",") + "];"
	for code, want := range map[string]int{many: 13, `API.users.get({})`: 12, `return [API.users.get(];`: 12} {
		if got := b.call("execute", "code="+url.QueryEscape(code)).Error.Code; got != want {
			t.Errorf("%.30s: got code %d, want %d", code, got, want)
		}
	}
}
