package deploy_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestInvoke: an apply must not go on behind a migration that did not succeed, or
// behind one of before, however that shows, and the token is in no list of processes.
func TestInvoke(t *testing.T) {
	t.Parallel()
	const (
		token = "t1.CANARY"
		right = `{"ok":true,"archive":"5a5a"}`
	)
	for _, test := range []struct {
		name, token string
		curl        string // what curl does
		want        string // of what is said; "": it succeeds
	}{
		{"it succeeds", token, `echo '` + right + `' >"$answer"; echo 200`, ""},
		{"with spaces", token, `echo '{"ok": true, "archive": "5a5a"}' >"$answer"; echo 200`, ""},
		{"the version of before answers", token, `echo '{"ok":true,"archive":"4b4b"}' >"$answer"; echo 200`, "another version of the function answers"},
		{"a version that does not say it", token, `echo '{"ok":true}' >"$answer"; echo 200`, "another version of the function answers"},
		{"it is asked for something else", token, `[[ $asked == '{"staff":{}}' ]] || exit 1; echo '` + right + `' >"$answer"; echo 200`, ""},
		{"it fails", token, `echo '{"errorMessage":"no schema","errorType":"UserCodeError"}' >"$answer"; echo 502`, "no schema"},
		{"it fails with 200", token, `echo '{"errorMessage":"no schema"}' >"$answer"; echo 200`, "the function failed (HTTP 200)"},
		{"somebody else answers", token, `echo '<html>welcome</html>' >"$answer"; echo 200`, "the function failed (HTTP 200)"},
		{"it takes too long", token, `: >"$answer"; echo 504`, "the function failed (HTTP 504)"},
		{"the network is cut", token, `exit 56`, "could not be called"},
		{"there is no token", "", `echo 200`, "set YC_TOKEN to an IAM token"},
		{"it is an OAuth token", "y0_CANARY", `echo 200`, "set YC_TOKEN to an IAM token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			script := "#!/bin/bash\necho \"curl $*\" >&2\n" +
				"while (( $# )); do case $1 in -o) answer=$2 ;; -d) asked=$2 ;; esac; shift; done\n" + test.curl + "\n"
			// No process that another test starts meanwhile may inherit the open file: one that
			// somebody may write to cannot be run (ETXTBSY).
			syscall.ForkLock.RLock()
			err := os.WriteFile(filepath.Join(bin, "curl"), []byte(script), 0o700) //nolint:gosec // it is run
			syscall.ForkLock.RUnlock()
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"mktemp", "rm", "cat", "grep"} {
				path, err := exec.LookPath(name)
				if err == nil {
					err = os.Symlink(path, filepath.Join(bin, name))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			c := exec.CommandContext(context.Background(), "/bin/bash", "../../../terraform/invoke", "d4e0", "5a5a")
			c.Env = []string{"PATH=" + bin, "YC_TOKEN=" + test.token, `REQUEST={"staff":{}}`}
			out, err := c.CombinedOutput()
			if (err == nil) != (test.want == "") || !strings.Contains(string(out), test.want) || strings.Contains(string(out), "CANARY") {
				t.Errorf("got %v\n%s", err, out)
			}
		})
	}
}
