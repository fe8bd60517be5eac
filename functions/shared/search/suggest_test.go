package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// titledPage returns a document with a title and headings that are suggested.
func titledPage(url, name string, headings ...string) segment.Document {
	d := page(url, "a text about "+name)
	d.Title, d.Name, d.Headings = name+" - Site", name, headings
	return d
}

// suggested returns the suggestions to a text, each as one string of its text, number of pages and address.
func suggested(t testing.TB, ix *Index, q Suggesting) []string {
	t.Helper()
	found, err := ix.Suggest(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, s := range found {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %d %s", s.Text, s.Pages, s.URL)))
	}
	return all
}

func TestSuggest(t *testing.T) {
	first := []segment.Document{
		titledPage("http://a/1", "VACUUM", "Description", "Notes"),
		titledPage("http://a/2", "Routine Vacuuming", "Description", "Vacuuming Basics"),
		titledPage("http://a/3", "xmlParser", "Überblick"),
		titledPage("http://a/4", "Overview", "索引の検索"),
	}
	second := []segment.Document{
		titledPage("http://b/1", "Vacuum dead", "Description", "vacuum"),
		titledPage("http://b/2", "Overview"),
		page("http://b/3", "vacuums vacuumed vacuumed"),
		page("http://b/4", "vacuumed parsimonious"),
	}
	second[0].Lang, second[1].Lang = "de", "de"
	ix := indexWithout(t, map[layout.Identity]bool{second[0].ID: true}, first, second)
	for _, c := range []struct {
		q    Suggesting
		want []string
	}{
		{Suggesting{Text: "vacu", Size: 3}, []string{"VACUUM 1 http://a/1", "Routine Vacuuming 1 http://a/2", "Vacuuming Basics 1"}},
		{Suggesting{Text: "Vacu rou", Size: 9}, []string{"Routine Vacuuming 1 http://a/2"}},
		{Suggesting{Text: "pars", Size: 9}, []string{"xmlParser 1 http://a/3", "parsimonious 1"}},
		{Suggesting{Text: "desc", Size: 2}, []string{"Description 2"}},
		{Suggesting{Text: "ube", Size: 1}, []string{"Überblick 1"}},
		{Suggesting{Text: "検", Size: 1}, []string{"索引の検索 1"}},
		{Suggesting{Text: "の検索", Size: 1}, []string{"索引の検索 1"}},
		{Suggesting{Text: "索検", Size: 1}, []string{}},
		{Suggesting{Text: "over", Size: 1}, []string{"Overview 2"}},
		{Suggesting{Text: "over", Size: 1, Lang: []string{"de"}}, []string{"Overview 1 http://b/2"}},
		{Suggesting{Text: "vacuumed", Size: 9}, []string{}},
		{Suggesting{Text: "vacuumed p", Size: 9}, []string{}},
		{Suggesting{Text: "vacuume", Size: 9}, []string{"vacuumed 2"}},
		{Suggesting{Text: " ", Size: 9}, []string{}},
		{Suggesting{Text: "vacu"}, []string{}},
	} {
		if d := cmp.Diff(c.want, suggested(t, ix, c.q)); d != "" {
			t.Errorf("%+v (-want +got)\n%s", c.q, d)
		}
	}
	if _, err := ix.Suggest(t.Context(), Suggesting{Size: MaxSuggestions + 1}); err == nil {
		t.Error("more suggestions than allowed are no error")
	}
}

// TestSuggestAnchors checks that texts of links to pages are suggested behind titles, that a title which is also a text
// of links stays one, and that texts of links to many pages and to dead pages are left out.
func TestSuggestAnchors(t *testing.T) {
	docs := []segment.Document{titledPage("http://a/1", "Requests", "Openers"), titledPage("http://a/2", "Shells"), titledPage("http://a/3", "Files"), titledPage("http://a/4", "Gone")}
	anchors := make(map[layout.Identity]segment.Document)
	for i, texts := range [][]string{{"openUrl()", "requests", "openly"}, {"openShell()", "openly"}, {"the open files", "openly", "Openers"}, {"openGone()", "openly"}} {
		a := anchorsOf(&docs[i], texts...)
		a.Suggested = texts
		anchors[docs[i].ID] = a
	}
	ix := withAnchors(t, indexWithout(t, map[layout.Identity]bool{docs[3].ID: true}, docs), anchors, docs)
	for text, want := range map[string][]string{
		"open": {"Openers 1", "openShell() 1", "openUrl() 1", "the open files 1"},
		"url":  {"openUrl() 1"},
		"req":  {"Requests 1 http://a/1"},
	} {
		if d := cmp.Diff(want, suggested(t, ix, Suggesting{Text: text, Size: 9})[:len(want)]); d != "" {
			t.Errorf("%s (-want +got)\n%s", text, d)
		}
	}
}

// damagedAt is a source of a segment that fails to read ranges that begin at one offset.
type damagedAt struct {
	segment.Source
	offset int64
}

func (d damagedAt) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	if slices.ContainsFunc(ranges, func(r blob.Range) bool { return r.Offset == d.offset }) {
		return nil, segment.ErrDamaged
	}
	return d.Source.Read(ctx, key, ranges)
}

