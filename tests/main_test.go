package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9/logging"
)

// program is the path of the program that TestMain has built. The Lambda binaries are in the
// directory functions beside it.
var program string

func TestMain(m *testing.M) {
	logging.Disable() // the program does the same
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "bucketsearch")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "bucketsearch")
	for _, args := range [][]string{
		{"build", "-ldflags=-w", "-o", program, "../local/bucketsearch"}, // without debug information
		{"build", "-ldflags=-w", "-tags", "lambda.norpc", "-o", filepath.Join(dir, "functions") + "/", "../functions/lambda/..."},
	} {
		if said, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("cannot build: %w\n%s", err, said)
		}
	}
	return m.Run(), nil
}
