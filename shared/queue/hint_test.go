package queue_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/queue"
)

func TestParseHint(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		want queue.Hint
		ok   bool
	}{
		"job":                 {`{"job":12}`, queue.Hint{Job: 12}, true},
		"correlation":         {`{"job":12,"correlation_id":"telegram:77:1001"}`, queue.Hint{Job: 12, CorrelationID: "telegram:77:1001"}, true},
		"newer producer":      {`{"job":12,"new":{"a":1}}`, queue.Hint{Job: 12}, true},
		"largest":             {`{"job":9223372036854775807}`, queue.Hint{Job: math.MaxInt64}, true},
		"delay is not read":   {`{"job":12,"Delay":5}`, queue.Hint{Job: 12}, true},
		"empty":               {``, queue.Hint{}, false},
		"not JSON":            {`job=12`, queue.Hint{}, false},
		"two values":          {`{"job":12}{"job":13}`, queue.Hint{}, false},
		"null":                {`null`, queue.Hint{}, false},
		"list":                {`[12]`, queue.Hint{}, false},
		"no job":              {`{"correlation_id":"x"}`, queue.Hint{}, false},
		"job zero":            {`{"job":0}`, queue.Hint{}, false},
		"negative job":        {`{"job":-1}`, queue.Hint{}, false},
		"job is text":         {`{"job":"12"}`, queue.Hint{}, false},
		"job is a fraction":   {`{"job":1.5}`, queue.Hint{}, false},
		"job too large":       {`{"job":9223372036854775808}`, queue.Hint{}, false},
		"correlation is none": {`{"job":12,"correlation_id":7}`, queue.Hint{}, false},
		"very deep":           {strings.Repeat("[", 100000), queue.Hint{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := queue.ParseHint(tc.body)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err == nil) != tc.ok {
				t.Errorf("got error %v, hint (-want +got):\n%s", err, diff)
			}
			if err != nil && (!errors.Is(err, queue.ErrNotHint) || strings.Contains(err.Error(), "job=")) {
				t.Errorf("error: got %q, want %q that does not quote the body", err, queue.ErrNotHint)
			}
		})
	}
}

func TestHint_Body(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ю", 200)
	tests := map[string]struct{ id, want string }{
		"plain":             {"telegram:77:1001", "telegram:77:1001"},
		"emoji":             {"😀ю", "😀ю"},
		"control character": {"a\x00\x1bb", "a\x00\x1bb"},
		"too long":          {long, long[:256]},
		"cut inside a rune": {"x" + long, "x" + long[:254]},
		"no characters":     {"a\uFFFE\uFFFFb", "a\uFFFE\uFFFFb"},
		"not UTF-8":         {"a\xffb", "ab"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := queue.Hint{Job: 5, CorrelationID: tc.id}.Body()
			if strings.ContainsFunc(body, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("body %q has characters that the queue refuses", body)
			}
			got, err := queue.ParseHint(body)
			if want := (queue.Hint{Job: 5, CorrelationID: tc.want}); got != want || err != nil {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func FuzzParseHint(f *testing.F) {
	f.Add(`{"job":12,"correlation_id":"telegram:77:1001"}`)
	f.Add(`{"job":"12"}`)
	f.Fuzz(func(t *testing.T, body string) {
		h, err := queue.ParseHint(body)
		if err != nil {
			return
		}
		again, err := queue.ParseHint(h.Body())
		if h.Job <= 0 || !utf8.ValidString(h.CorrelationID) || again != h || err != nil {
			t.Errorf("hint %+v, again %+v, %v", h, again, err)
		}
	})
}
