package rank

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/rank/pagerank"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// world is the rank function, and a bucket of two storage partitions for it.
type world struct {
	*Function
	t      *testing.T
	bucket *memblob.Bucket
	counts *countblob.Bucket                    // counts the function's requests
	decide func(faultblob.Call) faultblob.Fault // decides which of the function's storage calls fail; nil: none
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, bucket: memblob.New()}
	inForce := functionstest.Publish(t, w.bucket, 2, nil, "http://a.example/")
	w.counts = countblob.New(faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if w.decide == nil {
			return faultblob.None
		}
		return w.decide(c)
	}))
	w.Function = &Function{
		Bucket: w.counts, Settings: (*functionstest.Fixed)(inForce), Now: functionstest.NewClock().Now,
		Limits: DefaultLimits(), Rules: pagerank.DefaultRules(), Log: functionstest.Log(),
	}
	return w
}

// store stores pages in a package, a book (the record of their links) and a segment of a partition.
// The text "1 2 3" is page 1 with links to the pages 2 and 3.
func (w *world) store(p layout.Partition, token uint64, pages ...string) {
	w.t.Helper()
	w.index(p, w.pack(p, token, pages...))
}

// pack stores pages in a package and a book of a partition, but in no segment: the package is not
// indexed yet. The texts of pages are as in the method store. It returns the key of the package.
func (w *world) pack(p layout.Partition, token uint64, pages ...string) string {
	w.t.Helper()
	var objects []webobject.Object
	var links []book.Link
	for _, page := range pages {
		numbers := strings.Fields(page)
		objects = append(objects, functionstest.Page(layout.Version{Epoch: 1, Token: token}, url(numbers[0])))
		for _, to := range numbers[1:] {
			links = append(links, functionstest.Link(w.t, url(numbers[0]), url(to), 1))
		}
	}
	pkg, outcomes := functionstest.Package(w.t, w.bucket, p, objects...)
	functionstest.Learn(w.t, w.bucket, p, book.Book{Outcomes: outcomes, Links: links}, pkg)
	return pkg.Key
}

func (w *world) index(p layout.Partition, key string) {
	w.t.Helper()
	functionstest.Index(w.t, w.bucket, p, key, func(webobject.Object) string { return "en" })
}

// merge merges the two segments of the first partition.
func (w *world) merge() {
	w.t.Helper()
	p, err := partition.Open(w.t.Context(), w.bucket, 0, w.Now)
	if err != nil {
		w.t.Fatal(err)
	}
	var inputs []segment.Input
	var keys []string
	var parts []manifest.Part
	for _, s := range p.Manifest().Segments {
		inputs = append(inputs, segment.Input{Segment: functionstest.Segment(w.t, w.bucket, s)})
		keys, parts = append(keys, s.Key), append(parts, s.Parts...)
	}
	content, free, err := segment.Merge(w.t.Context(), inputs, 1<<20, w.t.TempDir())
	if err != nil {
		w.t.Fatal(err)
	}
	defer free()
	merged, err := p.PutSegment(w.t.Context(), content)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.Commit(w.t.Context(), func(e *partition.Edit) error { return e.ReplaceSegments(keys, merged, parts...) }); err != nil {
		w.t.Fatal(err)
	}
}

func url(number string) string { return fmt.Sprintf("http://a%s.example/", number) }

