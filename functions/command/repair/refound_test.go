package repair_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// lived returns a test bucket after many events: a damaged page was erased from a package, a page
// was found gone, a page was fetched again, books and segments were merged, a killed pack left a
// package that no manifest lists, and a fetched batch waits in the spool to be packed.
func lived(t *testing.T) *verifytest.World {
	t.Helper()
	w := done(t)
	w.Change(w.Manifest().Packages[1].Key, flipPage)
	run(w)
	w.Settle(links...)
	w.Index(w.Learn(verifytest.Batch(20), []string{site + "2"}))
	w.Lose(layout.Version{Epoch: 8, Token: 1}, site+"waits")
	w.Mask()
	w.Merge()
	mergeBooks(w)
	waiting := layout.Version{Epoch: 9, Token: 1}
	functionstest.Put(t, w.Bucket, layout.EpochKey(9), []byte("9"))
	ledger := spool.Ledger{Batch: waiting, Outcomes: functionstest.Outcomes(t, waiting, book.Stored, site+"1")}
	functionstest.Put(t, w.Bucket, layout.SpoolKey(0, waiting), functionstest.Spool(t, ledger))
	w.Package(functionstest.Page(waiting, site+"1"))
	// package of a pack that was killed, before another pack packed the same batch
	w.Package(functionstest.Page(verifytest.Batch(20), site+"2"))
	if report := check(w); !report.Sound() {
		t.Fatalf("before any loss:\n%s", sentences(report.Problems))
	}
	return w
}

// mergeBooks merges the first three books that the manifest lists into a new book. It lists the new
// book in place of the three. The objects of the three stay in the bucket, marked for deletion.
func mergeBooks(w *verifytest.World) {
	w.T.Helper()
	var opened []*book.Reader
	var old []string
	for _, listed := range w.Manifest().Books[:3] {
		reader, err := book.Open(w.T.Context(), w.Bucket, listed.Key)
		if err != nil {
			w.T.Fatal(err)
		}
		opened, old = append(opened, reader), append(old, listed.Key)
	}
	content, outcomes, links, err := book.Merge(w.T.Context(), opened)
	if err != nil {
		w.T.Fatal(err)
	}
	merged := manifest.Book{Key: layout.BookKey(0, layout.ContentHash(content)), Bytes: int64(len(content)), Outcomes: outcomes, Links: links}
	functionstest.Put(w.T, w.Bucket, merged.Key, content)
	w.Commit(func(m *manifest.Manifest) {
		m.Books = append([]manifest.Book{merged}, m.Books[3:]...)
		m.Condemn(functionstest.Start, old...)
	})
}

// lose deletes the given number of newest generations, and the hint (the copy of the newest one).
func lose(w *verifytest.World, newest int) {
	w.T.Helper()
	keys := functionstest.Keys(w.T, w.Bucket, layout.ManifestPrefix(0))
	for _, key := range append(keys[max(0, len(keys)-newest):], layout.HintKey(0)) {
		w.Delete(key)
	}
}

// state is what readers of a bucket can learn: the number of URLs in each state, the number of
// batches in the spool, and the live documents.
type state struct {
	URLs, Stored, Skipped, Failed, Pending int
	Spool                                  int
	Live                                   []string
}

func answers(w *verifytest.World) state {
	w.T.Helper()
	for _, p := range slices.Clone(w.Manifest().Packages) {
		if !p.Indexed {
			w.Index(p)
		}
	}
	w.Mask()
	report := check(w)
	if !report.Sound() || report.Waiting.Index+report.Waiting.Gone+report.Waiting.Fetch+report.Waiting.Find > 0 {
		w.T.Errorf("waiting %+v, problems:\n%s", report.Waiting, sentences(report.Problems))
	}
	return state{report.URLs, report.Stored, report.Skipped, report.Failed, report.Pending, report.Waiting.Spool, functionstest.Live(w.T, w.Bucket, w.Manifest())}
}

