package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9/logging"

	"github.com/bucketsearch/bucketsearch/tests/programs"
)

// program is the path of the program that TestMain has built. The Lambda binaries are in the
// directory functions beside it.
var program string

func TestMain(m *testing.M) {
	logging.Disable() // the program does the same
	built := func(dir string) { program = filepath.Join(dir, programs.Command.Output) }
	os.Exit(programs.Run(m, built, programs.Command, programs.Functions))
}