func (w *world) run() {
	w.t.Helper()
	if err := w.Run(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// ranks returns the ranks of the documents of a partition, by the numbers of their pages.
// Documents without a rank are left out.
func (w *world) ranks(p layout.Partition) map[string]segment.Rank {
	w.t.Helper()
	all := make(map[string]segment.Rank)
	m := functionstest.Manifest(w.t, w.bucket, p)
	for _, s := range m.Segments {
		ranks, err := partition.Ranks(w.t.Context(), w.bucket, &s)
		if err != nil {
			w.t.Fatal(err)
		}
		documents, err := functionstest.Segment(w.t, w.bucket, s).Stored(w.t.Context(), allOf(len(ranks)))
		if err != nil {
			w.t.Fatal(err)
		}
		for doc, d := range documents {
			if ranks[doc] != segment.NoRank {
				all[strings.TrimSuffix(strings.TrimPrefix(d.URL, "http://a"), ".example/")] = ranks[doc]
			}
		}
	}
	return all
}

func allOf(n int) (docs []uint32) {
	for doc := range n {
		docs = append(docs, uint32(doc))
	}
	return docs
}

// three are the ranks of three pages, relative to the mean rank, which is 1/3. Each of the first
// two pages has one link, to the third. The third has no links. Their probabilities are 20/94,
// 20/94 and 54/94.
var three = map[string]segment.Rank{"1": segment.RankOf(3 * 20. / 94), "2": segment.RankOf(3 * 20. / 94), "3": segment.RankOf(3 * 54. / 94)}

func (w *world) want(ranks map[string]segment.Rank) {
	w.t.Helper()
	got := w.ranks(0)
	for page, rank := range w.ranks(1) {
		got[page] = rank
	}
	if diff := cmp.Diff(ranks, got); diff != "" {
		w.t.Errorf("ranks (-want +got):\n%s", diff)
	}
}

func (w *world) three() {
	w.t.Helper()
	w.store(0, 1, "1 3", "2 3")
	w.store(1, 2, "3")
}

func TestRanksOfAllPartitions(t *testing.T) {
	w := newWorld(t)
	w.run() // there is no page to rank
	if keys := functionstest.Keys(t, w.bucket, layout.Overlays); len(keys) > 0 {
		t.Errorf("overlays %v of no segments", keys)
	}
	w.three()
	w.run()
	w.want(three)
}

// TestOnce runs the function twice, the second time in another process, and checks that the second
// run, which has nothing to do, only reads the manifests.
func TestOnce(t *testing.T) {
	w := newWorld(t)
	w.three()
	w.run()
	before := functionstest.Keys(t, w.bucket, "")
	reads := w.counts.Counts()
	w.run()
	if diff := cmp.Diff(before, functionstest.Keys(t, w.bucket, "")); diff != "" {
		t.Errorf("stored once more (-before +after):\n%s", diff)
	}
	if gets := w.counts.Counts().Get - reads.Get; gets > 6 {
		t.Errorf("%d GETs to find nothing to do", gets)
	}
}

// TestOverlaysStay changes the books in a way that leaves the ranks as they were. It checks that no
// overlay (the object with the ranks of a segment) is stored again.
func TestOverlaysStay(t *testing.T) {
	w := newWorld(t)
	w.three()
	w.run()
	before := functionstest.Keys(t, w.bucket, layout.Overlays)
	functionstest.Learn(t, w.bucket, 0, book.Book{Outcomes: []book.Outcome{functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 9}, "http://b.example/", book.Failed)}})
	w.run()
	if diff := cmp.Diff(before, functionstest.Keys(t, w.bucket, layout.Overlays)); diff != "" {
		t.Errorf("overlays (-before +after):\n%s", diff)
	}
	if a, b := functionstest.Manifest(t, w.bucket, 0).Ranked, functionstest.Manifest(t, w.bucket, 1).Ranked; a != b || a == "" {
		t.Errorf("ranked %q and %q", a, b)
	}
}

func TestNewLinksAndSegments(t *testing.T) {
	w := newWorld(t)
	w.store(0, 1, "1", "2", "3")
	w.run()
	w.want(map[string]segment.Rank{"1": 33, "2": 33, "3": 33})
	key := w.pack(1, 2, "4 3") // the segment of the package comes later
	w.run()
	second := w.ranks(0)
	if second["3"] <= second["1"] {
		t.Errorf("ranks %v", second)
	}
	w.index(1, key)
	w.run()
	second["4"] = second["1"]
	w.want(second)
}