// TestLostGenerations deletes the newest generations of a manifest, one more in each subtest. After
// repair and indexing, readers must get the same answers as before the loss, no page may have to be
// fetched again, and a second repair must find nothing to do.
func TestLostGenerations(t *testing.T) {
	whole := lived(t)
	all := len(functionstest.Keys(t, whole.Bucket, layout.ManifestPrefix(0)))
	want := answers(whole.Clone(t))
	if want.Stored != 3 || want.Failed != 1 || want.Spool != 1 || len(want.Live) != 3 {
		t.Fatalf("before any loss: %+v", want)
	}
	for newest := range all + 1 {
		t.Run(fmt.Sprint(newest), func(t *testing.T) {
			w := whole.Clone(t)
			lose(w, newest)
			before := check(w)
			t.Logf("verify:\n%s", sentences(before.Problems))
			if newest == all && (before.Sound() || before.Problems[0].Kind != verify.Lost) {
				t.Error("verify does not tell that all generations are lost")
			}
			for _, p := range before.Problems {
				if p.Kind == verify.Lost && !strings.Contains(p.Detail, "run bucketsearch verify --repair") {
					t.Errorf("problem %s", p)
				}
			}
			report := run(w)
			t.Logf("mended:\n%s\nleft:\n%s", strings.Join(report.Mended, "\n"), sentences(report.Left))
			if len(report.Left) > 0 || before.Sound() != (len(report.Mended) == 0) {
				t.Errorf("mended %q, left:\n%s", report.Mended, sentences(report.Left))
			}
			if report.Fetch > 0 {
				t.Errorf("%d pages are to be fetched again", report.Fetch)
			}
			if diff := cmp.Diff(want, answers(w)); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			generation := w.Manifest().Generation
			if again := run(w); len(again.Mended) > 0 || w.Manifest().Generation != generation {
				t.Errorf("repaired again: %q", again.Mended)
			}
		})
	}
}

