package rank

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// named stores the pages with the given numbers in a partition, with a book and a segment. The
// links between them are given as texts: "1 3 the third" is a link from page 1 to page 3 with the
// text "the third". If silent is true, the pages themselves have no words by which a search could
// find them.
func (w *world) named(p layout.Partition, token uint64, silent bool, numbers []string, links ...string) {
	w.t.Helper()
	var learnt book.Book
	var pages []*segments.Page
	for _, n := range numbers {
		learnt.Outcomes = append(learnt.Outcomes, functionstest.Outcome(w.t, layout.Version{Epoch: 1, Token: token}, url(n), book.Stored))
		pages = append(pages, &segments.Page{
			Document: segment.Document{ID: layout.IdentityOf(url(n)), URL: url(n), Lang: "en", Package: fmt.Sprint("packages/", token), Body: "page " + n}, Silent: silent,
		})
	}
	for _, text := range links {
		parts := strings.SplitN(text, " ", 3)
		l := functionstest.Link(w.t, url(parts[0]), url(parts[1]), 1)
		l.Anchor = parts[2]
		learnt.Links = append(learnt.Links, l)
	}
	functionstest.Learn(w.t, w.bucket, p, learnt)
	w.addSegment(p, pages, func(*partition.Edit) uint32 { return uint32(token) })
}

// addSegment commits a segment of pages to a partition. All pages are of one package. The last
// parameter is a function that returns the number of this package; addSegment calls it within the
// commit.
func (w *world) addSegment(p layout.Partition, pages []*segments.Page, of func(e *partition.Edit) uint32) {
	w.t.Helper()
	content, err := segments.Build(pages)
	if err != nil {
		w.t.Fatal(err)
	}
	own, err := partition.Open(w.t.Context(), w.bucket, p, w.Now)
	if err != nil {
		w.t.Fatal(err)
	}
	built, err := own.PutSegment(w.t.Context(), content)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := own.Commit(w.t.Context(), func(e *partition.Edit) error {
		return e.AddSegment(built, manifest.Part{Package: of(e), Documents: len(pages)})
	}); err != nil {
		w.t.Fatal(err)
	}
}

// found returns the numbers of the pages of a partition that a query finds by their anchors, the
// texts of links to them.
func (w *world) found(p layout.Partition, query string) (numbers []string) {
	w.t.Helper()
	m := functionstest.Manifest(w.t, w.bucket, p)
	for _, s := range m.Segments {
		anchors, err := partition.OpenAnchors(w.t.Context(), segment.Ranges{Bucket: w.bucket}, &s)
		if err != nil {
			w.t.Fatal(err)
		}
		ix, err := search.New([]search.Part{{Segment: anchors}}, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		result, err := ix.Search(w.t.Context(), search.Query{Text: query, Size: 10})
		if err != nil {
			w.t.Fatal(err)
		}
		ids, err := functionstest.Segment(w.t, w.bucket, s).Identities(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if len(result.Notes) > 0 { // the words of a phrase are together nowhere, and were searched separately
			continue
		}
		for _, hit := range result.Hits {
			for doc, id := range ids {
				if id == hit.ID {
					stored, err := functionstest.Segment(w.t, w.bucket, s).Stored(w.t.Context(), []uint32{uint32(doc)})
					if err != nil {
						w.t.Fatal(err)
					}
					numbers = append(numbers, strings.TrimSuffix(strings.TrimPrefix(stored[0].URL, "http://a"), ".example/"))
				}
			}
		}
	}
	return numbers
}

// TestAnchors searches the texts of links (anchors). It checks that they count as words of the page
// to which the links lead, in whatever partition the links are stored, and that words of two
// anchors form no phrase.
func TestAnchors(t *testing.T) {
	for _, atOnce := range []int{1, 2, 1000} {
		w := newWorld(t)
		w.Limits.Anchors = atOnce
		w.named(0, 1, false, []string{"1", "2"}, "1 3 the third page", "2 3 manual", "1 2 neighbour")
		w.named(1, 2, false, []string{"3"}, "3 1 first")
		w.named(1, 3, true, []string{"4"})
		w.named(1, 4, false, []string{"5"}, "5 4 hidden")
		w.run()
		for query, want := range map[string][2][]string{
			"manual":        {nil, {"3"}},
			"neighbours":    {{"2"}, nil},
			"first":         {{"1"}, nil},
			`"third page"`:  {nil, {"3"}},
			`"page manual"`: {}, // two anchors
			"hidden":        {}, // the page says noindex
		} {
			got := [2][]string{w.found(0, query), w.found(1, query)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %d at once (-want +got):\n%s", query, atOnce, diff)
			}
		}
		before := functionstest.Keys(t, w.bucket, "")
		w.run()
		if diff := cmp.Diff(before, functionstest.Keys(t, w.bucket, "")); diff != "" {
			t.Errorf("a second run (-before +after):\n%s", diff)
		}
	}
}

// TestAnchorsAreSuggested checks which texts of links are suggested to people while they type: those of several links.
func TestAnchorsAreSuggested(t *testing.T) {
	w := newWorld(t)
	w.named(0, 1, false, []string{"1", "2", "3", "4"}, "1 4 manual", "2 4 manual", "1 4 once", "1 3 (method)", "2 3 (method)")
	w.run()
	anchors, err := partition.OpenAnchors(t.Context(), segment.Ranges{Bucket: w.bucket}, &functionstest.Manifest(t, w.bucket, 0).Segments[0])
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]bool)
	for _, typed := range []string{"manual", "once", "method"} {
		of, err := anchors.Suggestions(t.Context(), typed)
		if err != nil || of == nil {
			t.Fatalf("suggestions %v, %v", of, err)
		}
		if err := of.Find(t.Context(), typed, func(segment.Suggested) { got[typed] = true }); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]bool{"manual": true}, got); diff != "" {
		t.Errorf("suggested (-want +got):\n%s", diff)
	}
}

