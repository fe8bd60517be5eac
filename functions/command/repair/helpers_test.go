package repair_test

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/command/repair"
	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const site = verifytest.Site

// links are the URLs to which the seed links.
var links = []string{site + "1", site + "2", site + "waits"}

func repairer(bucket blob.Bucket) *repair.Repairer {
	return &repair.Repairer{Bucket: bucket, Now: functionstest.NewClock().Now, Log: functionstest.Log()}
}

func run(w *verifytest.World) repair.Report {
	w.T.Helper()
	report, err := repairer(w.Bucket).Run(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	return report
}

func check(w *verifytest.World) verify.Report {
	w.T.Helper()
	report, err := (&verify.Verifier{Bucket: w.Bucket, Now: functionstest.Start}).Run(w.T.Context())
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

// sound checks that the bucket has no problem, and that the given number of URLs is stored.
func sound(w *verifytest.World, stored int) {
	w.T.Helper()
	report := check(w)
	if !report.Sound() {
		w.T.Errorf("after repair and all that was left to do:\n%s", sentences(report.Problems))
	}
	report.Waiting.Delete = 0 // replaced objects are deleted only after the grace
	if report.Stored != stored || report.Waiting != (verify.Waiting{}) || report.Pending+report.Failed+report.Skipped > 0 {
		w.T.Errorf("%+v, want %d stored and nothing left to do", report, stored)
	}
}

// done returns a test bucket in which all URLs are stored and indexed, so that no function has work
// left.
func done(t *testing.T) *verifytest.World {
	t.Helper()
	w := verifytest.Small(t)
	w.Settle(links...)
	sound(w, 4)
	return w
}
