package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bucketsearch/bucketsearch/"

// layers are the top folders of packages: each imports only itself and those before it.
var layers = []string{"layout", "strategy", "functions", "local", "tests"}

// The folders below functions that hold no triggered function: mains, commands, and shared
// packages.
const (
	mains    = "lambda"
	commands = "command"
	shared   = "shared"
)

// alone maps a path to the only package that may import packages below it.
var alone = map[string]string{
	"github.com/minio/minio-go":    module + "layout/blob/s3blob",
	"github.com/blugelabs/":        module + "strategy/text/analysis",
	"github.com/versity/versitygw": module + "local/s3",
}

// TestImports checks that imports point one way, layout ← strategy ← functions ← local ← tests,
// that functions do not import each other, and that some libraries have one importer only.
func TestImports(t *testing.T) {
	t.Parallel()
	packages := listPackages(t)
	if len(packages) < 30 {
		t.Fatalf("only %d packages were found", len(packages))
	}
	for _, p := range packages {
		own := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			if their, ours := strings.CutPrefix(imported, module); ours {
				if layerOf(their) > layerOf(own) {
					t.Errorf("%s imports %s, against the direction %s", own, their, strings.Join(layers, " ← "))
				}
				if !mayMeet(roomOf(own), roomOf(their)) {
					t.Errorf("%s imports %s: functions meet through objects", own, their)
				}
			}
			for path, owner := range alone {
				if strings.HasPrefix(imported, path) && p.ImportPath != owner && !strings.HasPrefix(p.ImportPath, owner+"/") {
					t.Errorf("%s imports %s, which only %s may", own, imported, owner)
				}
			}
		}
	}
}

// goPackage is the part of go list's output about a package that the test needs.
type goPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	list.Dir = ".."
	said, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(said)); ; {
		var p goPackage
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// layerOf returns the index of a package's layer; the last one for a package outside of all
// layers.
func layerOf(path string) int {
	first, _, _ := strings.Cut(path, "/")
	if i := slices.Index(layers, first); i >= 0 {
		return i
	}
	return len(layers)
}

// roomOf returns the first folder below functions in which a package lies, or
// "".
func roomOf(path string) string {
	below, hits := strings.CutPrefix(path, "functions/")
	if !hits || strings.HasSuffix(path, "test") {
		return ""
	}
	room, _, _ := strings.Cut(below, "/")
	return room
}

// mayMeet reports whether a package in the folder own of functions may import one in the folder
// their. All may import shared packages, and mains the functions; no function or command may
// import a function.
func mayMeet(own, their string) bool {
	return own == "" || own == their || their == shared || their == "" || own == mains && their != commands
}

func TestLambdaMainsAreShort(t *testing.T) {
	t.Parallel()
	const most = 30
	mains, err := filepath.Glob("../functions/lambda/*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("no Lambda mains: %v", err)
	}
	for _, path := range mains {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(content, []byte("\n")); lines > most {
			t.Errorf("%s has %d lines, want at most %d", path, lines, most)
		}
	}
}

// Only package partition commits generations.
func TestFrontDoor(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		folder := filepath.ToSlash(filepath.Dir(path))
		if bytes.Contains(content, []byte("manifest.Commit(")) && folder != "../layout/partition" && folder != "../functions/shared/functionstest" {
			t.Errorf("%s commits a generation, which is for layout/partition", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
