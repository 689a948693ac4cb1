package vk

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
)

// executeMost is how many calls one execute may make.
const executeMost = 25

// execute runs code of one form of VKScript, the one that saves requests:
// return [API.method({"name": value}), ...];
func (s *Server) execute(c *call) (any, *apiError) {
	calls, err := parseScript(c.text("code"))
	switch {
	case err != nil:
		return nil, failed(12, "Unable to compile code: "+err.Error())
	case len(calls) > executeMost:
		return nil, failed(13, "Runtime error occurred during code invocation: too many API calls")
	}
	results, problems := []any{}, []map[string]any{}
	for _, inner := range calls {
		answer, fail := s.run(inner)
		c.effect = c.effect || inner.effect
		if fail != nil {
			results = append(results, false)
			problems = append(problems, map[string]any{"method": inner.name, "error_code": fail.code, "error_msg": fail.text})
			continue
		}
		results = append(results, answer.(map[string]any)["response"])
	}
	whole := wholeAnswer{"response": results}
	if len(problems) > 0 {
		whole["execute_errors"] = problems
	}
	return whole, nil
}

func parseScript(code string) ([]*call, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(code), "return")
	if !ok {
		return nil, errors.New("expected return")
	}
	rest = strings.TrimSuffix(strings.TrimSpace(rest), ";")
	if !strings.HasPrefix(rest, "[") || !strings.HasSuffix(rest, "]") {
		return nil, errors.New("expected a list of calls")
	}
	rest = strings.TrimSpace(rest[1 : len(rest)-1])
	var calls []*call
	for rest != "" {
		one, after, err := parseCall(rest)
		if err != nil {
			return nil, err
		}
		calls = append(calls, one)
		rest = strings.TrimSpace(strings.TrimPrefix(after, ","))
	}
	return calls, nil
}

// parseCall reads one call and gives the text after it.
func parseCall(text string) (*call, string, error) {
	name, arguments, ok := strings.Cut(text, "(")
	name, isAPI := strings.CutPrefix(strings.TrimSpace(name), "API.")
	if !ok || !isAPI || name == "execute" {
		return nil, "", errors.New("expected API.method(...)")
	}
	decoder := json.NewDecoder(strings.NewReader(arguments))
	decoder.UseNumber()
	var values map[string]any
	if err := decoder.Decode(&values); err != nil {
		return nil, "", errors.New("expected an object of parameters")
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(arguments[decoder.InputOffset():]), ")")
	if !ok {
		return nil, "", errors.New("expected )")
	}
	form := url.Values{}
	for key, value := range values {
		form.Set(key, parameterText(value))
	}
	return &call{name: name, form: form}, strings.TrimSpace(rest), nil
}

// parameterText is a value as a parameter: text as it is, everything else as JSON.
func parameterText(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	b, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(b)
}
