package cloud

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9/logging"

	// What the binaries are made of: go test runs the tests again when it has changed.
	_ "github.com/bucketsearch/bucketsearch/functions/fetch"
	_ "github.com/bucketsearch/bucketsearch/functions/index"
	_ "github.com/bucketsearch/bucketsearch/functions/merge"
	_ "github.com/bucketsearch/bucketsearch/functions/pack"
	_ "github.com/bucketsearch/bucketsearch/functions/query"
	_ "github.com/bucketsearch/bucketsearch/functions/rank"
	_ "github.com/bucketsearch/bucketsearch/functions/schedule"
	_ "github.com/bucketsearch/bucketsearch/functions/shared/environment"
	_ "github.com/bucketsearch/bucketsearch/functions/sweep"
	_ "github.com/bucketsearch/bucketsearch/functions/watch"
	"github.com/bucketsearch/bucketsearch/local/s3"
)

// role is an environment variable. If its value is "store", the test binary runs as the object store of a stack.
const role = "BUCKETSEARCH_TEST_ROLE"

// binaries is the folder with the functions' binaries, which TestMain has built.
var binaries string

func TestMain(m *testing.M) {
	if os.Getenv(role) == "store" {
		if err := s3.Child(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	logging.Disable()
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
	binaries = dir
	// Without debug information, which takes time.
	build := exec.Command("go", "build", "-ldflags=-w", "-tags", "lambda.norpc", "-o", filepath.Clean(dir)+"/", "../../functions/lambda/...")
	if said, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("cannot build: %w\n%s", err, said)
	}
	return m.Run(), nil
}
