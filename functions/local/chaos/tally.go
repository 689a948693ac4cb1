package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/broadcast"
	"supportbot/shared/sandbox/fault"
)

// inFlight is how many calls a worker has under way at most; see broadcasting.
const inFlight = 64

// Result is a line of the table: people and broadcasts of a scenario, by what the
// messenger's log says, and how often nobody knows, by ours.
type Result struct {
	Name       string
	Recipients int // of all broadcasts
	Kills      int // ends of workers, by SIGKILL or SIGTERM
	Once       int
	Lost       int // without a message, though nothing says that it may be so
	Twice      int
	Uncertain  int // by our tables; the messages of some of them came
	Took       time.Duration
}

const header = "scenario                            recipients  kills  delivered once  lost  twice  uncertain  seconds"

// String is the line.
func (r Result) String() string {
	return fmt.Sprintf("%-36s %9d %6d %15d %5d %6d %10d %8.0f", r.Name, r.Recipients, r.Kills, r.Once, r.Lost, r.Twice, r.Uncertain, r.Took.Seconds())
}

// shown is how many disagreements are told one by one.
const shown = 5

// listed is a recipient of a broadcast in our tables.
type listed struct {
	text, chat, outcome string
}

// tally counts what people have, and compares that with our tables.
func (w *world) tally(ctx context.Context) (Result, error) {
	r := Result{Name: w.Name, Kills: int(w.kills.Load() + w.stops.Load()), Took: time.Since(w.began)}
	have, err := delivered(w.calls.Since(0))
	if err != nil {
		return r, err
	}
	rows, err := w.db.Query(ctx, `SELECT s.content -> 'texts' ->> 'ru', i.chat, coalesce(r.outcome, '')
		FROM recipients r JOIN batches b ON b.id = r.batch JOIN broadcasts s ON s.id = b.broadcast JOIN identities i ON i.id = r.identity`)
	if err != nil {
		return r, fmt.Errorf("read outcomes: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l listed, err error) {
		err = row.Scan(&l.text, &l.chat, &l.outcome)
		return l, err
	})
	if err != nil {
		return r, fmt.Errorf("read outcomes: %w", err)
	}
	r.Recipients = len(all)
	var problems []error
	for _, l := range all {
		if err := r.count(l, have[message{l.chat, l.text}]); err != nil && len(problems) < shown {
			problems = append(problems, err)
		}
		delete(have, message{l.chat, l.text})
	}
	if len(have) > 0 {
		problems = append(problems, fmt.Errorf("%d messages to nobody in our tables", len(have)))
	}
	return r, errors.Join(append(problems, w.judge(r))...)
}

// count counts one recipient; the error is a disagreement between the messenger and
// our table.
func (r *Result) count(l listed, got int) error {
	o := broadcast.Outcome(l.outcome)
	switch {
	case got == 1:
		r.Once++
	case got > 1:
		r.Twice++
	case o != broadcast.Uncertain && o != broadcast.Blocked:
		r.Lost++
	}
	if o == broadcast.Uncertain {
		r.Uncertain++
		return nil
	}
	if (got > 0) != (o == broadcast.Sent) {
		return fmt.Errorf("%s is %q in our table and has the message %d times", l.chat, l.outcome, got)
	}
	return nil
}

// judge says what must not be.
func (w *world) judge(r Result) error {
	most := 0
	if w.telegram != nil { // VK knows repetitions by their random_id
		most = inFlight*int(w.kills.Load()) + int(w.gate.waited.Load())
	}
	switch {
	case r.Recipients != w.expected():
		return fmt.Errorf("%d recipients, want %d", r.Recipients, w.expected())
	case r.Lost > 0 || r.Twice > 0:
		return fmt.Errorf("%d lost, %d twice", r.Lost, r.Twice)
	case r.Uncertain > most:
		return fmt.Errorf("%d uncertain, at most %d calls were under way when a worker was killed", r.Uncertain, most)
	}
	return nil
}

// message is a text to a chat.
type message struct{ chat, text string }

// delivered counts the messages that a messenger made, by its own log.
func delivered(calls []fault.Call) (map[message]int, error) {
	have := map[message]int{}
	seen := map[string]bool{} // VK's messages: a repetition gives the same one again
	for _, c := range calls {
		var err error
		switch c.Method {
		case "sendMessage":
			err = telegramMessage(c, have)
		case "messages.send":
			err = vkMessages(c, have, seen)
		}
		if err != nil {
			return nil, fmt.Errorf("read call %d: %w", c.N, err)
		}
	}
	return have, nil
}

func telegramMessage(c fault.Call, have map[message]int) error {
	if c.Status != http.StatusOK || !c.Effect {
		return nil
	}
	var sent struct {
		Result struct {
			Text string `json:"text"`
			Chat struct {
				ID int64 `json:"id"`
			} `json:"chat"`
		} `json:"result"`
	}
	if err := json.Unmarshal(c.Result, &sent); err != nil {
		return err
	}
	have[message{strconv.FormatInt(sent.Result.Chat.ID, 10), sent.Result.Text}]++
	return nil
}

func vkMessages(c fault.Call, have map[message]int, seen map[string]bool) error {
	if !c.Effect {
		return nil
	}
	var asked struct {
		Text string `json:"message"`
	}
	var made struct {
		Response []struct {
			Peer    int64           `json:"peer_id"`
			Message int64           `json:"message_id"`
			Error   json.RawMessage `json:"error"`
		} `json:"response"`
	}
	if err := errors.Join(json.Unmarshal(c.Params, &asked), json.Unmarshal(c.Result, &made)); err != nil {
		return err
	}
	for _, m := range made.Response {
		id := fmt.Sprint(m.Peer, ":", m.Message)
		if m.Error != nil || seen[id] {
			continue
		}
		seen[id] = true
		have[message{strconv.FormatInt(m.Peer, 10), strings.TrimSpace(asked.Text)}]++
	}
	return nil
}
