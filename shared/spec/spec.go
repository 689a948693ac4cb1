// Package spec judges what the adapters send and what the sandbox's servers
// answer by the machine-readable specifications of the messengers, which
// somebody else wrote. It is for tests: nothing that is deployed imports it.
//
// The specifications are not part of the project. Dir finds them:
// PaulSonOfLars/telegram-bot-api-spec (api.json) in the folder telegram, and
// VKCOM/vk-api-schema in the folder vk.
package spec

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir gives the folder of one messenger's specification. It looks into the
// folder that SPECS_DIR names, else into ../shared/schemas beside
// the module's root. Where there is none the test goes on unjudged (ok is false,
// the reason is in the test's log), except on CI, where that is a failure.
func Dir(tb testing.TB, messenger string) (dir string, ok bool) {
	tb.Helper()
	for _, base := range candidates() {
		dir := filepath.Join(base, messenger)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, true
		}
	}
	const reason = "specifications of %s not found: set SPECS_DIR to the folder that holds them"
	if os.Getenv("CI") == "true" {
		tb.Fatalf(reason, messenger)
	}
	tb.Logf(reason+"; nothing is judged by them", messenger)
	return "", false
}

func candidates() []string {
	if dir := os.Getenv("SPECS_DIR"); dir != "" {
		return []string{dir}
	}
	root, err := moduleRoot()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(root, "..", "shared", "schemas")}
}

// moduleRoot is the nearest folder above the test's own that has a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", os.ErrNotExist
		}
		dir = parent
	}
}
