package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// TestTogetherIsRaised sweeps a partition with small packages. The sweep must send index a task to index them
// together: during a crawl only if they have enough pages, and after its end even if they have fewer, but still
// enough to learn something. After the end, it must also send merge a task if there are two segments, however small.
func TestTogetherIsRaised(t *testing.T) {
	small := func(pages int) func(*manifest.Manifest) {
		return func(m *manifest.Manifest) {
			m.Packages[0].Pages, m.Packages[0].Apart = pages, &manifest.Apart{Pages: pages, Hosts: 1}
		}
	}
	for name, c := range map[string]struct {
		pages    int
		ended    bool
		unpacked bool // whether a batch waits to be packed
		second   bool // whether there are two packages
		want     string
	}{
		"few pages":                    {segments.HostPages - 1, false, false, false, ""},
		"enough pages":                 {segments.HostPages, false, false, false, `index {"storage":0}`},
		"at the end":                   {segments.HostPages - 1, true, false, false, `index {"storage":0,"ended":true}`},
		"at the end, too few pages":    {segments.HostPages/2 - 1, true, false, false, ""},
		"a batch waits to be packed":   {segments.HostPages - 1, true, true, false, ""},
		"two segments":                 {1, false, false, true, ""},
		"two segments at the end":      {1, true, false, true, `merge {"storage":0,"ended":true}`},
		"two, and a batch waits":       {1, true, true, true, ""},
		"enough pages, and at the end": {segments.HostPages, true, false, false, `index {"storage":0,"ended":true}`},
	} {
		w := newQuiet(t)
		if !c.unpacked {
			if err := w.bucket.Delete(t.Context(), layout.SpoolKey(0, version(3))); err != nil {
				t.Fatal(err)
			}
		}
		w.pack(0, 20, one+"a")
		if c.second {
			w.pack(0, 21, one+"b")
		}
		functionstest.Commit(t, w.bucket, 0, small(c.pages))
		w.run()
		if c.ended { // no URL is left to request
			var pending []string
			for _, crawl := range w.inForce.Crawl.Partitions() {
				pending = append(pending, functionstest.ReadFrontier(t, w.Redis, w.inForce, crawl).Pending...)
			}
			if err := w.learn(1, book.Book{Outcomes: skipped(t, pending, one, one+"new", one+"retried", two, two+"page")}); err != nil {
				t.Fatal(err)
			}
			if err := w.Redis.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			w.run()
		}
		sent := slices.DeleteFunc(w.run(), func(m string) bool {
			return !strings.HasPrefix(m, `index {"storage"`) && !strings.HasPrefix(m, "merge")
		})
		if got := strings.Join(sent, ", "); got != c.want {
			t.Errorf("%s: sent %q, want %q", name, got, c.want)
		}
	}
}

// skipped returns an outcome of each URL that waits. The parameter pending has the identities of the URLs
// that wait.
func skipped(t *testing.T, pending []string, urls ...string) (outcomes []book.Outcome) {
	t.Helper()
	for _, url := range urls {
		if slices.Contains(pending, fmt.Sprint(layout.IdentityOf(url))) {
			outcomes = append(outcomes, functionstest.Outcome(t, version(30), url, book.Skipped))
		}
	}
	if len(outcomes) != len(pending) {
		t.Fatalf("%d of %d URLs are skipped", len(outcomes), len(pending))
	}
	return outcomes
}