// TestSuggestDamagedAnchors checks that the error names the segment of anchors (texts of links) if this is damaged, and
// not that of the pages: queries go on without the one that is named.
func TestSuggestDamagedAnchors(t *testing.T) {
	d := titledPage("http://a/1", "Requests")
	a := anchorsOf(&d, "openUrl()")
	a.Suggested = []string{"openUrl()"}
	content := contentOf(t, []segment.Document{a})
	tail, err := segment.TailOf(content)
	if err != nil {
		t.Fatal(err)
	}
	faults := 0
	for offset := range int64(len(content)) - tail {
		from := damagedAt{segment.Bytes(content), offset}
		anchors, err := segment.Open(t.Context(), from, segment.Ref{Key: "anchors", Bytes: int64(len(content)), Tail: tail})
		if err != nil {
			t.Fatal(err)
		}
		ix, err := New([]Part{{Segment: segmentOf(t, []segment.Document{d}), Anchors: anchors}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = ix.Suggest(t.Context(), Suggesting{Text: "open", Size: 1}); err == nil {
			continue // this range is not read
		}
		faults++
		if fault, is := errors.AsType[*Unreadable](err); !is || fault.Segment != "anchors" {
			t.Errorf("damaged at %d: %v", offset, err)
		}
	}
	if faults != 3 {
		t.Errorf("%d ranges are read, want 3: a page of keys, the sizes of blocks, and a block", faults)
	}
}

// TestSuggestByRank checks that the page of the higher rank comes first.
func TestSuggestByRank(t *testing.T) {
	docs := []segment.Document{titledPage("http://a/1", "Index one"), titledPage("http://a/2", "Index two")}
	part := Part{Segment: segmentOf(t, docs), Ranks: func(context.Context) ([]segment.Rank, error) {
		return []segment.Rank{segment.RankOf(1), segment.RankOf(4)}, nil
	}}
	ix, err := New([]Part{part}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"Index two 1 http://a/2", "Index one 1 http://a/1"}, suggested(t, ix, Suggesting{Text: "ind", Size: 3})); d != "" {
		t.Errorf("suggestions (-want +got)\n%s", d)
	}
}

// countedReads counts the ranges that are read.
type countedReads struct {
	segment.Source
	mu     sync.Mutex // protects ranges
	ranges int
}

func (c *countedReads) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	c.mu.Lock()
	c.ranges += len(ranges)
	c.mu.Unlock()
	return c.Source.Read(ctx, key, ranges)
}

