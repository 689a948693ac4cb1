package env_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"supportbot/shared/env"
)

const canary = "canary-7f3a"

// holders are the ways in which a value may lie inside another.
func holders() map[string]any {
	s := env.NewSecret(canary)
	type config struct {
		Token  env.Secret
		Tokens []env.Secret
	}
	type hidden struct {
		token  env.Secret
		tokens []env.Secret
		inner  struct{ token *env.Secret }
		byKey  map[env.Secret]env.Secret
		any    any
		few    [2]env.Secret
	}
	type outer struct {
		Config config
		Any    any
		hidden
	}
	type embedding struct{ env.Secret }
	c := config{Token: s, Tokens: []env.Secret{s, s}}
	h := hidden{token: s, tokens: []env.Secret{s}, byKey: map[env.Secret]env.Secret{s: s}, any: s, few: [2]env.Secret{s, s}}
	h.inner.token = &s
	return map[string]any{
		"value":               s,
		"pointer":             &s,
		"pointed":             &c,
		"slice":               []env.Secret{s},
		"array":               [1]env.Secret{s},
		"struct":              c,
		"unexported":          h,
		"unexported, pointed": &h,
		"nested":              outer{Config: c, Any: h, hidden: h},
		"embedded":            embedding{s},
		"map value":           map[string]env.Secret{"token": s},
		"map key":             map[env.Secret]string{s: "token"},
		"any":                 []any{s, c, h, &h},
		"error":               fmt.Errorf("use %v: %w", h, errors.New("x")),
	}
}

// prints is a value in every way in which people print things: all letters as
// verbs, those too that fmt does not know, with flags.
func prints(v any) map[string]string {
	all := map[string]string{"Sprint": fmt.Sprint(v), "Sprintln": fmt.Sprintln("x", v)}
	for verb := 'A'; verb <= 'z'; verb++ {
		for _, flags := range []string{"", "+", "#", "-40", ".40", " ", "0"} {
			format := "%" + flags + string(verb)
			all[format] = fmt.Sprintf(format, v)
		}
	}
	for _, format := range []string{"%*d", "", "%[3]d", "%!"} { // mistakes that fmt reports
		all[format] = fmt.Sprintf(format, v, v)
	}
	if b, err := json.Marshal(v); err == nil {
		all["json"] = string(b)
	}
	if b, err := xml.Marshal(v); err == nil {
		all["xml"] = string(b)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err == nil {
		all["gob"] = b.String()
	}
	if s, ok := v.(fmt.Stringer); ok { // as code that has only texts to pass on calls it
		all["String"] = s.String()
	}
	if s, ok := v.(fmt.GoStringer); ok {
		all["GoString"] = s.GoString()
	}
	all["slog JSON"] = logged(v, func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) })
	all["slog text"] = logged(v, func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) })
	return all
}

func logged(v any, handler func(*bytes.Buffer) slog.Handler) string {
	var out bytes.Buffer
	slog.New(handler(&out)).Info("x", slog.Any("v", v), slog.Group("g", slog.Any("v", v)))
	return out.String()
}

// shapes are the forms in which the value could be seen.
func shapes() []string {
	word := canary[:6]
	return []string{
		word, fmt.Sprintf("%x", word), fmt.Sprintf("% x", word), strings.Trim(fmt.Sprintf("%#v", []byte(word)), "[]byte{}"),
		strings.Trim(fmt.Sprintf("%d", []byte(word)), "[]"), strings.Trim(fmt.Sprintf("%o", []byte(word)), "[]"),
		strings.Trim(fmt.Sprintf("%b", []byte(word)), "[]"), strings.Trim(fmt.Sprintf("%U", []byte(word)), "[]"),
		strings.Trim(fmt.Sprintf("%c", []byte(word)), "[]"), base64.StdEncoding.EncodeToString([]byte(word)),
	}
}

func TestSecret_NeverSeen(t *testing.T) {
	t.Parallel()
	for name, v := range holders() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, got := range prints(v) {
				for _, shape := range shapes() {
					if strings.Contains(strings.ToLower(got), strings.ToLower(shape)) {
						t.Errorf("%s shows it: %s", how, got)
					}
				}
			}
		})
	}
}

// The judge itself: of a mere string nearly every way shows it.
func TestSecret_TheTestWouldSeeIt(t *testing.T) {
	t.Parallel()
	for _, v := range []any{canary, []byte(canary), struct{ token string }{canary}} {
		seen := 0
		for _, got := range prints(v) {
			for _, shape := range shapes() {
				if strings.Contains(strings.ToLower(got), strings.ToLower(shape)) {
					seen++
					break
				}
			}
		}
		if seen < 50 {
			t.Errorf("%T is seen in %d ways only", v, seen)
		}
	}
}

func TestSecret_IsRedactedWhereItIsAsked(t *testing.T) {
	t.Parallel()
	s := env.NewSecret(canary)
	for _, got := range []string{fmt.Sprint(s), fmt.Sprintf("%q", s), fmt.Sprintf("%x", s), fmt.Sprintf("%#v", s), fmt.Sprintf("%d", s)} {
		if got != "[redacted]" {
			t.Errorf("got %q, want [redacted]", got)
		}
	}
	b, err := json.Marshal(map[string]any{"token": s, "keys": map[env.Secret]int{s: 1}})
	if want := `{"keys":{"[redacted]":1},"token":"[redacted]"}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
}

func TestSecret_Value(t *testing.T) {
	t.Parallel()
	s := env.NewSecret(canary)
	if got := s.Reveal(); got != canary || s.Empty() {
		t.Errorf("got %q, empty %v", got, s.Empty())
	}
	if s != env.NewSecret(strings.Clone(canary)) || s == env.NewSecret("another") {
		t.Error("secrets are not compared by their value")
	}
	var none env.Secret
	if none != env.NewSecret("") || !none.Empty() || none.Reveal() != "" {
		t.Errorf("the zero secret: %q, empty %v", none.Reveal(), none.Empty())
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	one, two := env.NewSecret(canary), env.NewSecret("other")
	tests := []struct {
		name    string
		secrets []env.Secret
		given   string
		want    bool
	}{
		{"the only one", []env.Secret{one}, canary, true},
		{"the first of two", []env.Secret{one, two}, canary, true},
		{"the second of two", []env.Secret{two, one}, canary, true},
		{"the same twice", []env.Secret{one, one}, canary, true},
		{"wrong", []env.Secret{one, two}, canary + "x", false},
		{"a beginning", []env.Secret{one}, canary[:6], false},
		{"none given", []env.Secret{one}, "", false},
		{"none there", nil, canary, false},
		{"none there, none given", nil, "", false},
		{"an empty one, none given", []env.Secret{{}}, "", false},
	}
	for _, tc := range tests {
		if got := env.Match(tc.secrets, tc.given); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
