// Package bench measures the program, and its peers wget and colly, on one real site:
//
//	bash tests/bench/run
//
// It needs wget, and the documentation packages in $BUCKETSEARCH_SITES.
package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9/logging"

	"github.com/bucketsearch/bucketsearch/tests/programs"
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
	logging.Disable()             // the program does the same
	if !programs.Benchmarking() { // an ordinary run of all tests: nothing is prepared
		os.Exit(m.Run())
	}
	peer := programs.Build{Module: "../peers", Packages: []string{"./colly"}, Output: "colly"}
	built := func(dir string) {
		program, colly = filepath.Join(dir, programs.Command.Output), filepath.Join(dir, peer.Output)
	}
	os.Exit(programs.Run(m, built, programs.Command, peer))
}
