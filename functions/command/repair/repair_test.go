package repair_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/command/repair"
	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// TestEveryObject deletes or damages each object in turn. After repair, and the work that it leaves
// to other functions, the bucket must have no problem and all URLs must be stored. Only an older
// generation of the manifest cannot be mended; repair must report it.
func TestEveryObject(t *testing.T) {
	whole := done(t)
	keys := functionstest.Keys(t, whole.Bucket, "")
	for name, harm := range map[string]func(w *verifytest.World, key string){
		"deleted":   func(w *verifytest.World, key string) { w.Delete(key) },
		"flipped":   func(w *verifytest.World, key string) { w.Change(key, verifytest.Flip) },
		"began":     func(w *verifytest.World, key string) { w.Change(key, flipAt(1)) },
		"ended":     func(w *verifytest.World, key string) { w.Change(key, flipAt(19)) },
		"truncated": func(w *verifytest.World, key string) { w.Change(key, verifytest.Truncate) },
		"emptied":   func(w *verifytest.World, key string) { w.Change(key, func([]byte) []byte { return nil }) },
	} {
		for _, key := range keys {
			if strings.HasPrefix(key, layout.Strategies) || strings.HasPrefix(key, layout.Collections) || strings.HasPrefix(key, layout.Epochs) {
				continue // documents that the operator has published: see TestApart
			}
			t.Run(name+" "+key, func(t *testing.T) {
				w := whole.Clone(t)
				newest := layout.ManifestKey(0, w.Manifest().Generation)
				harm(w, key)
				before := check(w)
				report := run(w)
				t.Logf("before:\n%s\nmended:\n%s\nleft:\n%s", sentences(before.Problems), strings.Join(report.Mended, "\n"), sentences(report.Left))
				if strings.HasPrefix(key, layout.Manifests) && key != newest {
					if len(report.Mended) > 0 || len(report.Left) != 1 || report.Left[0].Kind == "" {
						t.Errorf("mended %q and left\n%s", report.Mended, sentences(report.Left))
					}
					return
				}
				if len(report.Left) > 0 {
					t.Errorf("left:\n%s", sentences(report.Left))
				}
				w.Settle(links...)
				sound(w, 4)
			})
		}
	}
}

// TestEverySegmentAndOverlay deletes or damages each segment and each overlay of a bucket in turn,
// and repairs the bucket. A damaged segment must be made anew by indexing its packages again. An
// overlay must be made anew without that. One of the segments is the result of a merge.
func TestEverySegmentAndOverlay(t *testing.T) {
	whole := done(t)
	whole.Merge()
	whole.Index(whole.Learn(verifytest.Batch(9), []string{site + "1"}))
	functionstest.Edit(t, whole.Bucket, 0, func(e *partition.Edit) error {
		s := e.Manifest().Segments[0]
		e.SetRanked("some books")
		unvisited, err := segments.Build([]*segments.Page{{Document: segment.Document{URL: site + "9", Headings: []string{"text"}}}})
		if err != nil {
			return err
		}
		if _, err := e.SetUnvisited(t.Context(), unvisited, 1, 0); err != nil {
			return err
		}
		words, err := dictionary.Encode("en", "de", nil)
		if err != nil {
			return err
		}
		if err := e.SetDictionary(t.Context(), manifest.Dictionary{From: "en", To: "de"}, words); err != nil {
			return err
		}
		_, err = e.SetRanks(t.Context(), map[string][]segment.Rank{s.Key: make([]segment.Rank, s.Documents)})
		return err
	})
	sound(whole, 4)
	if m := whole.Manifest(); len(m.Segments) != 2 || m.Segments[0].Dead() != 1 {
		t.Fatalf("segments %+v", m.Segments)
	}
	for name, harm := range map[string]func(w *verifytest.World, key string){
		"deleted":   func(w *verifytest.World, key string) { w.Delete(key) },
		"flipped":   func(w *verifytest.World, key string) { w.Change(key, verifytest.Flip) },
		"truncated": func(w *verifytest.World, key string) { w.Change(key, verifytest.Truncate) },
	} {
		m := whole.Manifest()
		keys := []string{m.Unvisited.Key, m.Dictionaries.All[0].Key}
		for _, s := range m.Segments {
			keys = append(keys, s.Key)
			for key := range s.Overlays() {
				keys = append(keys, key)
			}
		}
		for _, key := range keys {
			t.Run(name+" "+key, func(t *testing.T) {
				w := whole.Clone(t)
				harm(w, key)
				report := run(w)
				t.Logf("mended:\n%s\nleft:\n%s", strings.Join(report.Mended, "\n"), sentences(report.Left))
				if len(report.Left) > 0 || strings.HasPrefix(key, layout.Overlays) != (report.Index == 0) {
					t.Errorf("left:\n%s\n%d packages are to be indexed", sentences(report.Left), report.Index)
				}
				if name != "deleted" {
					quarantined(w, key)
				}
				w.Settle(links...)
				sound(w, 4)
			})
		}
	}
}

