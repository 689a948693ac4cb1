package builder_test

import (
	"strings"
	"testing"
	"time"

	"supportbot/.ci/package/builder"
)

func TestUsage_Judge(t *testing.T) {
	t.Parallel()
	fits := builder.Usage{CPU: 150 * time.Second, Files: builder.MaxFiles, Together: builder.MaxMemory, Wall: time.Hour}
	if err := fits.Judge(); err != nil {
		t.Errorf("at the limits: %v", err)
	}
	tests := map[string]struct {
		change func(*builder.Usage)
		want   string
	}{
		"time":   {func(u *builder.Usage) { u.CPU += time.Second }, "5m2s"},
		"files":  {func(u *builder.Usage) { u.Files++ }, "files"},
		"memory": {func(u *builder.Usage) { u.Together++ }, "memory"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := fits
			tc.change(&u)
			if err := u.Judge(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}
