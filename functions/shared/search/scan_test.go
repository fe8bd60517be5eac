package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// TestRareListIsNoReasonToScan searches a word that all pages have in their texts, short ones at the beginning of the
// segment and long ones after them. The first and the last page are start pages of sites with this word as their name.
// These two names lie in one block of postings. It must not keep the scan from skipping the long pages between them.
func TestRareListIsNoReasonToScan(t *testing.T) {
	const short, all = 2 * nearest, 20 * nearest
	docs := []segment.Document{page("http://ka", "ka")}
	for i := 1; i < all-1; i++ {
		body := "ka"
		if i >= short {
			body += strings.Repeat(" lo", 40)
		}
		docs = append(docs, page(fmt.Sprintf("http://mi/%d", i), body))
	}
	docs = append(docs, page("http://ka ne", "ka"))
	ix := indexOf(t, docs)
	ix.exactly = 0
	got := find(t, ix, Query{Text: "ka lang:en", Size: 2})
	if len(got.Hits) != 2 || got.Hits[0].URL != docs[0].URL || got.Hits[1].URL != docs[all-1].URL {
		t.Errorf("hits are %v, want the start pages", got.Hits)
	}
	if got.Exact || got.Total > 3*short {
		t.Errorf("%d of %d pages were examined", got.Total, all)
	}
}

// TestLowScoresAreSkipped searches two words that all pages have. Every hundredth page is short, so that each block of
// postings has a high upper bound. The scan must skip most of the long pages by their scores for one word, before it
// looks for the other.
func TestLowScoresAreSkipped(t *testing.T) {
	const all = 50 * nearest
	var docs []segment.Document
	for i := range all {
		body := "ka mi"
		if i >= nearest && i%100 > 0 {
			body += strings.Repeat(" lo", 40)
		}
		docs = append(docs, page(fmt.Sprintf("http://ne/%d", i), body))
	}
	ix := indexOf(t, docs)
	ix.exactly = 0
	if got := find(t, ix, Query{Text: "ka mi", Size: 2}); got.Exact || got.Total > 4*nearest {
		t.Errorf("%d of %d pages were examined", got.Total, all)
	}
}

// TestWeakWordsDivideNoWindows scans for a word that all pages have, so that its list has many small blocks, and for two
// rare ones. Once the frequent word alone does not suffice for a match, its blocks must not end the windows.
func TestWeakWordsDivideNoWindows(t *testing.T) {
	const all = 40 * postings.BlockSize
	var docs []segment.Document
	for i := range all {
		body := "ka"
		if i%500 == 0 {
			body += " mi"
		} else if i%500 == 250 {
			body += " ne"
		}
		docs = append(docs, page(fmt.Sprintf("http://lo/%d", i), body))
	}
	ix, q := indexOf(t, docs), Query{Text: "ka mi ne mi ne", Size: 2} // a long query
	s := ix.newSearch(&q, ix.plan(&q, false))
	if _, err := s.find(withoutDeadline(t.Context())); err != nil {
		t.Fatal(err)
	}
	windows := func(floor float64) (n int) {
		var work scan
		work.begin(s)
		work.top.reset(1)
		if !work.open(s, 0) {
			t.Fatal("the segment has none of the words")
		}
		if err := work.run(0, 0); err != nil { // no documents, but what windows need
			t.Fatal(err)
		}
		work.top.floor = floor * work.words[0].most
		for at := work.start(0); at < all; n++ {
			at = work.start(min(work.window(at), all-1) + 1)
		}
		return n
	}
	if n := windows(.99); n < 40 {
		t.Errorf("%d windows while the frequent word suffices, want one for each of its blocks", n)
	}
	if n := windows(1.01); n > 3 {
		t.Errorf("%d windows, although the frequent word does not suffice", n)
	}
}