// TestPackageOfAMergedSegment merges the segments of all packages into one, and then harms one
// package. If the package is deleted, its two documents in the merged segment must become dead. If
// one of its pages is damaged, they must not all become dead. In both cases the manifest must still
// list the merged segment.
func TestPackageOfAMergedSegment(t *testing.T) {
	whole := done(t)
	whole.Merge()
	for name, harm := range map[string]func(w *verifytest.World, key string){
		"lost":    func(w *verifytest.World, key string) { w.Delete(key) },
		"damaged": func(w *verifytest.World, key string) { w.Change(key, flipPage) },
	} {
		w := whole.Clone(t)
		harm(w, w.Manifest().Packages[1].Key)
		report := run(w)
		m := w.Manifest()
		if len(report.Left) > 0 || len(m.Segments) != 1 || (m.Segments[0].Dead() == 2) != (name == "lost") {
			t.Errorf("%s: %q, segments %+v, left:\n%s", name, report.Mended, m.Segments, sentences(report.Left))
		}
		w.Settle(links...)
		sound(w, 4)
	}
}

// TestRepairOutlastsEveryFault lets each call of the object store fail in turn while repair runs.
// Another run must lead to the same end as without the fault.
func TestRepairOutlastsEveryFault(t *testing.T) {
	whole := done(t)
	for name, harm := range map[string]func(w *verifytest.World){
		"page": func(w *verifytest.World) { w.Change(w.Manifest().Packages[1].Key, flipPage) },
		"page that is called gone": func(w *verifytest.World) {
			w.Commit(func(m *manifest.Manifest) {
				m.AddGone(manifest.Gone{ID: layout.IdentityOf(site + "1"), Version: verifytest.Batch(9)})
			})
			w.Mask()
		},
		"all": func(w *verifytest.World) {
			m := w.Manifest()
			w.Change(m.Packages[0].Key, verifytest.Truncate)
			w.Change(m.Segments[1].Key, verifytest.Flip)
			w.Change(m.Books[1].Key, verifytest.Flip)
			w.Change(layout.ManifestKey(0, m.Generation), verifytest.Truncate)
		},
	} {
		t.Run(name, func(t *testing.T) {
			faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
				w := whole.Clone(t)
				harm(w)
				if _, err := repairer(faultblob.New(w.Bucket, decide)).Run(t.Context()); err != nil && !errors.Is(err, blob.ErrRetryable) {
					t.Fatal(err)
				}
				if report := run(w); len(report.Left) > 0 {
					t.Errorf("left:\n%s", sentences(report.Left))
				}
				w.Settle(links...)
				sound(w, 4)
			})
		})
	}
}

func TestNothingToMend(t *testing.T) {
	w := done(t)
	generation := w.Manifest().Generation
	if diff := cmp.Diff(0, len(run(w).Mended)); diff != "" || w.Manifest().Generation != generation {
		t.Errorf("something was mended in a sound bucket")
	}
}