// TestRefoundingOutlastsEveryFault lets each call of the object store fail in turn while repair
// makes a lost generation (version of the manifest) anew. Another run of repair must lead to the
// same end as without the fault.
func TestRefoundingOutlastsEveryFault(t *testing.T) {
	whole := lived(t)
	want := answers(whole.Clone(t))
	for name, newest := range map[string]int{"all": 1 << 20, "some": 4} {
		t.Run(name, func(t *testing.T) {
			faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
				w := whole.Clone(t)
				lose(w, newest)
				if _, err := repairer(faultblob.New(w.Bucket, decide)).Run(t.Context()); err != nil && !errors.Is(err, blob.ErrRetryable) {
					t.Fatal(err)
				}
				if report := run(w); len(report.Left) > 0 {
					t.Errorf("left:\n%s", sentences(report.Left))
				}
				if diff := cmp.Diff(want, answers(w)); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestDamagedNewestGeneration damages the newest generation of a manifest. It also deletes, damages
// or replaces the hint, which is the copy of that generation. Until repair makes a new generation,
// readers must get the one before the damaged one.
func TestDamagedNewestGeneration(t *testing.T) {
	whole := lived(t)
	want := answers(whole.Clone(t))
	newest := whole.Manifest().Generation
	for name, become := range map[string]func([]byte) []byte{
		"empty":   func([]byte) []byte { return nil },
		"zeroes":  func(b []byte) []byte { return make([]byte, len(b)) },
		"flipped": verifytest.Flip,
	} {
		for _, hint := range []string{"deleted", "damaged", "older"} {
			t.Run(name+", the hint "+hint, func(t *testing.T) {
				w := whole.Clone(t)
				key := layout.ManifestKey(0, newest)
				w.Change(key, become)
				switch hint {
				case "deleted":
					w.Delete(layout.HintKey(0))
				case "damaged":
					w.Change(layout.HintKey(0), become)
				case "older":
					older := w.Content(layout.ManifestKey(0, newest-1))
					w.Change(layout.HintKey(0), func([]byte) []byte { return older })
				}
				if got := w.Manifest().Generation; got != newest-1 {
					t.Errorf("generation %d serves, want %d", got, newest-1)
				}
				if before := sentences(check(w).Problems); !strings.Contains(before, key+" is no generation that can be read") {
					t.Errorf("verify does not name it:\n%s", before)
				}
				if report := run(w); len(report.Left) > 0 || len(report.Mended) != 1 {
					t.Errorf("mended %q, left:\n%s", report.Mended, sentences(report.Left))
				}
				if kept := functionstest.Keys(t, w.Bucket, layout.QuarantinePrefix(key)); len(kept) != 1 {
					t.Errorf("in quarantine: %v", kept)
				}
				if diff := cmp.Diff(want, answers(w)); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestForeignObject puts an object with an unknown name under each prefix of the bucket. Repair
// must report it as foreign and leave it as it is, and commits must still work.
func TestForeignObject(t *testing.T) {
	whole := done(t)
	keys := []string{layout.ManifestPrefix(0) + "000000000003.json"}
	for _, prefix := range layout.Prefixes {
		keys = append(keys, prefix+"notes.txt", prefix+"0000/notes.txt")
	}
	for _, key := range keys {
		w := whole.Clone(t)
		want := answers(w.Clone(t))
		functionstest.Put(t, w.Bucket, key, []byte("notes"))
		w.Delete(layout.HintKey(0))
		if report := run(w); len(report.Mended) > 0 || len(report.Left) != 1 || report.Left[0].Kind != verify.Foreign || report.Left[0].Key != key {
			t.Errorf("%s: mended %q, left:\n%s", key, report.Mended, sentences(report.Left))
		}
		w.Content(key)
		w.Learn(verifytest.Batch(30), []string{site + "1"}) // commits go on
		w.Delete(key)
		if got := answers(w); got.Stored != want.Stored {
			t.Errorf("%s: %+v", key, got)
		}
	}
}

// TestLostGenerationsOfWhatIsForgotten takes down a page, and then deletes all versions of the manifest
// before the page is erased. Repair makes a new version. This version must not say that the page has
// been erased already, because then the sweep would not erase it. No URL may be fetched again.
func TestLostGenerationsOfWhatIsForgotten(t *testing.T) {
	w := lived(t)
	forgotten, err := address.Parse(site + "1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takedown.Forget(t.Context(), w.Bucket, takedown.URL(forgotten, functionstest.Start)); err != nil {
		t.Fatal(err)
	}
	lose(w, 1<<20)
	report := run(w)
	if len(report.Left) > 0 || report.Fetch > 0 || w.Manifest().Forgotten != 0 {
		t.Errorf("%d to be fetched, left:\n%s", report.Fetch, sentences(report.Left))
	}
	if again := check(w); !again.Sound() || again.Waiting.Forget != 1 {
		t.Errorf("%+v\n%s", again.Waiting, sentences(again.Problems))
	}
}

// TestLostGenerationsOfSeveralPartitions checks that repair makes new versions of manifests only
// for partitions that have lost some.
func TestLostGenerationsOfSeveralPartitions(t *testing.T) {
	bucket := memblob.New()
	var seeds []string
	for n := range 30 {
		seeds = append(seeds, fmt.Sprintf("http://host%d.example/", n))
	}
	s := functionstest.Publish(t, bucket, 7, nil, seeds...)
	functionstest.Put(t, bucket, layout.EpochKey(1), []byte("1"))
	pages := make(map[layout.Partition][]webobject.Object)
	for n, seed := range seeds {
		a, err := address.Parse(seed)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Storage.Decide(a)
		if err != nil {
			t.Fatal(err)
		}
		pages[layout.Partition(p)] = append(pages[layout.Partition(p)], functionstest.Page(verifytest.Batch(uint64(n+1)), seed))
	}
	for p, own := range pages {
		pkg, outcomes := functionstest.Package(t, bucket, p, own...)
		functionstest.Learn(t, bucket, p, book.Book{Outcomes: outcomes}, pkg)
		functionstest.Commit(t, bucket, p, func(m *manifest.Manifest) {
			for _, o := range outcomes {
				m.Consumed = append(m.Consumed, manifest.Consumed{Batch: o.Version, At: functionstest.Start})
			}
		})
	}
	w := &verifytest.World{T: t, Bucket: bucket, Settings: s}
	before := check(w)
	if len(pages) != 7 || !before.Sound() || before.Stored != len(seeds) {
		t.Fatalf("%d partitions, %+v", len(pages), before)
	}
	spared := functionstest.Manifest(t, bucket, 3)
	for _, key := range append(functionstest.Keys(t, bucket, layout.Manifests), functionstest.Keys(t, bucket, layout.Hints)...) {
		if !strings.Contains(key, "/0003") {
			w.Delete(key)
		}
	}
	told := make(map[layout.Partition]bool)
	for _, p := range check(w).Problems {
		told[p.Partition] = p.Kind == verify.Lost
	}
	if len(told) != 6 || told[3] {
		t.Errorf("lost: %v", told)
	}
	if report := run(w); len(report.Left) > 0 || len(report.Mended) != 6 {
		t.Errorf("mended %q, left:\n%s", report.Mended, sentences(report.Left))
	}
	after := check(w)
	after.Generations = before.Generations
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if now := functionstest.Manifest(t, bucket, 3); now.Generation != spared.Generation {
		t.Error("a partition of which nothing is lost was made anew")
	}
}

// TestLostGenerationsAmongOrphans deletes all versions of the manifest. The bucket has objects that
// they listed, and orphans: packages and a book that no version listed, because pack was killed before
// its commit. The orphans have data of three batches. Two of these batches were packed again later,
// into objects that were listed. The third still waits in the spool. After repair has made a new
// manifest, each page must be stored once, no packed batch may be packed again, and no batch that waits
// in the spool may be lost.
func TestLostGenerationsAmongOrphans(t *testing.T) {
	w := verifytest.New(t)
	b := verifytest.Batch
	page := func(token uint64, name string) webobject.Object { return functionstest.Page(b(token), site+name) }
	w.Learn(b(1), []string{site}, links...)
	_, outcomes := w.Package(page(2, "1"), page(3, "2"))
	orphan, err := book.Encode(book.Book{Outcomes: outcomes})
	if err != nil {
		t.Fatal(err)
	}
	functionstest.Put(t, w.Bucket, layout.BookKey(0, layout.ContentHash(orphan)), orphan)
	w.LearnPages([]webobject.Object{page(2, "1")})
	w.LearnPages([]webobject.Object{page(3, "2"), page(4, "waits")})
	w.Learn(b(7), []string{site + "2"})
	for token, name := range map[uint64]string{4: "waits", 6: "1"} {
		ledger := spool.Ledger{Batch: b(token), Outcomes: functionstest.Outcomes(t, b(token), book.Stored, site+name)}
		functionstest.Put(t, w.Bucket, layout.SpoolKey(0, b(token)), functionstest.Spool(t, ledger))
	}
	w.Package(page(6, "1")) // package of a pack that was killed before it put its book
	want := answers(w.Clone(t))
	lose(w, 1<<20)
	if report := run(w); len(report.Left) > 0 || report.Fetch > 0 {
		t.Errorf("mended %q, left:\n%s", report.Mended, sentences(report.Left))
	}
	m := w.Manifest()
	for token := uint64(1); token <= 8; token++ {
		if refused := m.HasConsumed(b(token)) || m.IsClosed(b(token)); refused != (token != 5 && token != 6 && token != 8) {
			t.Errorf("batch %d is refused: %v", token, refused)
		}
	}
	if !m.HasConsumed(b(4)) {
		t.Error("a packed batch is closed while its spool object is there")
	}
	if diff := cmp.Diff(want, answers(w)); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}
