package spec

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// vkBase is where the files live for the compiler, which wants absolute names.
const vkBase = "vk://schema/"

// load reads every file of the schema. VK writes "required": true at the
// property itself, as JSON Schema did before draft 4, and refers to files that
// were left out of the copy; both are turned into what a validator understands.
func (s *VKSpec) load(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no files in %s", dir)
	}
	documents := map[string]any{}
	for _, file := range files {
		name := path.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
		if filepath.Base(file) == "methods.json" {
			if err := s.loadMethods(file); err != nil {
				return err
			}
			continue
		}
		var document map[string]any
		if err := readJSON(file, &document); err != nil {
			return err
		}
		definitions, _ := document["definitions"].(map[string]any)
		for definition := range definitions {
			s.defined[name+"#/definitions/"+definition] = true
		}
		// Without "$schema", which names a meta-schema of VK's own.
		documents[name] = map[string]any{"definitions": definitions}
	}
	amend(documents)
	for name, document := range documents {
		if err := s.compiler.AddResource(vkBase+name, s.modern(document)); err != nil {
			return err
		}
	}
	return s.loadErrors(filepath.Join(dir, "errors.json"))
}

func (s *VKSpec) loadMethods(file string) error {
	var document struct {
		Methods []vkMethod `json:"methods"`
	}
	if err := readJSON(file, &document); err != nil {
		return err
	}
	for _, m := range document.Methods {
		s.methods[m.Name] = m
	}
	return nil
}

func (s *VKSpec) loadErrors(file string) error {
	var document struct {
		Errors map[string]vkError `json:"errors"`
	}
	if err := readJSON(file, &document); err != nil {
		return err
	}
	s.errors = document.Errors
	for _, e := range document.Errors {
		s.codes[e.Code] = e
	}
	return nil
}

// modern turns VK's dialect into draft 7.
func (s *VKSpec) modern(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = s.modern(v[i])
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && !s.defined[trimParent(ref)] {
			return true // in a file that the copy left out
		}
		if properties, ok := v["properties"].(map[string]any); ok {
			if required := requiredOf(properties); len(required) > 0 {
				v["required"] = required
			}
		}
		for key, child := range v {
			v[key] = s.modern(child)
		}
	}
	return v
}

// requiredOf moves "required": true from the properties to the object.
func requiredOf(properties map[string]any) []any {
	var required []any
	for name, property := range properties {
		p, ok := property.(map[string]any)
		if !ok {
			continue
		}
		if yes, is := p["required"].(bool); is {
			delete(p, "required")
			if yes {
				required = append(required, name)
			}
		}
	}
	return required
}

// amend changes the schema where VK itself sends something else.
func amend(documents map[string]any) {
	at := func(file, definition string, keys ...string) map[string]any {
		m, _ := documents[file].(map[string]any)
		for _, key := range append([]string{"definitions", definition}, keys...) {
			m, _ = m[key].(map[string]any)
		}
		return m
	}
	// The payload of a pressed button comes as the object that the button had.
	if p := at("callback/objects.json", "callback_message_event", "properties", "payload"); p != nil {
		p["type"] = []any{"string", "object", "array", "number", "boolean", "null"}
	}
	// Pressed buttons have an object, and no place in the list of events.
	if t := at("callback/objects.json", "callback_type"); t != nil {
		types, _ := t["enum"].([]any)
		t["enum"] = append(types, "message_event")
	}
	// Messages carry stories, though the list of types leaves them out.
	if t := at("messages/objects.json", "messages_message_attachment_type"); t != nil {
		types, _ := t["enum"].([]any)
		t["enum"] = append(types, "story")
	}
	// "inner_type" exists only inside VK's generated clients.
	if p := at("base/objects.json", "base_error", "properties"); p != nil {
		delete(p, "inner_type")
	}
	// execute returns whatever its code returns.
	if r := at("base/responses.json", "base_undefined_response", "properties", "response"); r != nil {
		delete(r, "type")
	}
}

func readJSON(file string, v any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func trimParent(ref string) string { return strings.TrimPrefix(ref, "../") }

func lastPart(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }
