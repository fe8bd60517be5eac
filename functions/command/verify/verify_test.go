package verify_test

import (
	"context"
	"encoding/json"
	"regexp"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

var small = verify.Report{Generations: 5, URLs: 4, Stored: 3, Pending: 1, Pages: 3, Packages: 2, Books: 2, Segments: 2}

func TestNothingIsWrong(t *testing.T) {
	w := newWorld(t)
	verifier := verify.Verifier{Bucket: w.Bucket, Now: functionstest.Start, Frontiers: []*frontier.Frontier{w.front}}
	for range 2 {
		report, err := verifier.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(small, report); diff != "" || !report.Sound() {
			t.Errorf("report (-want +got):\n%s", diff)
		}
	}
}

// TestNoProblem changes a small bucket in ways that are no problem: verify must report none.
func TestNoProblem(t *testing.T) {
	one := site + "1"
	again := func(w *world, token uint64) manifest.Package {
		return w.Learn(verifytest.Batch(token), []string{one})
	}
	outcome := func(w *world, v layout.Version, state book.State) {
		w.LearnBook(book.Book{Outcomes: functionstest.Outcomes(w.T, v, state, one)})
	}
	for name, test := range map[string]struct {
		done func(w *world)
		want func(r *verify.Report)
	}{
		"orphans": {
			func(w *world) {
				w.Package(functionstest.Page(verifytest.Batch(1), site+"orphan"))
				functionstest.Put(w.T, w.Bucket, layout.SegmentKey(0, layout.ContentHash([]byte("?"))), []byte("?"))
			},
			func(r *verify.Report) { r.Orphans = 2 },
		},
		"commit that never came, or is lost with its hint": {
			func(w *world) {
				v := verifytest.Batch(3)
				_, outcomes := w.Package(functionstest.Page(v, one))
				content, err := book.Encode(book.Book{Outcomes: outcomes})
				if err != nil {
					w.T.Fatal(err)
				}
				functionstest.Put(w.T, w.Bucket, layout.BookKey(0, layout.ContentHash(content)), content)
				functionstest.Put(w.T, w.Bucket, layout.SpoolKey(0, v), functionstest.Spool(w.T, spool.Ledger{
					Batch: v, Outcomes: functionstest.Outcomes(w.T, v, book.Stored, one),
				}))
			},
			func(r *verify.Report) {
				r.Orphans, r.Waiting.Spool = 2, 1
				r.Notes = []string{"books/0000/HASH.book is in no generation: batch 00000001-000000000003 was put and never committed, or its commit is lost; the next start packs it"}
			},
		},
		"hint lost": {
			func(w *world) { w.Delete(layout.HintKey(0)) },
			func(*verify.Report) {},
		},
		"hint of an earlier generation": {
			func(w *world) {
				w.Change(layout.HintKey(0), func([]byte) []byte { return w.Content(layout.ManifestKey(0, 3)) })
			},
			func(*verify.Report) {},
		},
		"package not indexed": {
			func(w *world) { again(w, 3) },
			func(r *verify.Report) {
				r.Generations, r.Pages, r.Packages, r.Books, r.Waiting.Index = 6, 4, 3, 3, 1
			},
		},
		"segments merged": {
			func(w *world) { w.Merge() },
			func(r *verify.Report) { r.Generations, r.Segments, r.Waiting.Delete = 6, 1, 2 },
		},
		"page of a merged segment fetched again": {
			func(w *world) {
				w.Merge()
				w.Index(again(w, 3))
			},
			func(r *verify.Report) {
				r.Generations, r.Pages, r.Packages, r.Books, r.Segments, r.Waiting.Delete = 8, 4, 3, 3, 2, 2
			},
		},
		"package lost and not in any segment any more": {
			func(w *world) {
				w.Merge()
				functionstest.Edit(w.T, w.Bucket, 0, func(e *partition.Edit) error { return e.UnlistPackage(w.T.Context(), secondPackage) })
				w.Delete(secondPackage)
				w.LearnBook(book.Book{Outcomes: functionstest.Outcomes(w.T, layout.Version{Epoch: 2}, book.Lost, site+"1", site+"2")})
				w.front = nil
			},
			func(r *verify.Report) {
				r.Generations, r.Pages, r.Packages, r.Books, r.Segments, r.Waiting.Delete = 8, 1, 1, 3, 1, 2
				r.Stored, r.Pending, r.Waiting.Fetch = 1, 3, 2
			},
		},
		"generations forgotten": {
			func(w *world) {
				w.Commit(func(m *manifest.Manifest) { m.Oldest = 4 })
				for number := range uint64(3) {
					w.Delete(layout.ManifestKey(0, number+1))
				}
			},
			func(r *verify.Report) { r.Generations = 3 },
		},
		"generations about to be forgotten": {
			func(w *world) {
				w.Commit(func(m *manifest.Manifest) { m.Oldest = 4 })
				w.Delete(layout.ManifestKey(0, 1))
				w.Delete(layout.ManifestKey(0, 3))
			},
			func(r *verify.Report) { r.Generations = 3 },
		},
		"page fetched again": {
			func(w *world) { w.Index(again(w, 3)) },
			func(r *verify.Report) { r.Generations, r.Pages, r.Packages, r.Books, r.Segments = 7, 4, 3, 3, 3 },
		},
		"page unchanged": {
			func(w *world) { outcome(w, verifytest.Batch(3), book.Unchanged) },
			func(r *verify.Report) { r.Generations, r.Books = 6, 3 },
		},
		"page gone from the web": {
			func(w *world) { w.Lose(verifytest.Batch(3), one) },
			func(r *verify.Report) {
				r.Generations, r.Books, r.Stored, r.Failed, r.Waiting.Gone = 6, 3, 2, 1, 1
			},
		},
		"page gone and masked": {
			func(w *world) { w.Lose(verifytest.Batch(3), one); w.Mask() },
			func(r *verify.Report) { r.Generations, r.Books, r.Stored, r.Failed = 7, 3, 2, 1 },
		},
		"page gone that nobody has to think of any more": {
			func(w *world) {
				w.Lose(verifytest.Batch(3), one)
				w.Mask()
				w.Commit(func(m *manifest.Manifest) { m.Gone = nil })
			},
			func(r *verify.Report) { r.Generations, r.Books, r.Stored, r.Failed = 8, 3, 2, 1 },
		},
		"page gone and come back": {
			func(w *world) {
				w.Lose(verifytest.Batch(3), one)
				w.Mask()
				w.Index(again(w, 4))
			},
			func(r *verify.Report) {
				r.Generations, r.Books, r.Pages, r.Packages, r.Segments = 9, 4, 4, 3, 3
			},
		},
		"page gone as the spool says": {
			func(w *world) {
				v := verifytest.Batch(3)
				functionstest.Put(w.T, w.Bucket, layout.SpoolKey(0, v), functionstest.Spool(w.T, spool.Ledger{
					Batch: v, Outcomes: functionstest.Outcomes(w.T, v, book.Failed, one),
				}))
			},
			func(r *verify.Report) { r.Waiting.Spool, r.Stored, r.Failed = 1, 2, 1 },
		},
		"spooled": {
			func(w *world) {
				v := verifytest.Batch(3)
				functionstest.Put(w.T, w.Bucket, layout.SpoolKey(0, v), functionstest.Spool(w.T, spool.Ledger{
					Batch: v, Outcomes: functionstest.Outcomes(w.T, v, book.Stored, one),
				}))
			},
			func(r *verify.Report) { r.Waiting.Spool = 1 },
		},
		"spool object that comes too late": {
			func(w *world) {
				w.Commit(func(m *manifest.Manifest) { m.Close(verifytest.Batch(3)) })
				functionstest.Put(w.T, w.Bucket, layout.SpoolKey(0, verifytest.Batch(3)), []byte("?"))
			},
			func(r *verify.Report) { r.Generations = 6 },
		},
		"page erased that nothing names": {
			func(w *world) {
				pkg := w.Learn(verifytest.Batch(3), []string{one, site + "2"})
				w.Index(pkg)
				erase(w, pkg.Key, one)
				w.Index(w.Manifest().Packages[2])
				v := layout.Version{Epoch: 1, Token: 4}
				w.LearnBook(book.Book{Outcomes: functionstest.Outcomes(w.T, v, book.Failed, one)})
			},
			func(r *verify.Report) {
				r.Generations, r.Pages, r.Packages, r.Books, r.Segments, r.Stored, r.Failed = 10, 4, 3, 4, 2, 2, 1
				r.Waiting.Delete = 3 // the replaced segments, too, wait to be deleted
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.done(w)
			want := small
			test.want(&want)
			got := w.verify()
			for i, note := range got.Notes {
				got.Notes[i] = regexp.MustCompile(`[0-9a-f]{32}`).ReplaceAllString(note, "HASH")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s\n%s", diff, sentences(got.Problems))
			}
		})
	}
}

// erase removes a page from a package, as the sweep does for forgotten pages and repair for damaged
// ones.
func erase(w *world, key, url string) {
	w.T.Helper()
	content, erased, err := webobject.Erase(w.Content(key), func(l webobject.Listed) bool { return l.URL == url })
	if err != nil || erased != 1 {
		w.T.Fatalf("erased %d, %v", erased, err)
	}
	p, name, err := layout.ParsePackageKey(key)
	if err != nil {
		w.T.Fatal(err)
	}
	name.Collision += 100
	next := layout.PackageKey(p, name)
	functionstest.Put(w.T, w.Bucket, next, content)
	w.Commit(func(m *manifest.Manifest) {
		own := m.Package(key)
		own.Key, own.Formerly, own.Bytes, own.Indexed = next, append(own.Formerly, key), int64(len(content)), false
		own.Pages -= erased
		m.Condemn(functionstest.Start, key)
	})
}

// TestLost gives the seed an outcome Lost: its page is lost, and is to be fetched again. The test also
// stores another page to which no known link leads. As the lost page may have had such a link, verify
// must report no problem with the other page, but count it in Waiting.Find. Nor must it report the old
// page and document of the seed, which are still there.
func TestLost(t *testing.T) {
	w := newWorld(t)
	w.front = nil
	lost := functionstest.Outcomes(t, layout.Version{Epoch: 2}, book.Lost, site)
	w.LearnBook(book.Book{Outcomes: lost})
	far := functionstest.Page(verifytest.Batch(3), "http://a.example/far")
	w.Index(w.LearnPages([]webobject.Object{far}))
	report, err := (&verify.Verifier{Bucket: w.Bucket, Now: functionstest.Start}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !report.Sound() || report.Waiting.Find != 1 || report.Pending != 2 {
		t.Errorf("%+v\n%s", report, sentences(report.Problems))
	}
}

func TestURLWaitsInTwoFrontiers(t *testing.T) {
	w := newWorld(t)
	other := frontier.New(redistest.Server(t), 0)
	entry := frontier.Entry{URL: site + "waits", ID: layout.IdentityOf(site + "waits"), Host: "a.example"}
	if _, err := other.Admit(t.Context(), functionstest.Start, []frontier.Entry{entry}); err != nil {
		t.Fatal(err)
	}
	report, err := (&verify.Verifier{Bucket: w.Bucket, Now: functionstest.Start, Frontiers: []*frontier.Frontier{w.front, other}}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []verify.Problem{{Kind: verify.Double, URL: entry.ID.String(), Detail: "waits in two frontiers"}}
	if diff := cmp.Diff(want, report.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestProofThatCannotBeFinished(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&verify.Verifier{Bucket: w.Bucket, Now: functionstest.Start}).Run(ctx); err == nil {
		t.Error("no error, though nothing could be read")
	}
}

func TestProgress(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	last := make(map[verify.Stage]verify.Progress)
	verifier := verify.Verifier{Bucket: w.Bucket, Now: functionstest.Start, Progress: func(p verify.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Done >= last[p.Stage].Done {
			last[p.Stage] = p
		}
	}}
	if _, err := verifier.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []verify.Stage{verify.Manifests, verify.Packages, verify.Books, verify.Ranges, verify.Segments} {
		if p := last[stage]; p.Total == 0 || p.Done != p.Total {
			t.Errorf("%s ends at %d of %d", stage, p.Done, p.Total)
		}
	}
}

func TestReportIsJSON(t *testing.T) {
	report := verify.Report{URLs: 1, Problems: []verify.Problem{{
		Kind: verify.Damaged, Partition: 3, Key: "packages/0003/x.spf", Offset: 7, URL: "http://a/", Detail: "is damaged",
	}}}
	content, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var again verify.Report
	if err := json.Unmarshal(content, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, again); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	const want = "http://a/ in packages/0003/x.spf at byte 7 is damaged"
	if got := report.Problems[0].String(); got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

// TestRemovedCollection removes a collection: its former seed must still count as a discovered URL.
func TestRemovedCollection(t *testing.T) {
	w := verifytest.New(t)
	w.Index(w.Learn(verifytest.Batch(1), []string{verifytest.Site}))
	if _, err := collection.Remove(t.Context(), w.Bucket, w.Settings.Collections[0].Name); err != nil {
		t.Fatal(err)
	}
	verifier := verify.Verifier{Bucket: w.Bucket, Now: functionstest.NewClock().Now()}
	report, err := verifier.Run(t.Context())
	if err != nil || !report.Sound() || report.Waiting.Find != 0 || report.Stored != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}
