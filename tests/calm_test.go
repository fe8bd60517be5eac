package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCalm checks that nothing happens at once in the packages that the script run tests without the race
// detector for this reason: neither they nor their tests start goroutines, or tests that run in parallel.
func TestCalm(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("run")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^calm=\([^)]+\)$`).FindString(string(script))
	folders, err := exec.CommandContext(t.Context(), "bash", "-c", list+"\necho ${calm[@]}").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, folder := range strings.Fields(string(folders)) {
		paths, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Errorf("%s has no Go files, %v", folder, err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "bench_test.go") { // the script runs no benchmarks
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for node := range ast.Preorder(file) {
				if startsGoroutine(node) {
					t.Errorf("%s: something happens at once, but the package is tested without the race detector", set.Position(node.Pos()))
				}
			}
			n++
		}
	}
	if n < 100 {
		t.Errorf("only %d files are checked", n)
	}
}

// startsGoroutine reports whether a node of a syntax tree is a go statement, or calls a method such as that of
// a sync.WaitGroup or errgroup.Group, the function time.AfterFunc, or the method Parallel of a test.
func startsGoroutine(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		called, ok := n.Fun.(*ast.SelectorExpr)
		return ok && slices.Contains([]string{"Go", "AfterFunc", "Parallel"}, called.Sel.Name)
	}
	return false
}
