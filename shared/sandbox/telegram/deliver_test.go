package telegram_test

import (
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/fault"
	"supportbot/shared/sandbox/telegram"
)

// Messages of one chat come in order and one at a time; other chats do not wait.
func TestWebhook_Order(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.connected()
	release := make(chan struct{})
	h.answer(func(http.ResponseWriter) { <-release })
	c, other := b.started(), b.started()
	m := b.send(c, "menu", fields{"reply_markup": keyboard(`[[{"text":"a","callback_data":"go"}]]`)})
	id := c.Write("first")
	if got := b.take(h).text(); got != "first" {
		t.Fatalf("got %q", got)
	}
	c.Write("second")
	if err := c.Edit(id, telegram.Content{Text: "first, edited"}); err != nil {
		t.Fatal(err)
	}
	c.Write("third")
	other.Write("other")
	if _, _, err := c.Press(m.ID, "go"); err != nil {
		t.Fatal(err)
	}
	overtaking := []string{b.take(h).text(), b.take(h).text()}
	slices.Sort(overtaking)
	if want := []string{"other", "press go"}; !slices.Equal(overtaking, want) {
		t.Errorf("while the first is under way got %v, want %v", overtaking, want)
	}
	close(release)
	var rest []string
	for range 3 {
		rest = append(rest, b.take(h).text())
	}
	if want := []string{"second", "edit first, edited", "third"}; !slices.Equal(rest, want) {
		t.Errorf("got %v, want %v", rest, want)
	}
}

// Presses of one user come one at a time, too.
func TestWebhook_OrderOfPresses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.connected()
	release := make(chan struct{})
	h.answer(func(http.ResponseWriter) { <-release })
	c := b.started()
	m := b.send(c, "menu", fields{"reply_markup": keyboard(`[[{"text":"a","callback_data":"1"},{"text":"b","callback_data":"2"}]]`)})
	for _, data := range []string{"1", "2"} {
		if _, _, err := c.Press(m.ID, data); err != nil {
			t.Fatal(err)
		}
	}
	b.take(h)
	b.started().Write("another lane")
	if got := b.take(h).text(); got != "another lane" {
		t.Errorf("got %q while the first press is under way", got)
	}
	close(release)
	if got := b.take(h).text(); got != "press 2" {
		t.Errorf("got %q", got)
	}
}

// A failed call comes again at once, then after 2, 4, 8... 64 s, then at random
// between 60 and 120 s.
func TestWebhook_Retries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.connected()
	for range 12 {
		h.answer(status(http.StatusInternalServerError))
	}
	c := b.started()
	c.Write("x")
	calls := b.calledTimes(2)
	waits := []time.Duration{0, 2, 4, 8, 16, 32, 64}
	for _, wait := range waits[1:] {
		b.clock.move(wait*time.Second - time.Millisecond)
		b.Kick() // too early
		b.clock.move(time.Millisecond)
		b.Kick()
		calls = b.calledTimes(len(calls) + 1)
	}
	for i, wait := range waits {
		if got := calls[i+1].At.Sub(calls[i].At); got != wait*time.Second {
			t.Errorf("call %d came %v after the one before, want %v", i+2, got, wait*time.Second)
		}
	}
	b.clock.move(time.Minute - time.Millisecond)
	b.Kick() // too early
	b.clock.move(time.Minute)
	b.Kick()
	calls = b.calledTimes(len(calls) + 1)
	if got := calls[8].At.Sub(calls[7].At); got < time.Minute || got > 2*time.Minute {
		t.Errorf("the ninth call came %v after the eighth, want 60-120 s", got)
	}
	for i, call := range calls {
		if call.Effect || call.Status != http.StatusInternalServerError || string(call.Params) != string(calls[0].Params) {
			t.Errorf("call %d: got %+v", i, call)
		}
	}
	var info struct {
		Pending   int    `json:"pending_update_count"`
		LastError string `json:"last_error_message"`
		URL       string `json:"url"`
	}
	b.result("getWebhookInfo", nil, &info)
	if info.Pending != 1 || info.LastError != "Wrong response from the webhook: 500 Internal Server Error" || info.URL == "" {
		t.Errorf("got %+v", info)
	}
}

