package wiring_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// secretive is an expression that has a secret's value, by its name.
var secretive = regexp.MustCompile(`(?i)(secret|password|passphrase|apikey|api_key|signature|hmac)(s?\b|header)|\.Reveal\(\)`)

// comparing are functions whose time tells how much of two values is alike.
var comparing = []string{
	"bytes.Equal", "bytes.Compare", "bytes.HasPrefix", "strings.EqualFold", "strings.Compare", "strings.HasPrefix", "strings.Contains",
	"slices.Equal", "slices.Contains", "slices.Index", "reflect.DeepEqual", "cmp.Compare",
}

// comparison finds the comparisons of secrets in a file that are not made in constant
// time (env.Match). To compare with nothing tells nothing.
func comparison(file *ast.File, set *token.FileSet) (found []string) {
	text := func(e ast.Expr) string {
		var b bytes.Buffer
		_ = printer.Fprint(&b, set, e)
		return b.String()
	}
	nothing := func(e ast.Expr) bool {
		s := text(e)
		return s == `""` || s == "nil" || s == "0" || s == "1" || strings.HasSuffix(s, "{}") || strings.HasPrefix(s, "len(")
	}
	report := func(n ast.Node, operands ...ast.Expr) {
		if slices.ContainsFunc(operands, nothing) {
			return
		}
		if slices.ContainsFunc(operands, func(e ast.Expr) bool { return secretive.MatchString(text(e)) }) {
			found = append(found, set.Position(n.Pos()).String())
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				report(n, n.X, n.Y)
			}
		case *ast.CallExpr:
			if slices.Contains(comparing, text(n.Fun)) {
				report(n, n.Args...)
			}
		case *ast.SwitchStmt:
			if n.Tag != nil {
				report(n, n.Tag)
			}
		}
		return true
	})
	return found
}

// TestSecrets_ComparedInConstantTime: no deployed code compares a secret with what
// somebody sent by an ordinary comparison.
func TestSecrets_ComparedInConstantTime(t *testing.T) {
	t.Parallel()
	read := 0
	for _, root := range []string{"../../functions", "../../shared"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && (path == "../../functions/local" || path == "../../shared/sandbox" || strings.HasSuffix(path, "test") || e.Name() == "testdata"): // not deployed
				return fs.SkipDir
			case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			read++
			for _, at := range comparison(file, set) {
				t.Errorf("%s: a secret is compared; env.Match does it in constant time", at)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 200 {
		t.Errorf("%d files were read", read)
	}
}

// The rule itself finds what it is for.
func TestSecrets_Rule(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		`_ = r.Header.Get(secretHeader) == given`:            1,
		`_ = given != cfg.secret.Reveal()`:                   1,
		`_ = strings.EqualFold(given, e.Secret)`:             1,
		`_ = slices.Contains(cfg.Secrets, given)`:            1,
		`_ = bytes.Equal(signature, sum)`:                    1,
		`switch e.Secret { case given: }`:                    1,
		`_ = e.Secret == ""`:                                 0,
		`_ = len(cfg.Secrets) == n`:                          0,
		`_ = env.Match(cfg.Secrets, e.Secret)`:               0,
		`_ = subtle.ConstantTimeCompare(apiKey, given) == 1`: 0,
		`_ = token == given`:                                 0,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x.go", "package x\nfunc f() {\n"+line+"\n}", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(comparison(file, set)); got != want {
			t.Errorf("%s: found %d, want %d", line, got, want)
		}
	}
}