// TestMended checks for each kind of damage the sentence in the report, and the state after the
// repair.
func TestMended(t *testing.T) {
	whole := done(t)
	second := func(w *verifytest.World) manifest.Package { return w.Manifest().Packages[1] }
	for name, test := range map[string]struct {
		harm  func(w *verifytest.World)
		fetch int
		index int
		say   string
		check func(w *verifytest.World, before, after manifest.Manifest)
	}{
		"page": {
			func(w *verifytest.World) { w.Change(second(w).Key, flipPage) }, 1, 1, "keeps its 1 sound pages",
			func(w *verifytest.World, before, after manifest.Manifest) {
				old, own := before.Packages[1], after.Packages[1]
				if own.Key == old.Key || own.ID != old.ID || !cmp.Equal(own.Formerly, []string{old.Key}) || own.Pages != 1 {
					w.T.Errorf("listed %+v", own)
				}
				if len(after.Condemned) != 1 || after.Condemned[0].Key != old.Key {
					w.T.Errorf("condemned %+v", after.Condemned)
				}
				if len(after.Segments) != len(before.Segments) {
					w.T.Error("its segment did not stay")
				}
				quarantined(w, old.Key)
			},
		},
		"package": {
			func(w *verifytest.World) { w.Change(second(w).Key, verifytest.Truncate) }, 2, 0, "its 2 pages are fetched again",
			func(w *verifytest.World, before, after manifest.Manifest) {
				if len(after.Packages) != len(before.Packages)-1 || len(after.Segments) != len(before.Segments)-1 {
					w.T.Errorf("%d packages and %d segments are listed", len(after.Packages), len(after.Segments))
				}
				quarantined(w, before.Packages[1].Key)
			},
		},
		"segment": {
			func(w *verifytest.World) { w.Change(w.Manifest().Segments[1].Key, verifytest.Flip) }, 0, 1, "is made anew",
			func(w *verifytest.World, before, after manifest.Manifest) {
				if after.Packages[1].Indexed || after.Learnt != before.Learnt {
					w.T.Errorf("%+v", after)
				}
				quarantined(w, before.Segments[1].Key)
			},
		},
		"book": {
			func(w *verifytest.World) { w.Delete(w.Manifest().Books[0].Key) }, 1, 0, "what it told of is fetched again",
			func(w *verifytest.World, before, after manifest.Manifest) {
				if after.Learnt == before.Learnt || after.Learnt != after.Books[len(after.Books)-1].Key {
					w.T.Errorf("learnt %q", after.Learnt)
				}
			},
		},
		"book of links": {
			func(w *verifytest.World) {
				w.LearnBook(book.Book{Links: w.Links(site + "1")})
				w.Delete(w.Manifest().Books[3].Key)
			}, 0, 0, "what it told of is fetched again",
			func(w *verifytest.World, before, after manifest.Manifest) {
				if after.Learnt == before.Learnt {
					w.T.Error("frontiers do not find themselves behind")
				}
			},
		},
		"page that is there twice": {
			func(w *verifytest.World) {
				page := functionstest.Page(verifytest.Batch(2), site+"1")
				page.MIME = "text/plain"
				pkg, _ := w.Package(page, functionstest.Page(verifytest.Batch(1), site+"2"))
				w.Commit(func(m *manifest.Manifest) { m.Add(pkg) })
			}, 0, 1, "keeps its 1 sound pages",
			func(w *verifytest.World, before, after manifest.Manifest) {},
		},
		"page of no outcome": {
			func(w *verifytest.World) {
				pkg, _ := w.Package(functionstest.Page(verifytest.Batch(7), site+"1"))
				w.Commit(func(m *manifest.Manifest) { m.Add(pkg) })
			}, 1, 1, "takes back",
			func(*verifytest.World, manifest.Manifest, manifest.Manifest) {},
		},
		"outcome of no page": {
			func(w *verifytest.World) {
				_, outcomes := w.Package(functionstest.Page(verifytest.Batch(7), site+"1"))
				w.LearnBook(book.Book{Outcomes: outcomes})
			}, 1, 0, "takes back",
			func(*verifytest.World, manifest.Manifest, manifest.Manifest) {},
		},
		"listed wrongly": {
			func(w *verifytest.World) {
				w.Commit(func(m *manifest.Manifest) {
					m.Packages[0].Pages, m.Books[0].Bytes = 7, 7
					m.Condemn(functionstest.Start, m.Books[1].Key, m.Segments[1].Key, m.Packages[1].Key)
				})
			}, 0, 2, "was listed wrongly",
			func(w *verifytest.World, before, after manifest.Manifest) {
				old := before.Segments[1].Key // sound, and of the past
				if len(after.Condemned) != 1 || after.Condemned[0].Key != old || after.Condemned[0].Since != after.Generation {
					w.T.Errorf("condemned %+v", after.Condemned)
				}
				w.Content(old)
			},
		},
		"listed twice": {
			func(w *verifytest.World) {
				w.Commit(func(m *manifest.Manifest) {
					m.Add(m.Packages[0])
					m.Books = append(m.Books, m.Books[0])
				})
			}, 0, 1, "was listed wrongly",
			func(w *verifytest.World, before, after manifest.Manifest) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := whole.Clone(t)
			test.harm(w)
			before := w.Manifest()
			report := run(w)
			if len(report.Left) > 0 {
				t.Errorf("left:\n%s", sentences(report.Left))
			}
			if report.Fetch != test.fetch || report.Index != test.index || !strings.Contains(strings.Join(report.Mended, "\n"), test.say) {
				t.Errorf("%+v, want %d to be fetched, %d to be indexed, and to hear of %q", report, test.fetch, test.index, test.say)
			}
			test.check(w, before, w.Manifest())
			w.Settle(links...)
			sound(w, 4)
		})
	}
}

