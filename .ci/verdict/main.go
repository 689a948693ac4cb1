// Command verdict reads what "go test -json" writes to its output, shows what a
// person needs of it, and fails if a test failed, if one was skipped, or if none
// ran. A skip whose reason begins with "does not apply" is none: where everything
// has to be there, nothing else may be left out.
//
//	go test -json ./... | go run ./.ci/verdict
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := judge(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// excuse begins the reason of a skip that is none: a case that a subject does not
// have, like a limit of a messenger without limits.
const excuse = "does not apply"

// event is a line of go test -json (see "go doc test2json").
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds, where something ends
}

// run is what was seen of the tests so far.
type run struct {
	out     io.Writer
	said    map[[2]string][]string // by package and test, until it has ended
	passed  int
	excused int
	failed  []string
	why     []string // what failed tests complained of, said again at the end
	skipped []string
	slow    []slow
}

// slow is a test, or a package, that took long.
type slow struct {
	name    string
	seconds float64
}

func judge(in io.Reader, out io.Writer) error {
	r := run{out: out, said: map[[2]string][]string{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Action == "" {
			r.print(lines.Text() + "\n") // the go command's own words
			continue
		}
		r.see(e)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read tests: %w", err)
	}
	return r.verdict()
}

func (r *run) see(e event) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		r.print(e.Output)
	case "output":
		r.said[key] = append(r.said[key], e.Output)
	case "pass", "fail", "skip":
		if !strings.Contains(e.Test, "/") {
			r.slow = append(r.slow, slow{strings.TrimSpace(e.Package + " " + e.Test), e.Elapsed})
		}
		if e.Test == "" {
			r.endPackage(e)
		} else {
			r.endTest(e, r.said[key])
		}
		delete(r.said, key)
	}
}

func (r *run) endTest(e event, said []string) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "pass":
		r.passed++
	case "fail":
		r.failed = append(r.failed, name)
		r.why = append(r.why, complaints(said)...)
		r.print(said...)
	case "skip":
		reason := reasonOf(said)
		if strings.HasPrefix(reason, excuse) {
			r.excused++
			return
		}
		r.skipped = append(r.skipped, name+": "+reason)
	}
}

// endPackage shows the package's last line, or all that was said if it failed: a
// panic and a time-out leave tests that never ended.
func (r *run) endPackage(e event) {
	said := r.said[[2]string{e.Package, ""}]
	if e.Action != "fail" {
		for _, line := range said {
			if strings.HasPrefix(line, "ok ") {
				r.print(line)
			}
		}
		return
	}
	r.failed = append(r.failed, e.Package)
	for key, lines := range r.said {
		if key[0] == e.Package && key[1] != "" {
			r.why = append(r.why, complaints(lines)...)
			r.print(lines...)
			delete(r.said, key)
		}
	}
	r.print(said...)
}

// complaint is a line of a test's own: the file and line, indented, before a text.
var complaint = regexp.MustCompile(`^\s+\w+_test\.go:\d+: \S`)

// complaints gives the first lines of what a failed test said: the end of a long
// output is all that some people see, and there its log would hide them.
func complaints(said []string) []string {
	const most = 5
	all := slices.DeleteFunc(slices.Clone(said), func(line string) bool { return !complaint.MatchString(line) })
	return all[:min(len(all), most)]
}

// reasonOf gives the words of the skip, which come after a file's name and line.
func reasonOf(said []string) string {
	for _, line := range slices.Backward(said) {
		if _, reason, found := strings.Cut(line, ".go:"); found {
			_, reason, _ = strings.Cut(reason, ": ")
			return strings.TrimSpace(reason)
		}
	}
	return "no reason given"
}

func (r *run) print(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(r.out, line)
	}
}

// slowest shows what took longest: the time of all is theirs.
func (r *run) slowest() {
	const most, least = 20, 10 // of them; seconds
	slices.SortStableFunc(r.slow, func(a, b slow) int { return cmp.Compare(b.seconds, a.seconds) })
	for n, s := range r.slow {
		if n == most || s.seconds < least {
			return
		}
		r.print(fmt.Sprintf("%6.1f s %s\n", s.seconds, s.name))
	}
}

func (r *run) verdict() error {
	r.slowest()
	r.print(fmt.Sprintf("%d tests passed, %d did not apply, %d skipped, %d failed\n", r.passed, r.excused, len(r.skipped), len(r.failed)))
	for _, line := range r.why {
		r.print(line)
	}
	var all []error
	for _, name := range r.failed {
		all = append(all, fmt.Errorf("failed: %s", name))
	}
	for _, name := range r.skipped {
		all = append(all, fmt.Errorf("skipped: %s", name))
	}
	if r.passed == 0 {
		all = append(all, errors.New("no test ran"))
	}
	return errors.Join(all...)
}
