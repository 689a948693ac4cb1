package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// VKSpec is the schema of the VK API (VKCOM/vk-api-schema, version 5.199).
type VKSpec struct {
	methods map[string]vkMethod
	errors  map[string]vkError // by the name that methods refer to
	codes   map[int]vkError

	mu       sync.Mutex // the compiler is not safe for concurrent use
	compiler *jsonschema.Compiler
	defined  map[string]bool // "messages/objects.json#/definitions/messages_message"
}

type vkMethod struct {
	Name       string           `json:"name"`
	Parameters []vkParameter    `json:"parameters"`
	Responses  map[string]vkRef `json:"responses"`
	Errors     []vkRef          `json:"errors"`
}

type vkRef struct {
	Ref string `json:"$ref"`
}

type vkError struct {
	Code        int    `json:"code"`
	Description string `json:"description"`
	Global      bool   `json:"global"`
}

// VK reads the schema from its folder.
func VK(dir string) (*VKSpec, error) {
	s := &VKSpec{
		methods: map[string]vkMethod{}, errors: map[string]vkError{}, codes: map[int]vkError{},
		compiler: jsonschema.NewCompiler(), defined: map[string]bool{},
	}
	s.compiler.DefaultDraft(jsonschema.Draft7)
	if err := s.load(dir); err != nil {
		return nil, fmt.Errorf("read VK schema: %w", err)
	}
	return s, nil
}

// Answer judges the body that the API answers to a method: {"response":...} in
// one of the method's forms, or {"error":...} with a code that the method may give.
func (s *VKSpec) Answer(method string, body []byte) error {
	m, ok := s.methods[method]
	if !ok {
		return s.unknownMethod(method, body)
	}
	var answer struct {
		Response json.RawMessage `json:"response"`
		Error    json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("answer of %s: %w", method, err)
	}
	if (answer.Response == nil) == (answer.Error == nil) {
		return fmt.Errorf("answer of %s: want either response or error", method)
	}
	if answer.Error != nil {
		return s.judgeError(m, answer.Error)
	}
	var problems []error
	for _, r := range m.Responses {
		err := s.judge(r.Ref, body)
		if err == nil {
			return nil
		}
		problems = append(problems, err)
	}
	return fmt.Errorf("answer of %s: %w", method, errors.Join(problems...))
}

// Event judges what the Callback API posts, and what the Long Poll API gives in
// its list of updates (which has no secret).
func (s *VKSpec) Event(body []byte) error {
	const file = "callback/objects.json#/definitions/"
	if err := s.judge(file+"callback_base", body); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	var e struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	name := "callback_" + e.Type
	switch e.Type {
	case "confirmation":
		return nil
	case "message_edit", "message_reply":
		name = "callback_message"
	}
	if !s.defined[file+name] {
		return fmt.Errorf("event %s: the schema has no such object", e.Type)
	}
	if err := s.judge(file+name, e.Object); err != nil {
		return fmt.Errorf("event %s: %w", e.Type, err)
	}
	return nil
}

func (s *VKSpec) unknownMethod(method string, body []byte) error {
	var answer struct {
		Error struct {
			Code int `json:"error_code"`
		} `json:"error"`
	}
	const unknownMethod = 3
	if json.Unmarshal(body, &answer) == nil && answer.Error.Code == unknownMethod {
		return nil
	}
	return fmt.Errorf("answer of %s: no such method", method)
}

func (s *VKSpec) judgeError(m vkMethod, body []byte) error {
	if err := s.judge("base/objects.json#/definitions/base_error", body); err != nil {
		return fmt.Errorf("error of %s: %w", m.Name, err)
	}
	var e struct {
		Code int `json:"error_code"`
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return fmt.Errorf("error of %s: %w", m.Name, err)
	}
	if known, ok := s.codes[e.Code]; ok && known.Global {
		return nil
	}
	for _, r := range m.Errors {
		if s.errors[lastPart(r.Ref)].Code == e.Code {
			return nil
		}
	}
	return fmt.Errorf("error of %s: the method never gives code %d", m.Name, e.Code)
}

// judge holds JSON against one definition ("messages/objects.json#/definitions/x",
// with or without a leading "../").
func (s *VKSpec) judge(ref string, body []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	schema, err := s.compiler.Compile(vkBase + trimParent(ref))
	if err != nil {
		return fmt.Errorf("compile %s: %w", ref, err)
	}
	return schema.Validate(v)
}
