package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"supportbot/shared/messenger"
	"supportbot/shared/sandbox/telegram"
	"supportbot/shared/sandbox/vk"
)

// delivered is how a webhook call went.
type delivered struct {
	status int
	took   time.Duration
}

// line carries the messengers' webhook calls and times them.
type line struct {
	next http.RoundTripper

	mu      sync.Mutex
	waiting map[int64]chan delivered // by customer
}

// Ids of customers: found in no other place of an update.
const (
	firstTelegram = 3_300_000_000_000
	firstVK       = 4_400_000_000_000
	mostCustomers = 1_000_000
)

// customerIn gives the first number of an update that is a customer's id; 0 if none.
func customerIn(body []byte) int64 {
	for i := 0; i < len(body); i++ {
		var n int64
		for ; i < len(body) && body[i] >= '0' && body[i] <= '9'; i++ {
			n = n*10 + int64(body[i]-'0')
		}
		for _, first := range []int64{firstTelegram, firstVK} {
			if n >= first && n < first+mostCustomers {
				return n
			}
		}
	}
	return 0
}

// RoundTrip implements http.RoundTripper.
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	id := customerIn(data)
	if bytes.Contains(data, []byte(`"from_id":-`)) {
		id = 0 // VK tells of the community's own messages too
	}
	began := time.Now()
	res, err := l.next.RoundTrip(r)
	d := delivered{took: time.Since(began)}
	if err == nil {
		d.status = res.StatusCode
	}
	l.mu.Lock()
	ch := l.waiting[id]
	l.mu.Unlock()
	if ch != nil {
		ch <- d
	}
	return res, err
}

// person is a customer in one messenger.
type person struct {
	id    int64
	write func(text string)
	press func(label string) error
	done  chan delivered
	turn  int       // what they do next
	last  time.Time // when they did something
}

// breath is between two things that a person does: within a messenger's limit for one
// chat, since an answer over it would become a job.
const breath = 1200 * time.Millisecond

func (w *outside) person(id int64, write func(string), press func(string) error) *person {
	p := &person{id: id, write: write, press: press, done: make(chan delivered, 64)}
	w.line.mu.Lock()
	defer w.line.mu.Unlock()
	w.line.waiting[id] = p.done
	return p
}

// newcomer is the n-th customer of a messenger.
func (w *outside) newcomer(name messenger.Name, n int) *person {
	if name == messenger.VK {
		return w.onVK(n)
	}
	return w.onTelegram(n)
}

func (w *outside) onTelegram(n int) *person {
	c := w.telegram.Customer(telegram.User{ID: firstTelegram + int64(n), FirstName: "Иван", LastName: "Петров", Username: "ivan" + strconv.Itoa(n), Language: "ru"})
	return w.person(c.ID(), func(text string) { c.Write(text) }, func(label string) error {
		for _, m := range w.telegram.Chat(c.Chat()) {
			for _, row := range m.Keyboard {
				for _, b := range row {
					if b.Text == label {
						_, _, err := c.Press(m.ID, b.Data)
						return err
					}
				}
			}
		}
		return fmt.Errorf("no button %q", label)
	})
}

func (w *outside) onVK(n int) *person {
	id := int64(firstVK + n)
	c := w.vk.Customer(vk.User{ID: id, FirstName: "Мария", LastName: "Соколова"})
	return w.person(id, func(text string) { c.Write(text) }, func(label string) error {
		for _, m := range w.vk.Chat(c.Peer()) {
			if _, _, err := c.Press(m.ID, label); err == nil {
				return nil
			}
		}
		return fmt.Errorf("no button %q", label)
	})
}

var errRefused = errors.New("an update was not taken")

// does makes a person do something and waits until the platform is through with it.
func (p *person) does(ctx context.Context, do func() error) (time.Duration, error) {
	time.Sleep(time.Until(p.last.Add(breath)))
	p.last = time.Now()
	if err := do(); err != nil {
		return 0, err
	}
	select {
	case d := <-p.done:
		if d.status != http.StatusOK {
			return 0, fmt.Errorf("%w: status %d after %s", errRefused, d.status, d.took)
		}
		return d.took, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *person) says(ctx context.Context, text string) (time.Duration, error) {
	return p.does(ctx, func() error { p.write(text); return nil })
}
