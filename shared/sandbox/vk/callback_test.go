package vk_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/vk"
)

func TestCallback_ServerIsSetUpThroughTheAPI(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h, address := b.listen()
	var code struct{ Code string }
	b.result("groups.getCallbackConfirmationCode", fmt.Sprintf("group_id=%d", group), &code)
	if code.Code != "c0de" {
		t.Errorf("got code %q", code.Code)
	}
	var added struct {
		ID int64 `json:"server_id"`
	}
	b.result("groups.addCallbackServer", fmt.Sprintf("group_id=%d&url=%s&title=main&secret_key=abc", group, url.QueryEscape(address)), &added)
	b.waitFor(func(calls []fault.Call) bool { return calls[len(calls)-1].Method == vk.CallbackMethod })
	var servers struct {
		Items []struct{ Status string }
	}
	b.result("groups.getCallbackServers", fmt.Sprintf("group_id=%d", group), &servers)
	if len(servers.Items) != 1 || servers.Items[0].Status != "ok" {
		t.Errorf("got %+v, want one server that has confirmed", servers)
	}
	c := anna(b)
	c.Write("before the settings")
	b.result("groups.setCallbackSettings", fmt.Sprintf("group_id=%d&server_id=%d&api_version=5.199&message_new=1", group, added.ID), new(int))
	c.Write("after")
	if p := <-h.got; p.text() != "after" || p.Secret != "abc" {
		t.Errorf("got %q with secret %q, want the second message with the secret", p.text(), p.Secret)
	}
	var settings struct{ Events map[string]int }
	b.result("groups.getCallbackSettings", fmt.Sprintf("group_id=%d&server_id=%d", group, added.ID), &settings)
	if settings.Events["message_new"] != 1 || settings.Events["message_deny"] != 0 {
		t.Errorf("got %v, want message_new alone", settings.Events)
	}
	b.result("groups.deleteCallbackServer", fmt.Sprintf("group_id=%d&server_id=%d", group, added.ID), new(int))
	if code := b.call("groups.getCallbackServers", "group_id=5").Error.Code; code != 15 {
		t.Errorf("got code %d for another community, want 15", code)
	}
}

func TestCallback_WrongConfirmation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h, address := b.listen()
	h.answer(body("another"))
	b.Connect(address)
	anna(b).Write("lost")
	b.waitFor(func(calls []fault.Call) bool { return len(calls) > 0 })
	var servers struct {
		Items []struct{ Status string }
	}
	b.result("groups.getCallbackServers", fmt.Sprintf("group_id=%d", group), &servers)
	if servers.Items[0].Status != "failed" || len(h.got) != 0 {
		t.Errorf("got status %q and %d events, want failed and none", servers.Items[0].Status, len(h.got))
	}
}

func TestCallback_RepeatsUntilOk(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]func(http.ResponseWriter){
		"status": status(500), "other body": body("OK"), "line break": body("ok\n"),
		"status with ok": func(w http.ResponseWriter) { w.WriteHeader(http.StatusCreated); body("ok")(w) },
		"unavailable":    status(503), // without Retry-After
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			h := b.connected()
			h.answer(reply)
			anna(b).Write("x")
			first := <-h.got
			b.settled(1)
			b.clock.move(3 * time.Second)
			b.Kick()
			second := <-h.got
			if first.EventID != second.EventID || first.Retry != "" || second.Retry != "1" {
				t.Errorf("got %s (%q) and %s (%q), want the same event and the second counted", first.EventID, first.Retry, second.EventID, second.Retry)
			}
		})
	}
}

// settled waits until so many deliveries besides the confirmation are over.
func (b *bundle) settled(deliveries int) {
	b.t.Helper()
	b.waitFor(func(calls []fault.Call) bool {
		n := 0
		for _, c := range calls {
			if c.Method == vk.CallbackMethod {
				n++
			}
		}
		return n > deliveries
	})
}

func TestCallback_HonoursRetryAfter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.connected()
	at := b.clock.now().Add(20 * time.Minute)
	h.answer(func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", at.UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	c := anna(b)
	c.Write("later")
	<-h.got
	b.settled(1)
	b.clock.move(19 * time.Minute)
	c.Write("meanwhile")
	if p := <-h.got; p.text() != "meanwhile" {
		t.Errorf("got %q, want the other event to overtake", p.text())
	}
	b.settled(2)
	b.clock.move(time.Minute)
	b.Kick()
	if p := <-h.got; p.text() != "later" {
		t.Errorf("got %q, want the event that was put off", p.text())
	}
}

