package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// FromTerraform reads what the deployment was made of from the files
// terraform.tfvars and *.auto.tfvars of a folder, by the names of environment
// variables: telegram_token is TELEGRAM_TOKEN. Only texts and numbers are read; one of
// settings that is written in another way (a document over several lines) is an error
// that names it, unless set says that the environment has it.
func FromTerraform(folder string, set func(name string) bool) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.auto.tfvars"))
	if err != nil {
		return nil, fmt.Errorf("list variables of terraform: %w", err)
	}
	found := map[string]string{}
	// In the order of Terraform: what comes later counts.
	for _, file := range slices.Concat([]string{filepath.Join(folder, "terraform.tfvars")}, files) {
		raw, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read variables of terraform: %w", err)
		}
		for _, a := range assignments(string(raw)) {
			name := strings.ToUpper(a.name)
			switch {
			case a.simple:
				found[name] = a.value
			case a.name == name && !set(name):
				return nil, fmt.Errorf("%s of %s is not a simple text: give it as an environment variable, too", name, filepath.Base(file))
			}
		}
	}
	if id := found["FOLDER_ID"]; id != "" {
		found["YC_FOLDER_ID"] = id
	}
	return found, nil
}

// assignment is a name and its value, wherever it stands: those of a map are among them.
type assignment struct {
	name, value string
	simple      bool // a text or a number
}

// What a file of variables consists of, as far as it matters here (Terraform's
// documentation, "Native syntax"). Of a heredoc the end is its mark, alone in a line.
var (
	skipped  = regexp.MustCompile(`^(?:\s+|#[^\n]*|//[^\n]*|(?s:/\*.*?\*/))`)
	named    = regexp.MustCompile(`^(?:"([A-Za-z_][A-Za-z0-9_-]*)"|([A-Za-z_][A-Za-z0-9_-]*))[ \t]*[=:]\s*`)
	text     = regexp.MustCompile(`^"(?:[^"\\\n]|\\.)*"`)
	number   = regexp.MustCompile(`^-?[0-9]+(?:\.[0-9]+)?\b`)
	letters  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*`)
	document = regexp.MustCompile(`^<<[-~]?([A-Za-z_][A-Za-z0-9_]*)[ \t]*\r?\n`)
)

func assignments(file string) (all []assignment) {
	for file != "" {
		if m := named.FindStringSubmatch(file); m != nil {
			a := assignment{name: m[1] + m[2]}
			file = file[len(m[0]):]
			if t := text.FindString(file); t != "" {
				a.value, a.simple = unquote(t)
			} else if n := number.FindString(file); n != "" {
				a.value, a.simple = n, true
			}
			all = append(all, a)
		}
		file = file[next(file):]
	}
	return all
}

// next is the length of what comes next: a space or comment, a text, a document, a
// word, or one character.
func next(file string) int {
	for _, what := range []*regexp.Regexp{skipped, text, number, letters} {
		if m := what.FindString(file); m != "" {
			return len(m)
		}
	}
	if m := document.FindStringSubmatch(file); m != nil {
		end := regexp.MustCompile(`(?m)^[ \t]*` + m[1] + `[ \t]*\r?$`).FindStringIndex(file[len(m[0]):])
		if end == nil {
			return len(file)
		}
		return len(m[0]) + end[1]
	}
	return min(1, len(file))
}

// unquote reads a text. Of ${ and %{, which no value here begins, $${ and %%{ are left.
func unquote(quoted string) (string, bool) {
	value, err := strconv.Unquote(quoted)
	return strings.NewReplacer("$${", "${", "%%{", "%{").Replace(value), err == nil
}
