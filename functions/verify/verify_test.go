package verify

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestNothingIsWrong(t *testing.T) {
	w := newWorld(t)
	verifier := Verifier{Bucket: w.bucket, Frontiers: []*frontier.Frontier{w.front}}
	for range 2 {
		report, err := verifier.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Report{URLs: 4, Pages: 3, Packages: 2, Segments: 2}, report); diff != "" {
			t.Errorf("report (-want +got):\n%s", diff)
		}
	}
}
func TestURLWaitsInTwoFrontiers(t *testing.T) {
	w := newWorld(t)
	rdb := redistest.Embedded(t)
	other := frontier.New(rdb, 0)
	entry := frontier.Entry{URL: site + "waits", ID: layout.IdentityOf(site + "waits"), Host: "a.example"}
	if _, err := other.Admit(t.Context(), functionstest.Start, []frontier.Entry{entry}); err != nil {
		t.Fatal(err)
	}
	report, err := (&Verifier{Bucket: w.bucket, Frontiers: []*frontier.Frontier{w.front, other}}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{fmt.Sprintf("%s waits in two frontiers", entry.ID)}
	if diff := cmp.Diff(want, report.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestOrphansDoNotExist: what no generation lists is no problem.
func TestOrphansDoNotExist(t *testing.T) {
	w := newWorld(t)
	functionstest.Package(t, w.bucket, 0, functionstest.Page(batch, site+"orphan"))
	functionstest.Put(t, w.bucket, layout.SegmentKey(0, "orphan"), []byte("?"))
	if problems := w.verify().Problems; problems != nil {
		t.Errorf("problems: %q", problems)
	}
}

func TestProofThatCannotBeFinished(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Verifier{Bucket: w.bucket}).Run(ctx); err == nil {
		t.Error("no error, though nothing could be read")
	}
}