// TestAnchorsAreCondemned replaces an overlay (the object with the anchors of a segment), and
// checks that the old overlay is condemned, that is, listed to be deleted. A takedown must remove
// all overlays of anchors.
func TestAnchorsAreCondemned(t *testing.T) {
	w := newWorld(t)
	w.named(0, 1, false, []string{"1", "2"}, "1 2 old")
	w.run()
	old := functionstest.Manifest(t, w.bucket, 0).Segments[0].Anchors.Key
	w.named(0, 2, false, []string{"3"}, "3 2 new")
	w.run()
	m := functionstest.Manifest(t, w.bucket, 0)
	if !m.IsCondemned(old) || m.Segments[0].Anchors.Key == old {
		t.Errorf("condemned %+v, anchors %+v", m.Condemned, m.Segments[0].Anchors)
	}
	functionstest.Edit(t, w.bucket, 0, func(e *partition.Edit) error { e.Forgot(3); return nil })
	m = functionstest.Manifest(t, w.bucket, 0)
	for _, s := range m.Segments {
		if s.Anchors != nil || s.Ranks == nil {
			t.Errorf("listed %+v", s)
		}
	}
	for _, c := range m.Condemned {
		if !c.Erase {
			t.Errorf("condemned %+v", c)
		}
	}
	if len(m.Condemned) != 3 {
		t.Errorf("condemned %+v", m.Condemned)
	}
	if err := w.Run(t.Context()); !errors.Is(err, partition.ErrStale) {
		t.Errorf("a run that does not know what is forgotten ends with %v", err)
	}
}

// unvisited returns the documents of a partition's overlay of unvisited URLs. These are URLs that
// are known only by links.
func (w *world) unvisited(p layout.Partition) []segment.Document {
	w.t.Helper()
	u := functionstest.Manifest(w.t, w.bucket, p).Unvisited
	if u == nil {
		return nil
	}
	s, err := partition.OpenUnvisited(w.t.Context(), segment.Ranges{Bucket: w.bucket}, u)
	if err != nil {
		w.t.Fatal(err)
	}
	stored, err := s.Stored(w.t.Context(), allOf(u.Documents))
	if err != nil {
		w.t.Fatal(err)
	}
	return stored
}

