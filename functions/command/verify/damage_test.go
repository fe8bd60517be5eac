package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// TestDamage damages a bucket in many ways. Verify must report each damage as a problem of the
// given kind, in a sentence that contains all the given words.
func TestDamage(t *testing.T) {
	batch := verifytest.Batch(2)
	for name, test := range map[string]struct {
		harm func(w *world)
		want verify.Kind
		say  []string
	}{
		"byte of a page flipped": {
			func(w *world) { w.Change(secondPackage, flipAt(100)) },
			verify.Damaged, []string{site + "1 in " + secondPackage + " at byte ", "is damaged"},
		},
		"end of a package flipped": {
			func(w *world) {
				w.Change(secondPackage, func(b []byte) []byte { return flipAt(len(b) - 10)(b) })
			},
			verify.Damaged, []string{secondPackage + " is damaged, and with it all of its 2 pages"},
		},
		"package deleted": {
			func(w *world) { w.Delete(secondPackage) },
			verify.Missing, []string{secondPackage + " is missing"},
		},
		"package of another size": {
			func(w *world) { w.Commit(func(m *manifest.Manifest) { m.Packages[1].Bytes++ }) },
			verify.Damaged, []string{secondPackage, "and the manifest says"},
		},
		"package listed twice": {
			func(w *world) { w.Commit(func(m *manifest.Manifest) { m.Add(m.Packages[1]) }) },
			verify.Double, []string{secondPackage + " is listed twice"},
		},
		"package listed and condemned": {
			func(w *world) {
				w.Commit(func(m *manifest.Manifest) { m.Condemn(functionstest.Start, secondPackage) })
			},
			verify.Double, []string{secondPackage + " is listed and condemned"},
		},
		"page that is booked and not there": {
			func(w *world) {
				_, outcomes := w.Package(functionstest.Page(verifytest.Batch(3), site+"2"))
				w.LearnBook(book.Book{Outcomes: outcomes})
			},
			verify.Missing, []string{site + "2 in packages/0000/2_0_20261121220000000_2.spf at byte", "is said to stand there since batch"},
		},
		"unchanged page that was never stored": {
			func(w *world) {
				w.LearnBook(book.Book{Outcomes: functionstest.Outcomes(w.T, batch, book.Unchanged, site+"waits")})
			},
			verify.Missing, []string{site + "waits is said to be what it was"},
		},
		"page that is gone and searched": {
			func(w *world) {
				w.Lose(verifytest.Batch(3), site+"1")
				w.Commit(func(m *manifest.Manifest) { m.Gone = nil })
			},
			verify.Stale, []string{site + "1 in segments/0000/", "is still searched, although the page is gone"},
		},
		"page that is called masked and searched": {
			func(w *world) {
				w.Lose(verifytest.Batch(3), site+"1")
				w.Commit(func(m *manifest.Manifest) { m.Gone[0].Masked = true })
			},
			verify.Stale, []string{site + "1 in segments/0000/", "is still searched, although the page is gone"},
		},
		"page that is called gone, and no book says so": {
			func(w *world) {
				w.Commit(func(m *manifest.Manifest) {
					m.AddGone(manifest.Gone{ID: layout.IdentityOf(site + "1"), Version: verifytest.Batch(3)})
				})
				w.Mask()
			},
			verify.Missing, []string{secondPackage + " is indexed without 1 of its pages"},
		},
		"pages miscounted": {
			func(w *world) { w.Commit(func(m *manifest.Manifest) { m.Packages[0].Pages++ }) },
			verify.Damaged, []string{firstPackage + " holds 1 pages, and the manifest says 2"},
		},
		"package without a book": {
			func(w *world) {
				pkg, _ := w.Package(functionstest.Page(batch, site+"extra"))
				w.Commit(func(m *manifest.Manifest) { m.Add(pkg) })
			},
			verify.Unaccounted, []string{site + "extra in packages/0000/", "no outcome says so"},
		},
		"page newer than its outcome": {
			func(w *world) {
				pkg, _ := w.Package(functionstest.Page(verifytest.Batch(3), site+"1"))
				w.Commit(func(m *manifest.Manifest) { m.Add(pkg) })
			},
			verify.Unaccounted, []string{site + "1 in packages/0000/", "was fetched by batch 00000001-000000000003, and the last outcome is of 00000001-000000000002"},
		},
		"page packed twice": {
			func(w *world) {
				own := functionstest.Page(batch, site+"1")
				own.MIME = "text/plain"
				pkg, outcomes := w.Package(own)
				w.LearnBook(book.Book{Outcomes: outcomes}, pkg)
			},
			verify.Double, []string{site + "1 in packages/0000/2_0_20261121220000000_2.spf", "is the page of batch 00000001-000000000002, which stands in " + secondPackage},
		},
		"segment cut": {
			func(w *world) {
				w.Change(oneSegment(w), func(content []byte) []byte { return content[:len(content)-7] })
			},
			verify.Damaged, []string{"segments/0000/", "bytes, and the manifest says"},
		},
		"segment deleted": {
			func(w *world) { w.Delete(oneSegment(w)) },
			verify.Missing, []string{"segments/0000/", "is missing"},
		},
		"byte of a segment flipped": {
			func(w *world) { w.Change(oneSegment(w), verifytest.Flip) },
			verify.Damaged, []string{"segments/0000/", "is damaged"},
		},
		"documents miscounted": {
			func(w *world) { w.Commit(func(m *manifest.Manifest) { m.Segments[0].Documents++ }) },
			verify.Damaged, []string{"holds 1 documents, and the manifest says 2"},
		},
		"segment changed into another": {
			func(w *world) {
				w.Change(oneSegment(w), func([]byte) []byte { return w.Content(w.Manifest().Segments[0].Key) })
			},
			verify.Damaged, []string{"its content is that of segments/0000/"},
		},
		"tail of another size": {
			func(w *world) { w.Commit(func(m *manifest.Manifest) { m.Segments[0].Tail++ }) },
			verify.Damaged, []string{"has a tail of ", "and the manifest says"},
		},
		"parts of other packages": {
			func(w *world) { w.Commit(func(m *manifest.Manifest) { m.Segments[1].Parts[0].Package = 0 }) },
			verify.Damaged, []string{"segments/0000/", "holds other parts than the manifest says"},
		},
		"parts miscounted": {
			func(w *world) {
				w.Commit(func(m *manifest.Manifest) { m.Segments[1].Parts = []manifest.Part{{Package: 1, Documents: 1}} })
			},
			verify.Damaged, []string{"holds other parts than the manifest says"},
		},
		"overlay lost": {
			func(w *world) { w.Delete(oneOverlay(w)) },
			verify.Missing, []string{"overlays/0000/", "is missing"},
		},
		"byte of an overlay flipped": {
			func(w *world) { w.Change(oneOverlay(w), verifytest.Flip) },
			verify.Damaged, []string{"overlays/0000/", "is damaged"},
		},
		"overlay of other documents": {
			func(w *world) {
				oneOverlay(w)
				w.Commit(func(m *manifest.Manifest) { m.Segments[1].Deletions.Documents++ })
			},
			verify.Damaged, []string{"overlays/0000/", "it speaks of 1 dead of 2 documents"},
		},
		"anchors lost": {
			func(w *world) { w.Delete(anchors(w)) },
			verify.Missing, []string{"overlays/0000/", "is missing"},
		},
		"byte of anchors flipped": {
			func(w *world) { w.Change(anchors(w), verifytest.Flip) },
			verify.Damaged, []string{"overlays/0000/", "is damaged"},
		},
		"unvisited URLs lost": {
			func(w *world) { w.Delete(unvisited(w)) },
			verify.Missing, []string{"overlays/0000/", "is missing"},
		},
		"byte of unvisited URLs flipped": {
			func(w *world) { w.Change(unvisited(w), verifytest.Flip) },
			verify.Damaged, []string{"overlays/0000/", "is damaged"},
		},
		"another number of unvisited URLs": {
			func(w *world) {
				unvisited(w)
				w.Commit(func(m *manifest.Manifest) {
					listed := *m.Unvisited
					listed.Documents++
					m.Unvisited = &listed
				})
			},
			verify.Damaged, []string{"overlays/0000/", "there are 1, and the manifest says 2"},
		},
		"dictionary lost": {
			func(w *world) { w.Delete(bilingual(w)) },
			verify.Missing, []string{"overlays/0000/", "is missing"},
		},
		"byte of a dictionary flipped": {
			func(w *world) { w.Change(bilingual(w), verifytest.Flip) },
			verify.Damaged, []string{"overlays/0000/", "is damaged"},
		},
		"dictionary of other languages": {
			func(w *world) {
				bilingual(w)
				w.Commit(func(m *manifest.Manifest) {
					m.Dictionaries = &manifest.Dictionaries{All: slices.Clone(m.Dictionaries.All)}
					m.Dictionaries.All[0].To = "fr"
				})
			},
			verify.Damaged, []string{"overlays/0000/", "it is from en to de, and the manifest says from en to fr"},
		},
		"anchors of other documents": {
			func(w *world) {
				anchors(w)
				w.Commit(func(m *manifest.Manifest) { m.Segments[0].Anchors = m.Segments[1].Anchors })
			},
			verify.Damaged, []string{"overlays/0000/", "they are of 2 documents, and the manifest says 1"},
		},
		"ranks lost": {
			func(w *world) { w.Delete(oneRanking(w)) },
			verify.Missing, []string{"overlays/0000/", "is missing"},
		},
		"byte of ranks flipped": {
			func(w *world) { w.Change(oneRanking(w), verifytest.Flip) },
			verify.Damaged, []string{"overlays/0000/", "is damaged"},
		},
		"ranks of other documents": {
			func(w *world) {
				oneRanking(w)
				w.Commit(func(m *manifest.Manifest) { m.Segments[0].Ranks = m.Segments[1].Ranks })
			},
			verify.Damaged, []string{"overlays/0000/", "it has ranks of 2 documents, and the manifest says 1"},
		},
		"live document masked": {
			func(w *world) {
				w.mask(1, 0)
			},
			verify.Missing, []string{secondPackage + " is indexed without 1 of its pages"},
		},
		"older version not masked": {
			func(w *world) {
				w.Index(w.Learn(verifytest.Batch(3), []string{site + "1"}))
				w.Commit(func(m *manifest.Manifest) { m.Segments[1].Deletions = nil })
			},
			verify.Double, []string{secondPackage + " at byte ", "is searched, and so is another version of it"},
		},
		"page indexed twice": {
			func(w *world) {
				built, listed := verifytest.Segment(w.T, w.Content(secondPackage), secondPackage, site+"2")
				functionstest.Put(w.T, w.Bucket, listed.Key, built)
				listed.Parts[0].Package = 1
				w.Commit(func(m *manifest.Manifest) { m.Segments = append(m.Segments, listed) })
			},
			verify.Double, []string{site + "1 in segments/0000/", "is made of a page that is indexed already"},
		},
		"page not indexed": {
			func(w *world) { w.IndexWithout(w.Manifest().Packages[1], site+"2") },
			verify.Missing, []string{secondPackage + " is indexed without 1 of its pages"},
		},
		"package called indexed": {
			func(w *world) { w.Commit(func(m *manifest.Manifest) { m.Segments = m.Segments[:1] }) },
			verify.Missing, []string{secondPackage + " is indexed without 2 of its pages"},
		},
		"document of no page": {
			func(w *world) { w.Commit(func(m *manifest.Manifest) { m.Packages = m.Packages[:1] }) },
			verify.Unaccounted, []string{site + "1 in segments/0000/", "is made of a page that does not stand in its package"},
		},
		"book lost": {
			func(w *world) { w.Delete(firstBook(w)) },
			verify.Missing, []string{"books/0000/", "is missing"},
		},
		"book damaged": {
			func(w *world) { w.Change(firstBook(w), verifytest.Flip) },
			verify.Damaged, []string{"books/0000/", "book is damaged"},
		},
		"book changed into another": {
			func(w *world) {
				w.Change(firstBook(w), func([]byte) []byte { return w.Content(w.Manifest().Books[1].Key) })
			},
			verify.Damaged, []string{"its content is that of books/0000/"},
		},
		"older generation edited": {
			func(w *world) { w.Change(layout.ManifestKey(0, 3), edit) },
			verify.Damaged, []string{layout.ManifestKey(0, 3) + " is lost to history"},
		},
		"newest generation edited": {
			func(w *world) { w.Change(layout.ManifestKey(0, 5), edit) },
			verify.Damaged, []string{layout.ManifestKey(0, 5) + " is no generation that can be read"},
		},
		"newest generation damaged": {
			func(w *world) { w.Change(layout.ManifestKey(0, 5), verifytest.Truncate) },
			verify.Damaged, []string{layout.ManifestKey(0, 5) + " is no generation that can be read"},
		},
		"newest generation lost": {
			func(w *world) { w.Delete(layout.ManifestKey(0, 5)) },
			verify.Missing, []string{layout.ManifestKey(0, 5) + " is missing, and the hint is a copy of generation 5"},
		},
		"only generation lost": {
			func(w *world) {
				first := w.Content(layout.ManifestKey(0, 1))
				for n := range uint64(5) {
					w.Delete(layout.ManifestKey(0, n+1))
				}
				w.Change(layout.HintKey(0), func([]byte) []byte { return first })
			},
			verify.Missing, []string{layout.ManifestKey(0, 1) + " is missing, and the hint is a copy of generation 1"},
		},
		"generation lost": {
			func(w *world) { w.Delete(layout.ManifestKey(0, 2)) },
			verify.Missing, []string{layout.ManifestKey(0, 2) + " is lost to history, on which nothing of today depends, and would be deleted from 2026-11-29 "},
		},
		"object at the root of the bucket": {
			func(w *world) { functionstest.Put(w.T, w.Bucket, "notes.txt", []byte("?")) },
			verify.Foreign, []string{"notes.txt is named as nothing here is"},
		},
		"object below a prefix of somebody else's": {
			func(w *world) { functionstest.Put(w.T, w.Bucket, "backup/books/0000/x.book", []byte("?")) },
			verify.Foreign, []string{"backup/books/0000/x.book is named as nothing here is"},
		},
		"hint damaged": {
			func(w *world) { w.Change(layout.HintKey(0), verifytest.Truncate) },
			verify.Damaged, []string{layout.HintKey(0) + " is no copy of a generation"},
		},
		"hint edited": {
			func(w *world) { w.Change(layout.HintKey(0), edit) },
			verify.Damaged, []string{layout.HintKey(0) + " is no copy of a generation"},
		},
		"hint of no generation": {
			func(w *world) {
				w.Change(layout.HintKey(0), func(b []byte) []byte { return replace(b, `"generation":5`, `"generation":7`) })
			},
			verify.Damaged, []string{layout.HintKey(0) + " is no copy of a generation"},
		},
		"URL from nowhere": {
			func(w *world) { w.Learn(verifytest.Batch(3), []string{"http://b.example/"}) },
			verify.Unaccounted, []string{"http://b.example/ has an outcome, yet no seed or link leads to it"},
		},
		"spool damaged": {
			func(w *world) {
				functionstest.Put(w.T, w.Bucket, layout.SpoolKey(0, verifytest.Batch(3)), []byte("?"))
			},
			verify.Damaged, []string{layout.SpoolKey(0, verifytest.Batch(3)) + " is damaged"},
		},
		"URL too many in the frontier": {
			func(w *world) {
				entry := frontier.Entry{URL: site + "extra", ID: layout.IdentityOf(site + "extra"), Host: "a.example"}
				if _, err := w.front.Admit(w.T.Context(), functionstest.Start, []frontier.Entry{entry}); err != nil {
					w.T.Fatal(err)
				}
			},
			verify.Behind, []string{layout.IdentityOf(site+"extra").String() + " waits in the frontier, and is not pending in the books"},
		},
		"URL missing in the frontier": {
			func(w *world) {
				if err := w.front.Reset(w.T.Context()); err != nil {
					w.T.Fatal(err)
				}
			},
			verify.Behind, []string{site + "waits is pending in the books, and not in the frontier"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.harm(w)
			problems := w.verify().Problems
			if strings.HasSuffix(name, " cut") && len(problems) != 1 {
				t.Errorf("one cut object is %d problems:\n%s", len(problems), sentences(problems))
			}
			if !slices.ContainsFunc(problems, func(p verify.Problem) bool {
				return p.Kind == test.want && !slices.ContainsFunc(test.say, func(words string) bool { return !strings.Contains(p.String(), words) })
			}) {
				t.Errorf("no %s problem says %q:\n%s", test.want, test.say, sentences(problems))
			}
		})
	}
}

