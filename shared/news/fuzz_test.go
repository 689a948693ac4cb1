package news_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"supportbot/shared/env"
	"supportbot/shared/job"
	"supportbot/shared/ticket"
)

var (
	idForm  = regexp.MustCompile(`^[0-9a-zA-Z]*$`)
	keyForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]*-[0-9]+)?$`)
)

// FuzzTrigger: whatever a call carries makes one look at an issue that can exist, or none.
func FuzzTrigger(f *testing.F) {
	for _, body := range []string{
		`{"id":"6571ab","key":"SUP-1"}`, `{"id":1099511627776}`, `{"key":"SUP-1","KEY":"../x"}`, `{"id":{"a":1},"key":["SUP-1"]}`, `{"id":1e400}`,
		`{"id":"{{issue.id}}","key":"{{issue.key}}"}`, `{"id":"a\u0000"}`, `{"id":"6571ab","id":"\ud800"}`, `null`, `[1]`, ``, "\xff", `{"id":-1}`,
		`{"id":"` + strings.Repeat("a", 65) + `","key":"SUP-1234567890123"}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s := &lookStore{}
		w := s.call([]env.Secret{env.NewSecret("secret")}, http.MethodPost, "secret", body)
		if (w.Code == http.StatusOK) != (len(s.made) == 1) || len(s.made) > 1 {
			t.Fatalf("status %d, jobs %+v", w.Code, s.made)
		}
		if len(s.made) == 1 {
			checkLook(t, s.made[0])
		}
		if code := (&lookStore{}).call(nil, http.MethodPost, body, "{}").Code; code != http.StatusForbidden {
			t.Errorf("the secret %q opens what has none: %d", body, code)
		}
	})
}

func checkLook(t *testing.T, j job.New) {
	t.Helper()
	look, is := j.Payload.(ticket.Look)
	if !is || look.ID+look.Key == "" || len(look.ID) > 64 || len(look.Key) > 64 || !idForm.MatchString(look.ID) || !keyForm.MatchString(look.Key) {
		t.Errorf("looks at %+v", j.Payload)
	}
	if strings.ContainsAny(j.Lane.Name+j.Key, "\x00\n/ ") {
		t.Errorf("lane %q, key %q", j.Lane.Name, j.Key)
	}
}