// TestSuggestReads counts the ranges of an opened segment that are read for suggestions: a page of keys, the sizes of
// blocks, and a block. From a segment of an earlier version of the program, all suggestions are read, but only once.
func TestSuggestReads(t *testing.T) {
	earlier, err := os.ReadFile("../../../layout/segment/testdata/segment.v3.suggestions")
	if err != nil {
		t.Fatal(err)
	}
	present := contentOf(t, []segment.Document{titledPage("http://a/1", "Page 1"), titledPage("http://a/2", "Page 2")})
	for name, c := range map[string]struct {
		content []byte
		reads   []int // of the first call of Suggest, and of the second
	}{
		"present": {present, []int{3, 3}},
		"earlier": {earlier, []int{1, 0}},
	} {
		tail, err := segment.TailOf(c.content)
		if err != nil {
			t.Fatal(err)
		}
		counted := &countedReads{Source: segment.Bytes(c.content)}
		s, err := segment.Open(t.Context(), counted, segment.Ref{Key: "s", Bytes: int64(len(c.content)), Tail: tail})
		if err != nil {
			t.Fatal(err)
		}
		ix, err := New([]Part{{Segment: s, Dead: roaring.New()}}, NewMemory(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.reads {
			counted.ranges = 0
			if found := suggested(t, ix, Suggesting{Text: "pa", Size: 2}); len(found) != 2 || counted.ranges != want {
				t.Errorf("%s: %d suggestions by %d reads, want %d", name, len(found), counted.ranges, want)
			}
		}
	}
}

// TestWordsOfEarlierSegments searches for words near another one and with a prefix in a segment of an earlier
// version of the program, which has no pages of words. All its words are read then, but only once.
func TestWordsOfEarlierSegments(t *testing.T) {
	s, counted := segmentOfFile(t, "segment.v3.filter")
	ix, err := New([]Part{{Segment: s}}, NewMemory(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"texd~", "tex*", "taxd~2", "textt~"} {
		before := counted.ranges
		found := find(t, ix, Query{Text: text, Size: 1})
		if reads, want := counted.ranges-before, []int{4, 1, 1, 1}[i]; found.Total != 1 || reads != want {
			t.Errorf("%s: %d documents by %d reads, want one by %d", text, found.Total, reads, want)
		}
	}
}

// BenchmarkSuggest measures suggestions to the first letters of words, in one segment with the titles, headings and
// anchors of 60,000 pages: about four words in each, six headings and three anchors a page.
func BenchmarkSuggest(b *testing.B) {
	z := newZipf(3)
	var docs, anchors []segment.Document
	for i := range 60_000 {
		d := page(fmt.Sprintf("http://site%d.example/%s/%s-%d.html", i%20, z.word(), z.word(), i), "")
		d.Name = z.text(2+i%4, nil) + z.word()
		for range z.random.IntN(13) {
			d.Headings = append(d.Headings, z.text(1+z.random.IntN(6), nil))
		}
		docs = append(docs, d)
		a := anchorsOf(&d)
		for range z.random.IntN(7) {
			a.Suggested = append(a.Suggested, z.text(1+z.random.IntN(6), nil))
		}
		anchors = append(anchors, a)
	}
	s := segmentOf(b, docs)
	ix, err := New([]Part{{Segment: s, Anchors: segmentOf(b, anchors)}}, NewMemory(128<<20))
	if err != nil {
		b.Fatal(err)
	}
	sizes, _ := s.Sizes()
	random := rand.New(rand.NewPCG(1, 2))
	var took []time.Duration
	for b.Loop() {
		typed := z.words[random.IntN(20_000)]
		typed = typed[:min(len(typed), 1+random.IntN(5))]
		if random.IntN(3) == 0 {
			typed = z.word() + " " + typed
		}
		began := time.Now()
		if _, err := ix.Suggest(b.Context(), Suggesting{Text: typed, Size: 10}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
	b.ReportMetric(float64(sizes.Suggestions)/float64(len(docs)), "bytes/page")
}
