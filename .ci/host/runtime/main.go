// Command runtime stands for the Go runtime of Cloud Functions: it loads a
// function's plugin, calls its handler with each event that comes on standard
// input, one JSON value after the other, and writes an answer for each, one a line.
// What the function logs goes to standard error.
//
// It is built as a module of its own, like the cloud's, and uses the standard
// library alone: whatever package a host shares with a plugin has to be the same
// in both. Its go line is an old one, because nobody outside knows the cloud's,
// and it decides the plugin's GODEBUG: a function has to work with the worst.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"plugin"
	"time"
)

// loaded is the first line that is written.
type loaded struct {
	LoadMS float64 `json:"load_ms"` // opening the plugin and finding the handler
}

// answer is the line for an event: a result or an error.
type answer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  *failure        `json:"error,omitempty"`
	MS     float64         `json:"ms"`
}

// failure is what the cloud answers for a function that failed ("Handling errors").
type failure struct {
	Message string `json:"errorMessage"`
	Type    string `json:"errorType"` // UserCodeError or UserCodePanic
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	name := flag.String("handler", "Handler", "the exported `name` of the handler")
	function := flag.String("function", "", "the function's `name`")
	timeout := flag.Duration("timeout", time.Minute, "the function's time-out")
	flag.Parse()
	if flag.NArg() != 1 {
		return errors.New("usage: runtime [flags] plugin.so")
	}
	answers := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // the plugin's too: its os is this one

	began := time.Now()
	h, err := load(flag.Arg(0), *name)
	if err != nil {
		return err
	}
	if err := answers.Encode(loaded{millis(began)}); err != nil {
		return err
	}
	ctx := context.WithValue(context.Background(), "lambdaRuntimeFunctionName", *function) //nolint:staticcheck // the runtime's keys are strings
	for events := json.NewDecoder(os.Stdin); ; {
		var event json.RawMessage
		if err := events.Decode(&event); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read event: %w", err)
		}
		if err := answers.Encode(call(ctx, h, event, *timeout)); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
}

func load(path, name string) (handler, error) {
	p, err := plugin.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open plugin: %w", err)
	}
	symbol, err := p.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("look handler up: %w", err)
	}
	return handlerOf(symbol)
}

func call(ctx context.Context, h handler, event []byte, timeout time.Duration) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			a = answer{Error: &failure{fmt.Sprint(p), "UserCodePanic"}}
		}
		a.MS = millis(began)
	}()
	result, err := h(ctx, event)
	if err != nil {
		return answer{Error: &failure{err.Error(), "UserCodeError"}}
	}
	return answer{Result: result}
}

func millis(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }
