package env_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the machine may have none

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/env"
)

func reader(vars map[string]string) *env.Reader {
	return env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
}

func TestReader_Values(t *testing.T) {
	t.Parallel()
	r := reader(map[string]string{"TEXT": "x", "EMPTY": "", "N": "-7", "D": "90s", "TOKEN": canary, "ZONE": "Asia/Tokyo"})
	type values struct {
		Text, Empty, Unset, Required string
		Secret                       env.Secret
		N, NoN                       int
		D, NoD                       time.Duration
		Zone, NoZone                 string
	}
	got := values{
		Text: r.String("TEXT", "f"), Empty: r.String("EMPTY", "f"), Unset: r.String("UNSET", "f"), Required: r.Required("TEXT"),
		Secret: r.RequiredSecret("TOKEN"),
		N:      r.Int("N", 1), NoN: r.Int("UNSET", 1), D: r.Duration("D", time.Hour), NoD: r.Duration("EMPTY", time.Hour),
		Zone: r.Zone("ZONE", "UTC").String(), NoZone: r.Zone("UNSET", "Europe/Moscow").String(),
	}
	want := values{
		Text: "x", Empty: "f", Unset: "f", Required: "x", Secret: env.NewSecret(canary),
		N: -7, NoN: 1, D: 90 * time.Second, NoD: time.Hour, Zone: "Asia/Tokyo", NoZone: "Europe/Moscow",
	}
	if diff := cmp.Diff(want, got); diff != "" || r.Err() != nil {
		t.Errorf("error %v, values (-want +got):\n%s", r.Err(), diff)
	}
}

// A person mends all at once, and sees no value.
func TestReader_AllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	r := reader(map[string]string{"EMPTY": "", "COMMAS": " ,, ", "N": canary, "D": canary, "FLOAT": "1.5", "ZONE": canary})
	r.Required("MISSING")
	r.RequiredSecrets("COMMAS")
	r.RequiredSecret("EMPTY")
	if got := r.Int("N", 4); got != 4 {
		t.Errorf("Int: got %d, want the fallback", got)
	}
	r.Int("FLOAT", 4)
	if got := r.Duration("D", time.Minute); got != time.Minute {
		t.Errorf("Duration: got %s, want the fallback", got)
	}
	if got := r.Zone("ZONE", "Europe/Moscow"); got == nil {
		t.Error("Zone: got nil")
	}
	err := r.Err()
	if err == nil {
		t.Fatal("Err: got nil")
	}
	for _, want := range []string{"MISSING is not set", "EMPTY is not set", "COMMAS is not set", "N is not a whole number", "FLOAT is not a whole number", "D is not a duration", "ZONE is not a time zone"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Err: got %v, want also %q", err, want)
		}
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("Err shows a value: %v", err)
	}
}

func TestReader_SecretsWhileRotating(t *testing.T) {
	t.Parallel()
	r := reader(map[string]string{"TWO": " old, new ,", "ONE": "only"})
	two := []env.Secret{env.NewSecret("old"), env.NewSecret("new")}
	if got := r.RequiredSecrets("TWO"); !slices.Equal(got, two) {
		t.Errorf("got %d secrets, want old and new", len(got))
	}
	if got := r.Secrets("ONE"); !slices.Equal(got, []env.Secret{env.NewSecret("only")}) {
		t.Errorf("got %d secrets, want one", len(got))
	}
	if got := r.Secrets("UNSET"); got != nil || r.Err() != nil {
		t.Errorf("got %d secrets and %v, want none and no problem", len(got), r.Err())
	}
}

func TestNewReader_ReadsTheProcess(t *testing.T) { // not parallel: it sets a variable
	t.Setenv("SUPPORTBOT_TEST_VARIABLE", "x")
	if got := env.NewReader().Required("SUPPORTBOT_TEST_VARIABLE"); got != "x" {
		t.Errorf("got %q, want x", got)
	}
}