func TestCallback_RemovesTheServer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.connected()
	h.answer(body("remove"))
	anna(b).Write("x")
	<-h.got
	b.settled(1)
	servers := struct{ Count int }{1}
	b.result("groups.getCallbackServers", fmt.Sprintf("group_id=%d", group), &servers)
	if servers.Count != 0 {
		t.Errorf("got %d servers, want none", servers.Count)
	}
}

func TestCallback_LeavesAFailingServerAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *vk.Config) { c.Patience, c.Pause = 3, time.Hour })
	h := b.connected()
	h.answer(status(500), status(500), status(500))
	c := anna(b)
	for i := range 3 {
		c.Write(fmt.Sprint(i))
		<-h.got
		b.settled(i + 1)
	}
	// After the third failure in a row nothing is called, whatever is due.
	b.clock.move(30 * time.Minute)
	c.Write("3")
	b.Kick()
	if got := b.Undelivered(); got != 4 || len(h.got) != 0 {
		t.Errorf("got %d waiting and %d delivered, want 4 and 0", got, len(h.got))
	}
	b.clock.move(31 * time.Minute)
	b.Kick()
	texts := map[string]bool{}
	for range 4 {
		texts[(<-h.got).text()] = true
	}
	if len(texts) != 4 {
		t.Errorf("got %v, want all four", texts)
	}
}

func TestCallback_Faults(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.connected()
	c := anna(b)
	for _, kind := range []fault.Kind{fault.Drop, fault.Duplicate, fault.Late, fault.Delay} {
		b.faults.Add(fault.Fault{Method: vk.CallbackMethod, Kind: kind, Times: 1})
	}
	for _, text := range []string{"dropped", "doubled", "late", "delayed", "fine"} {
		c.Write(text)
	}
	var texts []string
	for range 4 {
		texts = append(texts, (<-h.got).text())
	}
	b.Kick()
	texts = append(texts, (<-h.got).text())
	if diff := cmp.Diff([]string{"doubled", "doubled", "delayed", "fine", "late"}, texts); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

func TestCallback_SeveralConnectionsOvertake(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *vk.Config) { c.Connections = 2 })
	h := b.connected()
	release := make(chan struct{})
	h.answer(func(w http.ResponseWriter) { <-release; body("ok")(w) })
	c := anna(b)
	c.Write("slow")
	<-h.got
	c.Write("fast")
	if p := <-h.got; p.text() != "fast" {
		t.Errorf("got %q, want the second message while the first is under way", p.text())
	}
	close(release)
}

// TestCallback_Retry: what waits for its time comes now, also to a server that is left
// alone.
func TestCallback_Retry(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *vk.Config) { c.Patience, c.Pause = 1, time.Hour })
	h := b.connected()
	h.answer(status(500))
	anna(b).Write("x")
	first := <-h.got
	b.settled(1)
	b.Retry()
	if second := <-h.got; first.EventID != second.EventID {
		t.Errorf("got %s, want %s again", second.EventID, first.EventID)
	}
}

func TestLongPoll(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := anna(b)
	c.Write("before")
	var at struct{ Key, Server, TS string }
	b.result("groups.getLongPollServer", fmt.Sprintf("group_id=%d", group), &at)
	type result struct {
		TS      string
		Failed  int
		Updates []posted
	}
	check := func(key, ts string) (r result) {
		r.Updates = nil
		b.get(fmt.Sprintf("%s?act=a_check&key=%s&ts=%s&wait=25", at.Server, key, ts), &r)
		return r
	}
	c.Write("one")
	c.Write("two")
	r := check(at.Key, at.TS)
	if len(r.Updates) != 2 || r.Updates[0].text() != "one" || r.Updates[0].Secret != "" {
		t.Errorf("got %+v, want two updates without a secret", r)
	}
	waiting := make(chan result)
	go func() { waiting <- check(at.Key, r.TS) }()
	c.Write("three")
	if r = <-waiting; len(r.Updates) != 1 || r.Updates[0].text() != "three" {
		t.Errorf("got %+v, want the third", r)
	}
	if r := check(at.Key, "x"); r.Failed != 3 {
		t.Errorf("got %+v, want failed 3", r)
	}
	b.ForgetLongPoll()
	if forgotten := check(at.Key, r.TS); forgotten.Failed != 1 || forgotten.TS == "" {
		t.Errorf("got %+v, want failed 1 with a new ts", forgotten)
	}
	b.ExpireLongPoll()
	if r := check(at.Key, r.TS); r.Failed != 2 {
		t.Errorf("got %+v, want failed 2", r)
	}
	b.result("groups.setLongPollSettings", fmt.Sprintf("group_id=%d&enabled=0", group), new(int))
	if code := b.call("groups.getLongPollServer", fmt.Sprintf("group_id=%d", group)).Error.Code; code != 100 {
		t.Errorf("got code %d for a long poll that is switched off, want 100", code)
	}
}
