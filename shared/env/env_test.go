package env_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/env"
)

const canary = "canary-7f3a"

// holders are the ways in which a value may lie inside another.
func holders() map[string]any {
	s := env.Secret(canary)
	type config struct {
		Token  env.Secret
		Tokens []env.Secret
	}
	type outer struct {
		Config config
		Any    any
	}
	c := config{Token: s, Tokens: []env.Secret{s, s}}
	return map[string]any{
		"value":     s,
		"pointer":   &s,
		"pointed":   &c,
		"slice":     []env.Secret{s},
		"struct":    c,
		"nested":    outer{Config: c, Any: s},
		"map value": map[string]env.Secret{"token": s},
		"any":       []any{s, c},
	}
}

func TestSecret_NeverSeen(t *testing.T) {
	t.Parallel()
	hexed := fmt.Sprintf("%x", canary)
	for name, v := range holders() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prints := map[string]string{}
			for _, verb := range strings.Split("v +v #v s q x X d t T b c e f g o O U 5s -40v .3s", " ") {
				prints["%"+verb] = fmt.Sprintf("%"+verb, v)
			}
			prints["Sprint"], prints["Sprintln"] = fmt.Sprint(v), fmt.Sprintln("x", v)
			prints["Errorf"] = fmt.Errorf("use %v: %w", v, errors.New("x")).Error()
			if b, err := json.Marshal(v); err == nil {
				prints["json"] = string(b)
			}
			if b, err := xml.Marshal(v); err == nil {
				prints["xml"] = string(b)
			}
			prints["slog JSON"] = logged(v, func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) })
			prints["slog text"] = logged(v, func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) })
			for how, got := range prints {
				if strings.Contains(got, canary[:3]) || strings.Contains(strings.ToLower(got), hexed[:6]) {
					t.Errorf("%s shows it: %s", how, got)
				}
			}
		})
	}
}

func logged(v any, handler func(*bytes.Buffer) slog.Handler) string {
	var out bytes.Buffer
	slog.New(handler(&out)).Info("x", "v", v, slog.Group("g", slog.Any("v", v)))
	return out.String()
}

func TestSecret_Reveal(t *testing.T) {
	t.Parallel()
	if got := env.Secret(canary).Reveal(); got != canary {
		t.Errorf("Reveal: got %q, want %q", got, canary)
	}
	if got := fmt.Sprint(env.Secret(canary)); got != "[redacted]" {
		t.Errorf("Sprint: got %q, want [redacted]", got)
	}
}

func reader(vars map[string]string) *env.Reader {
	return env.NewReaderFrom(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
}

func TestReader_Values(t *testing.T) {
	t.Parallel()
	r := reader(map[string]string{"TEXT": "x", "EMPTY": "", "N": "-7", "D": "90s", "TOKEN": canary})
	type values struct {
		Text, Empty, Unset, Required string
		Secret, NoSecret             env.Secret
		N, NoN                       int
		D, NoD                       time.Duration
	}
	got := values{
		Text: r.String("TEXT", "f"), Empty: r.String("EMPTY", "f"), Unset: r.String("UNSET", "f"), Required: r.Required("TEXT"),
		Secret: r.RequiredSecret("TOKEN"), NoSecret: r.Secret("UNSET"),
		N: r.Int("N", 1), NoN: r.Int("UNSET", 1), D: r.Duration("D", time.Hour), NoD: r.Duration("EMPTY", time.Hour),
	}
	want := values{
		Text: "x", Empty: "f", Unset: "f", Required: "x", Secret: canary,
		N: -7, NoN: 1, D: 90 * time.Second, NoD: time.Hour,
	}
	if diff := cmp.Diff(want, got); diff != "" || r.Err() != nil {
		t.Errorf("error %v, values (-want +got):\n%s", r.Err(), diff)
	}
}

// A person mends all at once, and sees no value.
func TestReader_AllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	r := reader(map[string]string{"EMPTY": "", "N": canary, "D": canary, "FLOAT": "1.5"})
	r.Required("MISSING")
	r.RequiredSecret("EMPTY")
	if got := r.Int("N", 4); got != 4 {
		t.Errorf("Int: got %d, want the fallback", got)
	}
	r.Int("FLOAT", 4)
	if got := r.Duration("D", time.Minute); got != time.Minute {
		t.Errorf("Duration: got %s, want the fallback", got)
	}
	err := r.Err()
	if err == nil {
		t.Fatal("Err: got nil")
	}
	for _, want := range []string{"MISSING is not set", "EMPTY is not set", "N is not a whole number", "FLOAT is not a whole number", "D is not a duration"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Err: got %v, want also %q", err, want)
		}
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("Err shows a value: %v", err)
	}
}

func TestNewReader_ReadsTheProcess(t *testing.T) { // not parallel: it sets a variable
	t.Setenv("SUPPORTBOT_TEST_VARIABLE", "x")
	if got := env.NewReader().Required("SUPPORTBOT_TEST_VARIABLE"); got != "x" {
		t.Errorf("got %q, want x", got)
	}
}
