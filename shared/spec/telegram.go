package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// TelegramSpec is the description of the Telegram Bot API
// (PaulSonOfLars/telegram-bot-api-spec, Bot API 10.1).
type TelegramSpec struct {
	methods map[string]tgMethod
	types   map[string]tgType
	literal *regexp.Regexp // of a field that has one value: `always "user"`, `must be photo`
}

type tgMethod struct {
	Returns []string  `json:"returns"`
	Fields  []tgField `json:"fields"`
}

type tgType struct {
	Fields   []tgField `json:"fields"`
	Subtypes []string  `json:"subtypes"`
}

// tgField is a parameter of a method or a field of an object.
type tgField struct {
	Name        string   `json:"name"`
	Types       []string `json:"types"`
	Required    bool     `json:"required"`
	Description string   `json:"description"`
	value       string   // the only one allowed; "" for any
}

// Telegram reads the description from its folder.
func Telegram(dir string) (*TelegramSpec, error) {
	var document struct {
		Methods map[string]tgMethod `json:"methods"`
		Types   map[string]tgType   `json:"types"`
	}
	if err := readJSON(filepath.Join(dir, "api.json"), &document); err != nil {
		return nil, fmt.Errorf("read Telegram description: %w", err)
	}
	if len(document.Methods) == 0 || len(document.Types) == 0 {
		return nil, fmt.Errorf("read Telegram description: nothing in %s", dir)
	}
	s := &TelegramSpec{
		methods: document.Methods, types: document.Types,
		literal: regexp.MustCompile(`(?:always|must be) ["“]?([a-z_]+)["”]?\.?$`),
	}
	for _, t := range s.types {
		for i, f := range t.Fields {
			if m := s.literal.FindStringSubmatch(f.Description); m != nil && slices.Equal(f.Types, []string{"String"}) {
				t.Fields[i].value = m[1]
			}
		}
	}
	return s, nil
}

// Answer judges the body that the API answers to a method: its result, or an
// error. A method that does not exist has to be answered by 404.
func (s *TelegramSpec) Answer(method string, body []byte) error {
	var answer struct {
		OK          *bool           `json:"ok"`
		Result      json.RawMessage `json:"result"`
		Code        int             `json:"error_code"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&answer); err != nil {
		return fmt.Errorf("answer of %s: %w", method, err)
	}
	m, known := s.methods[method]
	switch {
	case answer.OK == nil:
		return fmt.Errorf("answer of %s: ok is missing", method)
	case !*answer.OK:
		return s.refusal(method, answer.Code, answer.Description, answer.Parameters, known)
	case !known:
		return fmt.Errorf("answer of %s: no such method", method)
	case answer.Result == nil || answer.Code != 0:
		return fmt.Errorf("answer of %s: want a result and nothing else", method)
	}
	if err := s.text(m.Returns, answer.Result); err != nil {
		return fmt.Errorf("answer of %s: %w", method, err)
	}
	return nil
}

func (s *TelegramSpec) refusal(method string, code int, description string, parameters json.RawMessage, known bool) error {
	const notFound = 404
	switch {
	case code < 400 || description == "":
		return fmt.Errorf("error of %s: error_code and description are missing", method)
	case !known && code != notFound:
		return fmt.Errorf("error of %s: no such method, got code %d", method, code)
	case parameters == nil:
		return nil
	}
	if err := s.text([]string{"ResponseParameters"}, parameters); err != nil {
		return fmt.Errorf("error of %s: %w", method, err)
	}
	return nil
}

// Update judges one update, as a webhook gets it: an id and one event.
func (s *TelegramSpec) Update(body []byte) error {
	if err := s.text([]string{"Update"}, body); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	if len(fields) != 2 {
		return fmt.Errorf("update: holds %d events, want one", len(fields)-1)
	}
	return nil
}

// text judges JSON against one of the types.
func (s *TelegramSpec) text(types []string, body []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return err
	}
	return s.value(types, v)
}

// value judges a decoded value against one of the types. Of several kinds of
// lists, each item may be of another kind.
func (s *TelegramSpec) value(types []string, v any) error {
	if elements := elementsOf(types); len(elements) > 1 {
		return s.array(elements, v)
	}
	var problems []error
	for _, t := range types {
		err := s.one(t, v)
		if err == nil {
			return nil
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (s *TelegramSpec) one(name string, v any) error {
	if element, ok := strings.CutPrefix(name, arrayOf); ok {
		return s.array([]string{element}, v)
	}
	switch name {
	case "String":
		return is[string](v, "text")
	case "Boolean":
		return is[bool](v, "true or false")
	case "Float":
		return is[json.Number](v, "a number")
	case "Integer":
		if n, ok := v.(json.Number); !ok || strings.ContainsAny(n.String(), ".eE") {
			return fmt.Errorf("is %T, want a whole number", v)
		}
		return nil
	}
	t, ok := s.types[name]
	if !ok {
		return fmt.Errorf("%s is no type", name)
	}
	if len(t.Subtypes) > 0 {
		if err := s.value(t.Subtypes, v); err != nil {
			return fmt.Errorf("is no %s: %w", name, err)
		}
		return nil
	}
	if err := s.object(t, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

const arrayOf = "Array of "

// elementsOf gives the types of the items when all types are lists.
func elementsOf(types []string) []string {
	var elements []string
	for _, t := range types {
		element, ok := strings.CutPrefix(t, arrayOf)
		if !ok {
			return nil
		}
		elements = append(elements, element)
	}
	return elements
}

func (s *TelegramSpec) array(elements []string, v any) error {
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("is %T, want a list", v)
	}
	for i, item := range list {
		if err := s.value(elements, item); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

func (s *TelegramSpec) object(t tgType, v any) error {
	fields, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("is %T, want an object", v)
	}
	known := map[string]bool{}
	for _, f := range t.Fields {
		known[f.Name] = true
		value, there := fields[f.Name]
		if !there {
			if f.Required {
				return fmt.Errorf("%s is missing", f.Name)
			}
			continue
		}
		if f.value != "" && value != any(f.value) {
			return fmt.Errorf("%s is %v, want %q", f.Name, value, f.value)
		}
		if err := s.value(f.Types, value); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	for name := range fields {
		if !known[name] {
			return fmt.Errorf("%s is not a field", name)
		}
	}
	return nil
}

func is[T any](v any, what string) error {
	if _, ok := v.(T); !ok {
		return fmt.Errorf("is %T, want %s", v, what)
	}
	return nil
}
