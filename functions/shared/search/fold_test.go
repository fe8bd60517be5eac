package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// textOf returns a text of the word "kernel" and n different words that begin with name. So texts
// with different names have only "kernel" in common.
func textOf(name string, n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprintf("%s%d", name, i))
	}
	return "kernel " + strings.Join(words, " ")
}

func titled(url, lang, title, body string) segment.Document {
	d := page(url, body)
	d.Title, d.Lang = title, lang
	return d
}

func TestFold(t *testing.T) {
	long, other := textOf("a", 300), textOf("b", 300)
	edited := strings.Replace(long, "a150 ", "changed ", 1)
	for name, c := range map[string]struct {
		text string
		docs []segment.Document
		want map[string][]string // for each hit, the addresses of the alike pages
	}{
		"same text": {"kernel", []segment.Document{titled("http://a/1", "en", "One", long), titled("http://a/22", "en", "Two", long), titled("http://a/3", "en", "Three", other)},
			map[string][]string{"http://a/1": {"http://a/22"}, "http://a/3": nil}},
		"nearly the same, same title": {"kernel", []segment.Document{titled("http://a/1", "en", "Manual 14", long), titled("http://a/22", "en", "Manual 15", edited)},
			map[string][]string{"http://a/1": {"http://a/22"}}},
		"nearly the same, other title": {"kernel", []segment.Document{titled("http://a/1", "en", "sinh", long), titled("http://a/22", "en", "cosh", edited)},
			map[string][]string{"http://a/1": nil, "http://a/22": nil}},
		"too short": {"kernel", []segment.Document{titled("http://a/1", "en", "One", "kernel"), titled("http://a/22", "en", "Two", "kernel")},
			map[string][]string{"http://a/1": nil, "http://a/22": nil}},
		"short, same title": {"kernel", []segment.Document{titled("http://a/1", "en", "One", "kernel"), titled("http://a/22", "en", "One", "kernel")},
			map[string][]string{"http://a/1": {"http://a/22"}}},
		"untranslated": {"kernel", []segment.Document{titled("http://a/cs/1", "en", "One", long), titled("http://a/en-US/1", "en", "One", long)},
			map[string][]string{"http://a/en-US/1": {"http://a/cs/1"}}},
		"an index page with less of what its site repeats": {"kernel", []segment.Document{titled("http://a/b/", "en", "One", long+" "+other[:len(other)/3]), titled("http://a/b/index.html", "en", "One", long)},
			map[string][]string{"http://a/b/": {"http://a/b/index.html"}}},
		"an index page that says more of it": {"kernel", []segment.Document{titled("http://a/b/", "en", "b", long), titled("http://a/b/index.php", "en", "kernel", long)},
			map[string][]string{"http://a/b/": {"http://a/b/index.php"}}},
		"short, untitled index page": {"kernel", []segment.Document{titled("http://a/b/", "en", "b", "kernel"), titled("http://a/b/Default.aspx", "en", "Default", "kernel")},
			map[string][]string{"http://a/b/": {"http://a/b/Default.aspx"}}},
		"another page of the directory": {"kernel", []segment.Document{titled("http://a/b/", "en", "b", "kernel"), titled("http://a/b/indexes.html", "en", "indexes", "kernel"), titled("http://a/b/index.php?p=1", "en", "1", "kernel")},
			map[string][]string{"http://a/b/": nil, "http://a/b/indexes.html": nil, "http://a/b/index.php?p=1": nil}},
		"an index page of another text": {"kernel", []segment.Document{titled("http://a/b/", "en", "One", long), titled("http://a/b/index.html", "en", "One", other)},
			map[string][]string{"http://a/b/": nil, "http://a/b/index.html": nil}},
		"dup:all": {"kernel dup:all", []segment.Document{titled("http://a/1", "en", "One", long), titled("http://a/22", "en", "Two", long)},
			map[string][]string{"http://a/1": nil, "http://a/22": nil}},
		"filtered": {"kernel lang:de", []segment.Document{titled("http://a/1", "en", "One", long), titled("http://a/22", "de", "One", long)},
			map[string][]string{"http://a/22": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			ix := indexOf(t, c.docs[:1], c.docs[1:])
			found := find(t, ix, Query{Text: c.text, Size: 10, Fold: true})
			got := make(map[string][]string)
			for _, hit := range found.Hits {
				got[hit.URL] = hit.Alike
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestFoldPages checks that each group of alike documents is on exactly one page of hits, and that only
// the last page has fewer hits than asked for.
func TestFoldPages(t *testing.T) {
	const groups, copies, size = 23, 7, 5
	var docs []segment.Document
	for g := range groups {
		for c := range copies {
			docs = append(docs, titled(fmt.Sprintf("http://a%d/%d/%s", c, g, strings.Repeat("x", c)), "en", fmt.Sprint("title of ", g), textOf(fmt.Sprintf("g%dw", g), 50+g)))
		}
	}
	ix := indexOf(t, docs[:40], docs[40:])
	seen := make(map[string]bool)
	for from := 0; from < groups; from += size {
		hits := find(t, ix, Query{Text: "kernel", From: from, Size: size, Fold: true}).Hits
		// Of 161 matches the best 100 are folded; the others follow one by one.
		if want := size; len(hits) != want {
			t.Errorf("from %d: %d hits", from, len(hits))
		}
		for _, hit := range hits {
			for _, url := range append(hit.Alike, hit.URL) {
				if seen[url] {
					t.Errorf("%s twice", url)
				}
				seen[url] = true
			}
		}
	}
	all := find(t, ix, Query{Text: "kernel", Size: 200, Fold: true})
	shown := len(all.Hits)
	for _, hit := range all.Hits {
		shown += len(hit.Alike)
	}
	if all.Total != len(docs) || shown != len(docs) {
		t.Errorf("%d of %d shown, total %d", shown, len(docs), all.Total)
	}
}

// TestFoldMany checks that each group of three alike documents is one hit, which names the other two
// as alike. The page of hits is larger than usual: it has 50 hits.
func TestFoldMany(t *testing.T) {
	const groups = 60
	var docs []segment.Document
	for g := range groups {
		for c := range 3 {
			docs = append(docs, titled(fmt.Sprintf("http://a%d/%d", c, g), "en", fmt.Sprint("title of ", g), textOf(fmt.Sprintf("g%dw", g), 50+g)))
		}
	}
	hits := find(t, indexOf(t, docs), Query{Text: "kernel", Size: 50, Fold: true}).Hits
	for _, hit := range hits {
		if len(hit.Alike) != 2 {
			t.Errorf("%s: alike %q", hit.URL, hit.Alike)
		}
	}
	if len(hits) != 50 {
		t.Errorf("%d hits, want 50", len(hits))
	}
}

// TestFoldNothing checks that folding does not change the hits where no documents are alike.
func TestFoldNothing(t *testing.T) {
	var docs []segment.Document
	for i := range 150 {
		docs = append(docs, page(fmt.Sprintf("http://a/%d", i), textOf(fmt.Sprintf("w%dx", i), 20+i%7)))
	}
	ix := indexOf(t, docs[:70], docs[70:])
	for from := 0; from < 150; from += 10 {
		q := Query{Text: "kernel", From: from, Size: 10}
		plain := find(t, ix, q)
		q.Fold = true
		folded := find(t, ix, q)
		address := func(h Hit) string { return h.URL }
		if a, b := each(plain.Hits, address), each(folded.Hits, address); from < 100 && !slices.Equal(a, b) || len(b) != 10 || plain.Total != folded.Total {
			t.Errorf("from %d: %q, folded %q", from, a, b)
		}
	}
}

func each(hits []Hit, of func(Hit) string) (all []string) {
	for _, h := range hits {
		all = append(all, of(h))
	}
	return all
}

// TestPrintsAreKept checks that the fingerprints of the documents that were compared stay in the cache, and
// are used by the next search.
func TestPrintsAreKept(t *testing.T) {
	long := textOf("a", 300)
	ix := indexOf(t, []segment.Document{titled("http://a/1", "en", "One", long), titled("http://a/22", "en", "Two", long)})
	ix.memory = NewMemory(1 << 20)
	alike := func() int { return len(find(t, ix, Query{Text: "kernel", Size: 10, Fold: true}).Hits[0].Alike) }
	if n := alike(); n != 1 {
		t.Fatalf("%d alike pages, want 1", n)
	}
	key := place{segment: ix.parts[0].Segment.Ref().Key, doc: 0}
	print, known := ix.memory.print(key)
	if !known || print != fingerprint.Of("One", long) {
		t.Fatalf("the fingerprint in the cache is %+v (%v)", print, known)
	}
	ix.memory.Clear()
	ix.memory.putPrint(key, fingerprint.Of("Other", textOf("b", 300)))
	if n := alike(); n != 0 {
		t.Errorf("%d alike pages with the fingerprint of another page in the cache, want 0", n)
	}
}
