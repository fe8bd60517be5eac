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

// layers are the top folders of the repository with packages, from the lowest layer to the highest.
// A package may import only packages of its own folder and of folders that stand before it in this
// list.
var layers = []string{"layout", "strategy", "functions", "local", "tests"}

// Most folders directly below the folder functions hold one function that events trigger. The
// folders named here hold other packages: main packages, commands, and packages that functions
// share.
const (
	mains    = "lambda"
	commands = "command"
	shared   = "shared"
)

// alone maps the prefix of import paths of a library to the only package that may import it.
var alone = map[string]string{
	"github.com/minio/minio-go":    module + "layout/blob/s3blob",
	"github.com/blugelabs/":        module + "strategy/text/analysis",
	"github.com/versity/versitygw": module + "local/s3",
}

// TestImports checks that a package imports only packages of its own layer or of layers to its
// left (layout, strategy, functions, local, tests), that functions do not import each other,
// and that some libraries are imported by one package only.
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

// layerOf returns the number of a package's layer: the position of the package's top folder in the
// list layers. It returns len(layers) if the folder is not in the list.
func layerOf(path string) int {
	first, _, _ := strings.Cut(path, "/")
	if i := slices.Index(layers, first); i >= 0 {
		return i
	}
	return len(layers)
}

// roomOf returns the name of the folder directly below functions in which a package lies: "fetch"
// for functions/fetch/robots, for example. It returns "" for a package outside of functions, and
// for one whose path ends in "test".
func roomOf(path string) string {
	below, hits := strings.CutPrefix(path, "functions/")
	if !hits || strings.HasSuffix(path, "test") {
		return ""
	}
	room, _, _ := strings.Cut(below, "/")
	return room
}

// mayMeet reports whether a package may import another one. Each package is given by its folder
// directly below functions (see roomOf), or by "" if it lies outside of functions.
//
//	importing package               packages that it may import
//	outside of functions            all
//	in functions/lambda             all except those in functions/command
//	elsewhere in functions          those of its own folder, in functions/shared, or outside of functions
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

// TestFrontDoor checks that only package partition commits generations (new versions of a partition's
// manifest). Packages for tests, whose names end in "test", may do so, too.
func TestFrontDoor(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		folder := filepath.ToSlash(filepath.Dir(path))
		commits := bytes.Contains(content, []byte("manifest.Commit(")) || bytes.Contains(content, []byte("manifest.CommitAfter("))
		if commits && folder != "../layout/partition" && !strings.HasSuffix(folder, "test") {
			t.Errorf("%s commits a generation, which is for layout/partition", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