// indexIn indexes the pages of a package as pages in the given language, each with one word as its
// text.
func (w *world) indexIn(lang string, p layout.Partition, key string) {
	w.t.Helper()
	content, err := w.bucket.Get(w.t.Context(), key, blob.Range{})
	if err != nil {
		w.t.Fatal(err)
	}
	stored, err := webobject.Open(content)
	if err != nil {
		w.t.Fatal(err)
	}
	var pages []*segments.Page
	for entry, err := range stored.Objects() {
		if err != nil {
			w.t.Fatal(err)
		}
		u := entry.Object.URL
		pages = append(pages, &segments.Page{Document: segment.Document{ID: layout.IdentityOf(u), URL: u, Lang: lang, Package: key, Body: "page"}})
	}
	w.addSegment(p, pages, func(e *partition.Edit) uint32 {
		pkg := e.Manifest().Package(key)
		e.SetIndexed(pkg.ID, true)
		return pkg.ID
	})
}

// TestUsualLanguage lists unvisited URLs whose anchors (texts of links to them) tell no language.
// It checks that they get the language with the most documents in all partitions, whatever
// partition lists them. When later documents make another language the most frequent, they must get
// that one.
func TestUsualLanguage(t *testing.T) {
	w := newWorld(t)
	var links []string
	for n := range 40 {
		links = append(links, fmt.Sprintf("1 %d %d", n+100, n))
	}
	w.named(0, 1, false, []string{"1"}, links...) // English
	w.indexIn("de", 1, w.pack(1, 2, "2", "3"))
	later := w.pack(0, 3, "4", "5")
	usual := func(want string) {
		t.Helper()
		w.run()
		for p := range layout.Partition(2) {
			all := w.unvisited(p)
			if len(all) == 0 {
				t.Errorf("partition %s has no unvisited URLs", p)
			}
			for _, d := range all {
				if d.Lang != want {
					t.Fatalf("partition %s: %s has language %q, want %q", p, d.URL, d.Lang, want)
				}
			}
		}
	}
	usual("de")
	w.indexIn("en", 0, later)
	usual("en")
}

// TestUnvisitedAfterForgetting checks that, after a takedown has removed the list of unvisited URLs
// (known only by links), the next run makes it again, also in a partition without segments.
func TestUnvisitedAfterForgetting(t *testing.T) {
	w := newWorld(t)
	var links []string
	for n := range 40 {
		links = append(links, fmt.Sprintf("1 %d text %d", n+10, n))
	}
	w.named(0, 1, false, []string{"1"}, links...)
	w.run()
	before := len(w.unvisited(1))
	next := *w.Settings.(*functionstest.Fixed)
	next.Takedowns.Version = 3
	w.Settings = &next
	functionstest.Edit(t, w.bucket, 1, func(e *partition.Edit) error { e.Forgot(3); return nil })
	if left := w.unvisited(1); left != nil {
		t.Fatalf("%d are listed", len(left))
	}
	w.run()
	if after := len(w.unvisited(1)); after != before || after == 0 {
		t.Errorf("%d are listed after the next run, want %d", after, before)
	}
}

