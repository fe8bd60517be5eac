// Package programs compiles what end-to-end tests and benchmarks run: the command, the binaries of the
// Lambda functions, and other engines.
package programs

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Build is a call of go build.
type Build struct {
	Module   string   // directory of the module, relative to that of the test; "": the test's module
	Packages []string // patterns of main packages, such as "./colly"
	Output   string   // name of the executable file, or of a folder for several ("functions/"); "": the folder itself
	Tags     string
}

var (
	Command   = Build{Packages: []string{module + "local/bucketsearch"}, Output: "bucketsearch"}
	Functions = Build{Packages: []string{module + "functions/lambda/..."}, Output: "functions/", Tags: "lambda.norpc"}
)

const module = "github.com/bucketsearch/bucketsearch/"

// Run compiles programs into a temporary folder, calls back with the folder's path, and runs all tests. It
// returns the exit code for TestMain: 1 if a program could not be compiled.
func Run(m *testing.M, built func(dir string), builds ...Build) (code int) {
	dir, err := os.MkdirTemp("", "bucketsearch")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, b := range builds {
		if err := b.In(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	built(dir)
	return m.Run()
}

// In compiles programs into a folder, without debug information and symbols, which take time to link.
func (b Build) In(dir string) error {
	args := append([]string{"build", "-ldflags=-s -w", "-tags", b.Tags, "-o", dir + "/" + b.Output}, b.Packages...)
	build := exec.Command("go", args...)
	build.Dir = b.Module
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %v: %w\n%s", b.Packages, err, said)
	}
	return nil
}

// Benchmarking reports whether the flags of the test binary ask for benchmarks. TestMain may call it.
func Benchmarking() bool {
	flag.Parse()
	return flag.Lookup("test.bench").Value.String() != ""
}
