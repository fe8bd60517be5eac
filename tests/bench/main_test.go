// Package bench measures the program, and its peers wget and colly, on one real site:
//
//	bash tests/bench/run
//
// It needs wget, and the documentation packages in $BUCKETSEARCH_SITES.
package bench

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9/logging"
)

// serving is the name of the environment variable with which the test binary serves the site
// instead of running benchmarks. The site has a process of its own, so that its processor time
// does not count as that of the crawlers.
const serving = "BUCKETSEARCH_BENCH_SITE"

var program, colly string

func TestMain(m *testing.M) {
	if sites := os.Getenv(serving); sites != "" {
		serve(sites)
	}
	logging.Disable() // the program does the same
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		os.Exit(m.Run()) // an ordinary run of all tests: benchmarks are not prepared
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	directory, err := os.MkdirTemp("", "bench")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(directory)
	program, colly = filepath.Join(directory, "bucketsearch"), filepath.Join(directory, "colly")
	build("../..", program, "./local/bucketsearch")
	build("../peers", colly, "./colly")
	return m.Run()
}

func build(module, output, pkg string) {
	cmd := exec.Command("go", "build", "-o", output, pkg)
	cmd.Dir, cmd.Stderr = module, os.Stderr
	if err := cmd.Run(); err != nil {
		panic(err)
	}
}
