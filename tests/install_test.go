package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInstall checks that another module can require this one and find all packages of the program.
// Go ignores the replace directives in the go.mod of a required module; `go install …@latest`
// ignores them, too. So the program must not depend on them.
func TestInstall(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/bucketsearch/bucketsearch"
	dir := t.TempDir()
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"go.mod": []byte("module fresh\n\ngo 1.26.0\n\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n"),
		"go.sum": sums,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-mod=mod", "-deps", module+"/local/bucketsearch")
	list.Dir = dir
	if out, err := list.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
