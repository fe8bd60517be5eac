package verify_test

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

const site = verifytest.Site

// world is a small test bucket, and the frontier (queue of URLs in Redis) of its crawl.
type world struct {
	*verifytest.World
	front *frontier.Frontier
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: verifytest.Small(t)}
	rdb := redistest.Server(t)
	functionstest.Open(t, rdb, w.Settings, 1)
	functionstest.Admit(t, rdb, w.Settings, site+"waits")
	w.front = frontier.New(rdb, 0)
	return w
}

func (w *world) verify() verify.Report {
	w.T.Helper()
	verifier := verify.Verifier{Bucket: w.Bucket, Now: functionstest.Start}
	if w.front != nil {
		verifier.Frontiers = []*frontier.Frontier{w.front}
	}
	report, err := verifier.Run(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	return report
}

func sentences(problems []verify.Problem) string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, string(p.Kind)+": "+p.String())
	}
	return strings.Join(lines, "\n")
}
