package spec

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// attached begins the name of an uploaded file inside a parameter.
const attached = "attach://"

// Request judges the parameters of a call. They travel as text: numbers and
// booleans in digits and words, objects and lists as JSON. files maps the form
// field of each uploaded file to the file's name.
func (s *TelegramSpec) Request(method string, params, files map[string]string) error {
	m, ok := s.methods[method]
	if !ok {
		return fmt.Errorf("request: no method %s", method)
	}
	var problems []error
	known := map[string]tgField{}
	for _, f := range m.Fields {
		known[f.Name] = f
		_, given := params[f.Name]
		_, uploaded := files[f.Name]
		if f.Required && !given && !uploaded {
			problems = append(problems, fmt.Errorf("%s is missing", f.Name))
		}
	}
	for name, value := range params {
		f, ok := known[name]
		if !ok {
			problems = append(problems, fmt.Errorf("%s is not a parameter", name))
			continue
		}
		if err := s.parameter(f, value, files); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
	}
	for field := range files {
		if slices.Contains(known[field].Types, "InputFile") || mentions(params, attached+field) {
			continue
		}
		problems = append(problems, fmt.Errorf("nothing refers to the file %s", field))
	}
	if len(problems) > 0 {
		return fmt.Errorf("request of %s: %w", method, errors.Join(problems...))
	}
	return nil
}

func mentions(params map[string]string, name string) bool {
	for _, value := range params {
		if value == name || strings.Contains(value, `"`+name+`"`) {
			return true
		}
	}
	return false
}

func (s *TelegramSpec) parameter(f tgField, value string, files map[string]string) error {
	if !utf8.ValidString(value) {
		return errors.New("is not UTF-8")
	}
	if value == "null" && !f.Required {
		return nil // the client library says so where there is nothing
	}
	if len(elementsOf(f.Types)) > 0 {
		return s.text(f.Types, []byte(value))
	}
	var problems []error
	for _, t := range f.Types {
		err := s.parameterAs(t, value, files)
		if err == nil {
			return nil
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (s *TelegramSpec) parameterAs(name, value string, files map[string]string) error {
	switch name {
	case "String":
		if field, ok := strings.CutPrefix(value, attached); ok && files[field] == "" {
			return fmt.Errorf("no file %s is there", field)
		}
		return nil
	case "InputFile":
		return errors.New("has to be a file")
	case "Boolean":
		if value != "true" && value != "false" {
			return errors.New("is neither true nor false")
		}
		return nil
	case "Integer":
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return errors.New("is not a whole number")
		}
		return nil
	case "Float":
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return errors.New("is not a number")
		}
		return nil
	}
	return s.text([]string{name}, []byte(value))
}
