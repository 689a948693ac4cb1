package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// vkVersion is the version that the schema describes.
const vkVersion = "5.199"

// vkParameter is a parameter of a method; all of them travel as text.
type vkParameter struct {
	Name      string       `json:"name"`
	Type      vkTypes      `json:"type"`
	Ref       string       `json:"$ref"`
	Required  bool         `json:"required"`
	Minimum   *float64     `json:"minimum"`
	Maximum   *float64     `json:"maximum"`
	MaxLength int          `json:"maxLength"`
	MaxItems  int          `json:"maxItems"`
	Enum      []any        `json:"enum"`
	Items     *vkParameter `json:"items"`
}

// vkTypes is one type or several.
type vkTypes []string

// UnmarshalJSON accepts a name and a list of names.
func (t *vkTypes) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = vkTypes{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// Request judges the parameters of a call, without the token.
func (s *VKSpec) Request(method string, params url.Values) error {
	m, ok := s.methods[method]
	if !ok {
		return fmt.Errorf("request: no method %s", method)
	}
	var problems []error
	if v := params.Get("v"); v != vkVersion {
		problems = append(problems, fmt.Errorf("v is %q, want %s", v, vkVersion))
	}
	known := map[string]bool{"access_token": true, "v": true, "lang": true, "test_mode": true, "code": method == "execute"}
	for _, p := range m.Parameters {
		known[p.Name] = true
		// The settings of events know presses of buttons, the schema forgot them.
		known["message_event"] = known["message_event"] || p.Name == "message_new"
		if !params.Has(p.Name) {
			if p.Required {
				problems = append(problems, fmt.Errorf("%s is missing", p.Name))
			}
			continue
		}
		if err := s.parameter(p, params.Get(p.Name)); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", p.Name, err))
		}
	}
	for name, values := range params {
		if !known[name] {
			problems = append(problems, fmt.Errorf("%s is not a parameter", name))
		}
		if len(values) > 1 {
			problems = append(problems, fmt.Errorf("%s comes %d times", name, len(values)))
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("request of %s: %w", method, errors.Join(problems...))
	}
	return nil
}

func (s *VKSpec) parameter(p vkParameter, value string) error {
	if len(p.Enum) > 0 && !slices.ContainsFunc(p.Enum, func(e any) bool { return fmt.Sprint(e) == value }) {
		return fmt.Errorf("is none of %v", p.Enum)
	}
	if p.MaxLength > 0 && utf8.RuneCountInString(value) > p.MaxLength {
		return fmt.Errorf("is longer than %d", p.MaxLength)
	}
	if p.Ref != "" {
		return s.referred(p, value)
	}
	if slices.Contains(p.Type, "string") {
		return nil
	}
	switch p.Type[0] {
	case "integer":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return errors.New("is not a whole number")
		}
		return p.within(float64(n))
	case "number":
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return errors.New("is not a number")
		}
		return p.within(n)
	case "boolean":
		if value != "0" && value != "1" {
			return errors.New("is neither 0 nor 1")
		}
	case "array":
		return s.list(p, value)
	}
	return nil
}

func (s *VKSpec) list(p vkParameter, value string) error {
	items := strings.Split(value, ",")
	if p.MaxItems > 0 && len(items) > p.MaxItems {
		return fmt.Errorf("has more than %d items", p.MaxItems)
	}
	if p.Items == nil {
		return nil
	}
	for _, item := range items {
		if err := s.parameter(*p.Items, item); err != nil {
			return fmt.Errorf("item: %w", err)
		}
	}
	return nil
}

// referred judges a parameter with a definition of its own: an object travels as
// JSON, a name as it is.
func (s *VKSpec) referred(p vkParameter, value string) error {
	if strings.HasPrefix(strings.TrimSpace(value), "{") {
		return s.judge(p.Ref, []byte(value))
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.judge(p.Ref, quoted)
}

func (p vkParameter) within(n float64) error {
	if p.Minimum != nil && n < *p.Minimum {
		return fmt.Errorf("is below %v", *p.Minimum)
	}
	if p.Maximum != nil && n > *p.Maximum {
		return fmt.Errorf("is above %v", *p.Maximum)
	}
	return nil
}
