package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestForgotten takes down URLs that are still in objects of the bucket. If the partition's manifest
// says that all URLs of the takedown have been erased, verify must report these objects. If the
// manifest does not say so yet, verify must report none of them.
func TestForgotten(t *testing.T) {
	forget := func(w *world, entries ...takedown.Entry) {
		if _, err := takedown.Forget(w.T.Context(), w.Bucket, entries...); err != nil {
			w.T.Fatal(err)
		}
	}
	url := func(raw string) takedown.Entry {
		a, err := address.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return takedown.URL(a, functionstest.Start)
	}
	done := func(w *world) { w.Commit(func(m *manifest.Manifest) { m.Forgotten = 1 }) }
	for name, test := range map[string]struct {
		do      func(w *world)
		waiting int
		say     []string // problems, by the beginning of their keys
	}{
		"not yet":      {func(w *world) { forget(w, url(site+"1")) }, 1, nil},
		"nothing left": {func(w *world) { forget(w, url(site+"never")); done(w) }, 0, nil},
		"a page": {
			func(w *world) { forget(w, url(site+"1")); done(w) }, 0,
			[]string{layout.Books, layout.Books, layout.Packages, layout.Segments},
		},
		"a source": {
			func(w *world) {
				w.LearnBook(book.Book{Links: []book.Link{functionstest.Link(w.T, site+"never", site+"1", 2)}})
				forget(w, url(site+"never"))
				done(w)
			}, 0,
			[]string{layout.Books},
		},
		"where a redirect leads": {
			func(w *world) {
				o := functionstest.Outcome(w.T, verifytest.Batch(3), site+"waits", book.Skipped)
				o.Detail = "to " + site + "never"
				w.LearnBook(book.Book{Outcomes: []book.Outcome{o}})
				forget(w, url(site+"never"))
				done(w)
			}, 0,
			[]string{layout.Books},
		},
		"a site": {
			func(w *world) {
				w.LearnBook(book.Book{Links: w.Links("http://b.example/1", "http://b.example/2", "http://c.example/")})
				forget(w, takedown.Site("b.example", functionstest.Start))
				done(w)
			}, 0,
			[]string{layout.Books, layout.Books},
		},
		"spooled": {
			func(w *world) {
				v := verifytest.Batch(3)
				functionstest.Put(w.T, w.Bucket, layout.SpoolKey(0, v), functionstest.Spool(w.T, spool.Ledger{
					Batch: v, Outcomes: functionstest.Outcomes(w.T, v, book.Stored, site+"waits"), Links: w.Links(site + "never"),
				}))
				forget(w, url(site+"never"))
				done(w)
			}, 0,
			[]string{layout.Spool},
		},
		"a page that is dead in a merged segment": {
			func(w *world) {
				w.Merge()
				w.mask(0, 1)
				forget(w, url(site+"1"))
				done(w)
			}, 0,
			[]string{layout.Books, layout.Books, layout.Packages, layout.Segments},
		},
		"quarantined": {
			func(w *world) {
				key := layout.QuarantinePrefix("packages/0000/old.spf")
				w.Package(functionstest.Page(verifytest.Batch(2), site+"never"))
				functionstest.Put(w.T, w.Bucket, key, w.Content("packages/0000/2_0_20261121220000000_2.spf"))
				forget(w, url(site+"never"))
				done(w)
			}, 0,
			[]string{layout.Quarantine},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.do(w)
			report, err := (&verify.Verifier{Bucket: w.Bucket, Now: functionstest.Start}).Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var say []string
			for _, p := range report.Problems {
				if p.Kind != verify.Behind {
					t.Errorf("%s: %s", p.Kind, p)
				}
				prefix, _, _ := strings.Cut(p.Key, "/")
				say = append(say, prefix+"/")
			}
			if report.Waiting.Forget != test.waiting || !slices.Equal(say, test.say) {
				t.Errorf("%d partitions wait, problems %q, want %d and %q\n%s", report.Waiting.Forget, say, test.waiting, test.say, sentences(report.Problems))
			}
		})
	}
}
