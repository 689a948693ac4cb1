// Package browsertest drives pages with Chromium, as people do. It is for tests:
// nothing that is deployed imports it.
//
// What is done is written in a script of Node.js, in the test's own folder; the
// browser is driven by playwright-core, whose version the lock file in testdata/tools
// holds. The script imports tools.mjs from the address that it is given.
package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// ErrMissing is of what a machine lacks that is to drive pages.
var ErrMissing = errors.New("missing")

// Drive runs a script, as Run does. What it prints is in the test's log; if it fails, or
// takes longer than most, the test has failed. Where Chromium, Node.js or the driver is
// missing the test is skipped, except on CI, where that is a failure.
func Drive(t *testing.T, script string, most time.Duration, setup map[string]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	out, err := Run(ctx, script, setup)
	t.Logf("%s", out)
	switch {
	case errors.Is(err, ErrMissing) && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatalf("drive the page: %v", err)
	}
}

// Run runs a script, which gets setup as JSON in its first argument, with three entries
// more: "tools", the address of the tools; "chromium", the browser's path;
// "screenshots", the folder for pictures that the variable SCREENSHOTS names, or "". It
// gives what the script has printed. ErrMissing: something is not installed.
func Run(ctx context.Context, script string, setup map[string]string) (out []byte, err error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("%w: Node.js is not installed", ErrMissing)
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return nil, fmt.Errorf("%w: Chromium is not installed", ErrMissing)
	}
	if _, err := os.Stat(filepath.Join(tools(), "node_modules", "playwright-core")); err != nil {
		return nil, fmt.Errorf("%w: playwright-core is not installed: run npm ci in shared/browsertest/testdata/tools", ErrMissing)
	}
	all := map[string]string{
		"tools": "file://" + filepath.Join(tools(), "tools.mjs"), "chromium": chromium, "screenshots": os.Getenv("SCREENSHOTS"),
	}
	maps.Copy(all, setup)
	argument, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, node, script, string(argument))
	cmd.WaitDelay = 10 * time.Second // the browser has the output, too
	return cmd.CombinedOutput()
}

// tools is the folder of what scripts have in common.
func tools() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "testdata", "tools")
}
