package catalogue

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"supportbot/shared/env"
)

//go:embed default.json
var defaults []byte

// Config says where the catalogue comes from.
type Config struct {
	Source string // a JSON document, a file's path, or "" for the built-in one
	Queue  string // for categories that name no queue
}

// ConfigFrom reads CATALOGUE and TRACKER_QUEUE.
func ConfigFrom(r *env.Reader) Config {
	return Config{Source: r.String("CATALOGUE", ""), Queue: r.String("TRACKER_QUEUE", "")}
}

// Load reads and checks the catalogue. The error lists every problem.
func Load(c Config) (*Catalogue, error) {
	base, err := parse(defaults)
	if err != nil {
		return nil, fmt.Errorf("built-in catalogue: %w", err)
	}
	doc, name, err := read(c.Source)
	if err != nil {
		return nil, err
	}
	if doc != nil {
		over, err := parse(doc)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		base.lay(over)
	}
	for i := range base.Categories {
		if base.Categories[i].Queue == "" {
			base.Categories[i].Queue = c.Queue
		}
	}
	if err := errors.Join(base.problems()...); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return base, nil
}

func read(source string) (doc []byte, name string, err error) {
	switch {
	case source == "":
		return nil, "built-in catalogue", nil
	case strings.HasPrefix(strings.TrimSpace(source), "{"):
		return []byte(source), "CATALOGUE", nil
	}
	doc, err = os.ReadFile(source)
	if err != nil {
		return nil, "", fmt.Errorf("read CATALOGUE: %w", err)
	}
	return doc, "CATALOGUE " + source, nil
}

// parse is strict: a misspelt key would silently leave the default in force.
func parse(doc []byte) (*Catalogue, error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(doc, []byte("\ufeff"))))
	d.DisallowUnknownFields()
	var c Catalogue
	if err := d.Decode(&c); err != nil {
		return nil, describe(err, doc)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the document's end")
	}
	return &c, nil
}

// describe adds the line to a JSON error: operators edit the file by hand.
func describe(err error, doc []byte) error {
	var offset int64
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	default:
		return err
	}
	line := 1 + bytes.Count(doc[:min(int(offset), len(doc))], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, err)
}

func (c *Catalogue) lay(over *Catalogue) {
	if over.Categories != nil {
		c.Categories = over.Categories
	}
	for key, s := range over.Statuses {
		c.Statuses[key] = s
	}
	for kind, s := range over.Types {
		c.Types[kind] = s
	}
}
