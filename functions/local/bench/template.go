package bench

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// template is a JSON text about a ticket in which its id, its key and its times are
// left open.
type template []piece

// piece is a text that is as it is, and what comes after it.
type piece struct {
	text []byte
	next gap
	at   time.Time // of a time
}

type gap int

const (
	end gap = iota
	theID
	theKey
	aTime
)

// timeForm is Tracker's.
const timeForm = "2006-01-02T15:04:05.000-0700"

// newTemplate makes a template of what a Tracker said about one ticket.
func newTemplate(raw []byte, id, key string) (t template, err error) {
	gaps := regexp.MustCompile(`(` + regexp.QuoteMeta(id) + `)|(` + regexp.QuoteMeta(key) + `)\b|(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4})`)
	from := 0
	for _, at := range gaps.FindAllSubmatchIndex(raw, -1) {
		p := piece{text: raw[from:at[0]]}
		switch {
		case at[2] >= 0:
			p.next = theID
		case at[4] >= 0:
			p.next = theKey
		default:
			p.next = aTime
			if p.at, err = time.Parse(timeForm, string(raw[at[6]:at[7]])); err != nil {
				return nil, fmt.Errorf("read time: %w", err)
			}
		}
		t = append(t, p)
		from = at[1]
	}
	return append(t, piece{text: raw[from:]}), nil
}

// append writes the text about ticket number n, whose times are later by shift.
func (t template) append(to []byte, n int, shift time.Duration) []byte {
	for _, p := range t {
		to = append(to, p.text...)
		switch p.next {
		case theID:
			to = fmt.Appendf(to, "%024x", n+1)
		case theKey:
			to = strconv.AppendInt(append(to, "SUP-"...), int64(n+1), 10)
		case aTime:
			to = p.at.Add(shift).UTC().AppendFormat(to, timeForm)
		case end:
		}
	}
	return to
}

// numberOf reads the id that append writes.
func numberOf(id string) (n int, ok bool) {
	v, err := strconv.ParseInt(id, 16, 64)
	return int(v) - 1, err == nil && v > 0 && len(id) == 24
}
