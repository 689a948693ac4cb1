package delivery_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"supportbot/shared/backend/backendtest"
	"supportbot/shared/wiring/wiringtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, backendtest.Goroutines()...) }

func TestAnswer_Formatted(t *testing.T) {
	t.Parallel()
	for name, c := range wiringtest.EachMessenger() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wiringtest.New(t)
			k := r.Open(c, "d1")
			r.Reply(k, "/reply Проверьте **кабель**")
			said := r.Said(c)
			last := said[len(said)-1]
			if !strings.Contains(last.Text, "кабель") || strings.Contains(last.Text, "/reply") || strings.Contains(last.Text, "**") {
				t.Errorf("said %+v", last)
			}
		})
	}
}
