package cloud

import (
	"fmt"
	"os"
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
	"github.com/bucketsearch/bucketsearch/tests/programs"
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
	built := func(dir string) { binaries = filepath.Join(dir, programs.Functions.Output) }
	os.Exit(programs.Run(m, built, programs.Functions))
}