// quarantined fails the test unless quarantine has a copy of the damaged object with the key.
func quarantined(w *verifytest.World, key string) {
	w.T.Helper()
	if len(functionstest.Keys(w.T, w.Bucket, layout.QuarantinePrefix(key)+"@")) == 0 {
		w.T.Errorf("no copy of %s is kept", key)
	}
}

// flipAt returns a function that flips one bit of its argument. The position of the bit is given in
// twentieths of the argument's length: for 10, the bit is in the middle.
func flipAt(twentieths int) func([]byte) []byte {
	return func(content []byte) []byte {
		content[len(content)*twentieths/20] ^= 4
		return content
	}
}

func flipPage(content []byte) []byte {
	content[100] ^= 1
	return content
}

// TestOverlayOfWhatIsForgotten deletes the overlay that marks a document of a segment as dead because
// of a takedown. The manifest's field Erase of the segment is true: the segment is to be rewritten
// without its dead documents. Repair does not mark the document again, because to find documents of
// forgotten pages is the work of the sweep. So after the repair the segment has no dead document that
// could be left out, and the field Erase must be false.
func TestOverlayOfWhatIsForgotten(t *testing.T) {
	w := done(t)
	i := slices.IndexFunc(w.Manifest().Segments, func(s manifest.Segment) bool { return s.Documents > 1 })
	key := w.Manifest().Segments[i].Key
	functionstest.Edit(t, w.Bucket, 0, func(e *partition.Edit) error {
		e.RewriteSegment(key)
		return e.Mask(t.Context(), map[string]*roaring.Bitmap{key: roaring.BitmapOf(0)})
	})
	w.Delete(w.Manifest().Segments[i].Deletions.Key)
	run(w)
	if s := w.Manifest().Segments[i]; s.Erase || s.Dead() != 0 {
		t.Errorf("listed %+v", s)
	}
	sound(w, 4)
}

// TestTextNoMore fetches a page of text again, and now there is an image at its URL. An image has no
// text to search, so no live document belongs to the URL any more. That is no problem: repair must
// mend nothing.
func TestTextNoMore(t *testing.T) {
	w := done(t)
	p := functionstest.Page(verifytest.Batch(9), site+"1")
	p.MIME = "image/png"
	w.Index(w.LearnPages([]webobject.Object{p}))
	sound(w, 4)
	if report := run(w); len(report.Mended) > 0 {
		t.Errorf("mended %v", report.Mended)
	}
}

