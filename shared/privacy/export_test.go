package privacy

import (
	"testing"
)

// Where a file is fetched from is a secret; which ticket something is about is none.
func TestPresentable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"a file":       {`{"message":{"attachments":[{"kind":"photo","ref":"https://x/?key=CANARY","name":"p.jpg"}]}}`, `{"message":{"attachments":[{"kind":"photo","name":"p.jpg"}]}}`},
		"an album":     {`[{"key":"k","payload":{"ref":"CANARY"}}]`, `[{"key":"k","payload":{}}]`},
		"a ticket":     {`{"ref":{"draft":"d1"}}`, `{"ref":{"draft":"d1"}}`},
		"a long id":    {`{"id":9223372036854775807}`, `{"id":9223372036854775807}`},
		"nothing":      {``, ``},
		"not readable": {`{"ref":"CANARY`, ``},
	} {
		if got := string(presentable([]byte(tc.in))); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
