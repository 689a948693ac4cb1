package wiring_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// conduct is what a package does about goroutines.
type conduct struct {
	starts string // where one is started, in the code or by a test; "": nowhere
	tested bool
	looks  bool // its tests look for goroutines that are left
}

// note reads a file.
func (c *conduct) note(file *ast.File, set *token.FileSet) {
	name := set.Position(file.Pos()).Filename
	c.tested = c.tested || strings.HasSuffix(name, "_test.go")
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			c.starts = set.Position(n.Pos()).String()
		case *ast.SelectorExpr:
			of, _ := n.X.(*ast.Ident)
			switch {
			case of != nil && of.Name == "goleak" && n.Sel.Name == "VerifyTestMain":
				c.looks = true
			case n.Sel.Name == "AfterFunc" || n.Sel.Name == "Go":
				c.starts = set.Position(n.Pos()).String()
			}
		}
		return true
	})
}

// leaky: it starts goroutines, and nobody would see one that is left. What has no tests
// starts them in the tests of others.
func (c *conduct) leaky() bool { return c.starts != "" && c.tested && !c.looks }

// TestGoroutines_AreLookedFor: a package that starts goroutines, or whose tests do, looks
// in the end for those that are left.
func TestGoroutines_AreLookedFor(t *testing.T) {
	t.Parallel()
	all := map[string]*conduct{}
	for _, root := range []string{"../../functions", "../../shared", "../../.ci/package"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && slices.Contains([]string{"testdata", "node_modules"}, e.Name()):
				return fs.SkipDir
			case e.IsDir() || !strings.HasSuffix(path, ".go"):
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			dir := filepath.Dir(path)
			if all[dir] == nil {
				all[dir] = &conduct{}
			}
			all[dir].note(file, set)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	looked := 0
	for dir, c := range all {
		if c.looks {
			looked++
		}
		if c.leaky() {
			t.Errorf("%s: a goroutine is started, and no TestMain of %s verifies that it ends (goleak)", c.starts, dir)
		}
	}
	if looked < 30 {
		t.Errorf("%d packages look for goroutines that are left", looked)
	}
}

// The rule itself finds what it is for.
func TestGoroutines_Rule(t *testing.T) {
	t.Parallel()
	const main = "func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }"
	for text, want := range map[string]bool{
		"func f() { go g() }":                     true,
		"func f() { time.AfterFunc(0, g) }":       true,
		"func f() { all.Go(g) }":                  true,
		"func f() { g() }":                        false,
		"func f() { go g() }\n" + main:            false,
		"func f() { go g(); goleak.IgnoreTop() }": true,
	} {
		for name, tested := range map[string]bool{"x_test.go": true, "x.go": false} {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, "package x\n"+text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			var c conduct
			if c.note(file, set); c.leaky() != (want && tested) {
				t.Errorf("%s in %s: %+v", text, name, c)
			}
		}
	}
}