// TestLinkWasInLostSpool stores a page to whose URL no link leads. That is no problem if quarantine
// has a damaged spool object, because the link may have been in it.
func TestLinkWasInLostSpool(t *testing.T) {
	w := newWorld(t)
	w.Learn(verifytest.Batch(3), []string{"http://b.example/"})
	functionstest.Put(t, w.Bucket, layout.QuarantineKey(layout.SpoolKey(0, verifytest.Batch(4)), []byte("?")), []byte("?"))
	if report := w.verify(); !report.Sound() || report.Waiting.Find != 1 {
		t.Errorf("%d are to be found, want 1; problems:\n%s", report.Waiting.Find, sentences(report.Problems))
	}
}

// TestOneProblem deletes or damages one object. Verify must report exactly one problem, however
// many objects depend on the damaged one.
func TestOneProblem(t *testing.T) {
	for name, harm := range map[string]func(w *world){
		"package lost":              func(w *world) { w.Delete(secondPackage) },
		"segment lost":              func(w *world) { w.Delete(oneSegment(w)) },
		"segment damaged":           func(w *world) { w.Change(oneSegment(w), verifytest.Flip) },
		"merged segment lost":       func(w *world) { w.Delete(w.Merge().Key) },
		"overlay lost":              func(w *world) { w.Delete(oneOverlay(w)) },
		"overlay damaged":           func(w *world) { w.Change(oneOverlay(w), verifytest.Flip) },
		"book lost":                 func(w *world) { w.Delete(firstBook(w)) },
		"page damaged":              func(w *world) { w.Change(secondPackage, flipAt(100)) },
		"generation edited":         func(w *world) { w.Change(layout.ManifestKey(0, 3), edit) },
		"newest generation lost":    func(w *world) { w.Delete(layout.ManifestKey(0, 5)) },
		"newest generation damaged": func(w *world) { w.Change(layout.ManifestKey(0, 5), verifytest.Truncate) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			harm(w)
			if problems := w.verify().Problems; len(problems) != 1 {
				t.Errorf("%d problems:\n%s", len(problems), sentences(problems))
			}
		})
	}
}