// Retry does what waiting would do.
func TestWebhook_Retry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.connected()
	h.answer(status(500), status(500))
	c := b.started()
	c.Write("first")
	c.Write("second")
	b.calledTimes(2)
	b.Retry()
	b.calledTimes(4)
	var got []string
	for range 4 {
		got = append(got, b.take(h).text())
	}
	if want := []string{"first", "first", "first", "second"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	b.empty()
}

// empty waits until nothing is left to deliver.
func (b *bundle) empty() {
	b.t.Helper()
	changes, cancel := b.Subscribe()
	defer cancel()
	for b.Undelivered() > 0 {
		select {
		case <-changes:
		case <-b.ctx.Done():
			b.t.Fatalf("%d updates are left", b.Undelivered())
		}
	}
}

func TestWebhook_RetryAfter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ asked, waits time.Duration }{
		"honoured": {90 * time.Second, 90 * time.Second},
		"clamped":  {9000 * time.Second, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			h := b.connected()
			h.answer(func(w http.ResponseWriter) {
				w.Header().Set("Retry-After", strconv.Itoa(int(tt.asked.Seconds())))
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			b.started().Write("x")
			b.calledTimes(1)
			b.clock.move(tt.waits - time.Second)
			b.Kick() // too early
			b.clock.move(time.Second)
			b.Kick()
			calls := b.calledTimes(2)
			if got := calls[1].At.Sub(calls[0].At); got != tt.waits {
				t.Errorf("the second call came after %v, want %v", got, tt.waits)
			}
			b.empty()
		})
	}
}

func TestWebhook_Success(t *testing.T) {
	t.Parallel()
	for code, delivered := range map[int]bool{200: true, 204: true, 299: true, 302: false, 400: false, 410: false, 503: false} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			h := b.connected()
			h.answer(status(code))
			b.started().Write("x")
			if got := b.calledTimes(1)[0].Effect; got != delivered {
				t.Errorf("got %v, want %v", got, delivered)
			}
		})
	}
}

func TestWebhook_Expiry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.started()
	m := b.send(c, "menu", fields{"reply_markup": keyboard(`[[{"text":"a","callback_data":"go"}]]`)})
	c.Write("lives for a day")
	if _, _, err := c.Press(m.ID, "go"); err != nil {
		t.Fatal(err)
	}
	b.clock.move(150 * time.Second)
	if got := b.Undelivered(); got != 2 {
		t.Errorf("got %d, want 2", got)
	}
	b.clock.move(time.Second)
	if got := b.Undelivered(); got != 1 {
		t.Errorf("got %d updates after 151 s, want the message alone", got)
	}
	h := b.connected()
	if got := b.take(h).text(); got != "lives for a day" {
		t.Errorf("got %q", got)
	}
	c.Write("too late")
	b.empty()
	b.Connect("http://127.0.0.1:1/", "") // nobody listens there
	c.Write("lost")
	b.calledTimes(4)
	b.clock.move(24*time.Hour + time.Second)
	if got := b.Undelivered(); got != 0 {
		t.Errorf("got %d updates after a day, want none", got)
	}
}

func TestWebhook_Faults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault fault.Fault
		want  []string // before Kick
		then  []string // after it
	}{
		"drop":      {fault.Fault{Kind: fault.Drop}, []string{"b", "c"}, nil},
		"duplicate": {fault.Fault{Kind: fault.Duplicate}, []string{"a", "a", "b", "c"}, nil},
		"late":      {fault.Fault{Kind: fault.Late}, []string{"b", "c"}, []string{"a"}},
		"delay":     {fault.Fault{Kind: fault.Delay, Wait: time.Millisecond}, []string{"a", "b", "c"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			h := b.connected()
			tt.fault.Method, tt.fault.Times = telegram.WebhookMethod, 1
			b.faults.Add(tt.fault)
			c := b.started()
			for _, text := range []string{"a", "b", "c"} {
				c.Write(text)
			}
			take := func(n int) []string {
				var got []string
				ids := map[string]int64{}
				for range n {
					u := b.take(h)
					if before := ids[u.text()]; before != 0 && before != u.ID {
						t.Errorf("%s came with ids %d and %d", u.text(), before, u.ID)
					}
					ids[u.text()] = u.ID
					got = append(got, u.text())
				}
				return got
			}
			if diff := cmp.Diff(tt.want, take(len(tt.want))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			b.Kick()
			if diff := cmp.Diff(tt.then, take(len(tt.then))); diff != "" {
				t.Errorf("after Kick (-want +got):\n%s", diff)
			}
			b.empty()
		})
	}
}