// TestAnotherCommits lets another process commit a new version of a manifest during the run, for
// example a merge of segments. It checks that the run then reads this version, and adapts its
// results to it.
func TestAnotherCommits(t *testing.T) {
	for name, meanwhile := range map[string]func(w *world, key string){
		"index":   func(w *world, key string) { w.index(0, key) },
		"a merge": func(w *world, _ string) { w.merge() },
		"other ranks": func(w *world, _ string) {
			functionstest.Edit(w.t, w.bucket, 0, func(e *partition.Edit) error {
				_, err := e.SetRanks(w.t.Context(), map[string][]segment.Rank{e.Manifest().Segments[0].Key: {1}})
				return err
			})
		},
		"another run": func(w *world, _ string) {
			other := *w.Function
			other.Bucket = w.bucket
			if err := other.Run(w.t.Context()); err != nil {
				w.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.store(0, 1, "1 3")
			w.store(0, 2, "2 3")
			key := w.pack(0, 3, "3")
			w.decide = func(c faultblob.Call) faultblob.Fault {
				if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Manifests) {
					w.decide = nil
					meanwhile(w, key)
				}
				return faultblob.None
			}
			w.run()
			if w.decide != nil {
				t.Fatal("nothing happened meanwhile")
			}
			if !functionstest.Manifest(t, w.bucket, 0).Packages[2].Indexed {
				w.index(0, key)
				w.run()
			}
			w.want(three)
		})
	}
}

// TestFailsAnywhere makes a run fail at one storage call, each call in turn. It checks that a
// second run, without a fault, ends with the right ranks, and that all listed objects are there.
func TestFailsAnywhere(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		w := newWorld(t)
		w.three()
		w.decide = decide
		_ = w.Run(t.Context())
		w.decide = nil
		w.run()
		w.want(three)
		for p := range layout.Partition(2) {
			m := functionstest.Manifest(t, w.bucket, p)
			for key := range m.Objects() {
				if _, err := w.bucket.Head(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// TestSameBytes checks that two runs on the same books store overlays (objects with the ranks and
// anchors) with the same bytes.
func TestSameBytes(t *testing.T) {
	overlays := func() (all []string) {
		w := newWorld(t)
		for n := range 40 {
			w.store(layout.Partition(n%2), uint64(n+1), fmt.Sprintf("%d %d %d", n, n*7%40, n*n%40))
		}
		w.run()
		for _, key := range functionstest.Keys(t, w.bucket, layout.Overlays) {
			_, hash, _ := strings.Cut(key, "_")
			all = append(all, hash)
		}
		return all
	}
	if first, second := overlays(), overlays(); !slices.Equal(first, second) || len(first) == 0 {
		t.Errorf("overlays %v, then %v", first, second)
	}
}

func TestDamage(t *testing.T) {
	w := newWorld(t)
	w.three()
	w.run()
	w.store(0, 3, "4 1")
	m := functionstest.Manifest(t, w.bucket, 0)
	harm := func(key string) (mend func()) {
		content, err := w.bucket.Get(t.Context(), key, blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.bucket.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		return func() { functionstest.Put(t, w.bucket, key, content) }
	}
	mend := harm(m.Books[0].Key)
	if err := w.Run(t.Context()); !partition.IsFault(err) {
		t.Errorf("without a book: %v", err)
	}
	mend()
	mend = harm(m.Segments[0].Key)
	w.run()
	mend()
	if ranks := w.ranks(0); ranks["4"] == segment.NoRank || ranks["1"] != three["1"] {
		t.Errorf("without a segment: ranks %v", ranks)
	}
	w.run()
	harm(functionstest.Manifest(t, w.bucket, 0).Segments[0].Ranks.Key)
	functionstest.Edit(t, w.bucket, 0, func(e *partition.Edit) error {
		e.DropRanks(e.Manifest().Segments[0].Ranks.Key)
		return nil
	})
	w.run()
	if ranks := w.ranks(0); len(ranks) != 3 {
		t.Errorf("after a repair: ranks %v", ranks)
	}
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Books = nil })
	w.run()
	if ranks := w.ranks(0); len(ranks) != 0 {
		t.Errorf("without books: ranks %v", ranks)
	}
}

func TestHandle(t *testing.T) {
	w := newWorld(t)
	w.three()
	messages := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: "{}"}}}
	response, err := w.Handle(t.Context(), messages)
	if err != nil || len(response.BatchItemFailures) > 0 {
		t.Fatalf("%+v, %v", response, err)
	}
	w.want(three)
	w.store(0, 3, "4 1")
	w.decide = func(faultblob.Call) faultblob.Fault { return faultblob.Before }
	if response, err = w.Handle(t.Context(), messages); err != nil || len(response.BatchItemFailures) != 1 {
		t.Errorf("%+v, %v", response, err)
	}
	w.decide = nil
	w.Limits.Graph.Pages = 1
	if err := w.Run(t.Context()); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("over the limit: %v", err)
	}
}