// TestUnvisited checks the lists of unvisited URLs (known only by links). Each such URL must be in the
// list of one partition, with the texts of the links to it. When a URL is stored, it must leave the
// list; when more links to it are found, their texts must be added. When a partition applies a
// takedown, its whole list must disappear, until the next run makes it again.
func TestUnvisited(t *testing.T) {
	w := newWorld(t)
	w.named(0, 1, false, []string{"1", "2"}, "1 7 the seventh seal", "2 8 an eighth wonder")
	w.named(1, 2, false, []string{"3"}, "3 9 cloud nine")
	w.run()
	listed := func() (all []string) {
		t.Helper()
		for p := range layout.Partition(2) {
			for _, d := range w.unvisited(p) {
				all = append(all, fmt.Sprint(d.URL, " ", d.Lang, ": ", d.Title, ", ", len(d.Headings)))
			}
		}
		slices.Sort(all)
		return all
	}
	want := []string{url("7") + " en: the seventh seal, 1", url("8") + " en: an eighth wonder, 1", url("9") + " en: cloud nine, 1"}
	if diff := cmp.Diff(want, listed()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	before := functionstest.Keys(t, w.bucket, "")
	w.run()
	if diff := cmp.Diff(before, functionstest.Keys(t, w.bucket, "")); diff != "" {
		t.Errorf("a second run (-before +after):\n%s", diff)
	}
	w.named(1, 3, false, []string{"9"}, "9 8 another name")
	w.run()
	want = []string{url("7") + " en: the seventh seal, 1", url("8") + " en: an eighth wonder, 2"}
	if diff := cmp.Diff(want, listed()); diff != "" {
		t.Errorf("after one is stored (-want +got):\n%s", diff)
	}
	w.Limits.Unvisited = 1
	w.run()
	cut := 0
	for p := range layout.Partition(2) {
		if u := functionstest.Manifest(t, w.bucket, p).Unvisited; u != nil {
			cut += u.Cut
		}
	}
	if n := len(listed()); n+cut != 2 || n == 0 {
		t.Errorf("%d URLs, %d cut, want 2 in all", n, cut)
	}
	for p := range layout.Partition(2) {
		functionstest.Edit(t, w.bucket, p, func(e *partition.Edit) error { e.Forgot(3); return nil })
	}
	if got := listed(); got != nil {
		t.Errorf("%v are listed after pages were forgotten", got)
	}
}

// TestMail checks how a mail address is listed among the unvisited URLs: by its address, the texts of
// links to it and the words around them, and words for mail.
func TestMail(t *testing.T) {
	w := newWorld(t)
	to, _ := address.ParseMail("mailto:jane@a9.example")
	l := functionstest.Link(t, url("1"), to.URL, 1)
	l.Anchor, l.Around = "Jane Doe", "keeper of the seals"
	from := functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 1}, url("1"), book.Stored)
	functionstest.Learn(t, w.bucket, 0, book.Book{Outcomes: []book.Outcome{from}, Links: []book.Link{l}})
	w.run()
	for p := range layout.Partition(2) {
		for _, d := range w.unvisited(p) {
			if d.ID != to.ID {
				continue
			}
			want := segment.Document{URL: "mailto:jane@a9.example", Site: "a9.example", Title: "Jane Doe", Headings: []string{"Jane Doe", "jane@a9.example"}, Body: "keeper of the seals"}
			got := segment.Document{URL: d.URL, Site: d.Site, Title: d.Title, Headings: d.Headings, Body: d.Body}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Error("no partition lists the mail address")
}

// TestShare checks that the shares of the partitions (ranges of hashes of URLs) do not overlap, and
// together cover all hashes.
func TestShare(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7} {
		var end layout.Place
		for i := range n {
			r := share(i, n)
			if r.From != end || i+1 < n && r.To <= r.From {
				t.Errorf("%d of %d is %v", i, n, r)
			}
			end = r.To
		}
		if end != 0 {
			t.Errorf("%d shares end at %d", n, end)
		}
	}
}

// TestUnvisitedWithoutSegments checks that even a partition without segments lists the unvisited URLs
// (known only by links) whose hashes are in its share.
func TestUnvisitedWithoutSegments(t *testing.T) {
	w := newWorld(t)
	var links []string
	for n := range 40 {
		links = append(links, fmt.Sprintf("1 %d text %d", n+10, n))
	}
	w.named(0, 1, false, []string{"1"}, links...)
	w.run()
	listed := 0
	for p := range layout.Partition(2) {
		u := functionstest.Manifest(t, w.bucket, p).Unvisited
		if u == nil {
			t.Fatalf("partition %s has no unvisited URLs", p)
		}
		listed += u.Documents
	}
	if listed != len(links) {
		t.Errorf("%d unvisited URLs, want %d", listed, len(links))
	}
	before := functionstest.Keys(t, w.bucket, "")
	w.run()
	if diff := cmp.Diff(before, functionstest.Keys(t, w.bucket, "")); diff != "" {
		t.Errorf("a second run (-before +after):\n%s", diff)
	}
}