func TestTooManyProblems(t *testing.T) {
	w := newWorld(t)
	w.front = nil
	var outcomes []book.Outcome
	for i := range verify.MaxProblems + 5 {
		outcomes = append(outcomes, functionstest.Outcome(t, verifytest.Batch(3), fmt.Sprint("http://b.example/", i), book.Failed))
	}
	w.LearnBook(book.Book{Outcomes: outcomes})
	report, err := (&verify.Verifier{Bucket: w.Bucket, Now: functionstest.Start}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) != verify.MaxProblems || report.More != 5 {
		t.Errorf("%d problems and %d more", len(report.Problems), report.More)
	}
}

// TestDamagedDocumentIsToldOnce damages a published collection and a published strategy. The report
// must tell each damage only once: it must have two problems, and no warning.
func TestDamagedDocumentIsToldOnce(t *testing.T) {
	w := newWorld(t)
	for _, prefix := range []string{layout.Collections, layout.Strategies} {
		w.Change(functionstest.Keys(t, w.Bucket, prefix)[0], verifytest.Flip)
	}
	w.front = nil
	if report := w.verify(); len(report.Problems) != 2 || len(report.Warnings) > 0 {
		t.Errorf("problems:\n%s\nwarnings: %q", sentences(report.Problems), report.Warnings)
	}
}