// TestSuspended suspends repair for an hour between storing a package and committing the manifest that
// lists it. Another process may delete a package that no manifest has listed for long, so commits have a
// time limit (manifest.Fresh). Repair must fail without a commit, and succeed when it is run again.
func TestSuspended(t *testing.T) {
	w := done(t)
	w.Change(w.Manifest().Packages[1].Key, flipPage)
	generation := w.Manifest().Generation
	clock := functionstest.NewClock()
	r := repairer(faultblob.New(w.Bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Packages) {
			clock.Advance(manifest.Fresh)
		}
		return faultblob.None
	}))
	r.Now = clock.Now
	if _, err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "run it again") || w.Manifest().Generation != generation {
		t.Errorf("got %v", err)
	}
	run(w)
	w.Settle(links...)
	sound(w, 4)
}

// TestFrontier has repair mend this problem: a URL still has to be fetched according to the books, but
// the frontier (the crawl's queues in Redis) does not have it. Repair must not change the manifest. It
// must report that the caller has to rebuild the frontier.
func TestFrontier(t *testing.T) {
	w := done(t)
	problem := verify.Problem{Kind: verify.Behind, URL: site, Detail: "is pending in the books, and not in the frontier"}
	r := repairer(w.Bucket)
	generation := w.Manifest().Generation
	report, err := r.Run(t.Context())
	if err != nil || report.Rebuild {
		t.Fatalf("%+v, %v", report, err)
	}
	if err := r.Mend(t.Context(), []verify.Problem{problem}, &report); err != nil || !report.Rebuild || w.Manifest().Generation != generation {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestProblemsThatAreNone gives repair wrong reports of problems: the objects in these reports are
// sound, or were never stored. Repair must do no harm.
func TestProblemsThatAreNone(t *testing.T) {
	w := done(t)
	m := w.Manifest()
	var problems []verify.Problem
	for _, key := range []string{
		m.Packages[0].Key, m.Books[0].Key, "packages/0000/2_0_20261121220000000_77.spf", layout.BookKey(0, "none"), layout.SegmentKey(0, "none"),
		layout.SpoolKey(0, verifytest.Batch(9)), layout.ManifestKey(0, 2), "nonsense",
	} {
		problems = append(problems, verify.Problem{Kind: verify.Damaged, Key: key, Detail: fmt.Sprint("of ", key)})
	}
	problems = append(problems, verify.Problem{Kind: verify.Unaccounted, URL: "no URL"})
	if err := repairer(w.Bucket).Mend(t.Context(), problems, new(repair.Report)); err != nil {
		t.Fatal(err)
	}
	w.Settle()
	sound(w, 4)
	if !bytes.Equal(w.Content(layout.HintKey(0)), w.Content(layout.ManifestKey(0, w.Manifest().Generation))) {
		t.Error("the hint is no copy of the newest generation")
	}
}

// TestNewerSegment repairs a bucket with a segment that a newer program has written. Repair must fail, and leave it.
func TestNewerSegment(t *testing.T) {
	w := done(t)
	old := w.Manifest().Segments[0].Key
	content := bytes.Clone(w.Content(old))
	content[5] = 99 // the version in the magic bytes
	key := layout.SegmentKey(0, layout.ContentHash(content))
	if err := w.Bucket.Create(t.Context(), key, content); err != nil {
		t.Fatal(err)
	}
	w.Commit(func(m *manifest.Manifest) { m.Segments[0].Key = key })
	if _, err := repairer(w.Bucket).Run(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "use a newer program") {
		t.Errorf("repaired: %v", err)
	}
	if got := w.Content(key); !bytes.Equal(got, content) || w.Manifest().Segments[0].Key != key {
		t.Error("the segment is gone")
	}
}
