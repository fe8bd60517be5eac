package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// linkWord is a word that random anchors may have, and that no random document has.
const linkWord = "zanzibar"

// anchorsOf returns the document that holds the anchors of d (the texts of links to d) in a segment of
// anchors. The parameter texts has the anchors. They become the headings of the returned document.
func anchorsOf(d *segment.Document, texts ...string) segment.Document {
	return segment.Document{ID: d.ID, Lang: d.Lang, Headings: texts}
}

// randomAnchors returns random anchors (texts of links) of some of the documents, by the documents'
// identities.
func randomAnchors(random *rand.Rand, docs []segment.Document) map[layout.Identity]segment.Document {
	anchors := map[layout.Identity]segment.Document{}
	for i := range docs {
		a := anchorsOf(&docs[i])
		for range random.IntN(3) * random.IntN(4) {
			text := randomWord(random)
			if random.IntN(2) == 0 {
				text += " " + randomWord(random)
			}
			if random.IntN(20) == 0 {
				text = linkWord
			}
			for range 1 + random.IntN(3) {
				a.Headings = append(a.Headings, text)
			}
		}
		if len(a.Headings) > 0 {
			anchors[docs[i].ID] = a
		}
	}
	return anchors
}

// withAnchors returns an index like ix that also has the given anchors (texts of links), which are listed
// by the identity of the document to which they lead. The parameter groups must have, for each segment of
// ix, the documents of which the segment was built.
func withAnchors(t testing.TB, ix *Index, anchors map[layout.Identity]segment.Document, groups ...[]segment.Document) *Index {
	t.Helper()
	parts := append([]Part(nil), ix.parts...)
	for i, docs := range groups {
		var of []segment.Document
		for n := range docs {
			a, found := anchors[docs[n].ID]
			if !found {
				a = anchorsOf(&docs[n])
			}
			of = append(of, a)
		}
		parts[i].Anchors = segmentOf(t, of)
	}
	anchored, err := New(parts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return anchored
}

// anchoredIndex returns an index of three pages with anchors (texts of links to them). The page
// "told" has none of the words of its anchors in its text.
func anchoredIndex(t testing.TB) *Index {
	docs := []segment.Document{page("told", "the home of the project"), page("says", "red fox"), page("other", "gray wolf")}
	return withAnchors(t, indexOf(t, docs), map[layout.Identity]segment.Document{
		docs[0].ID: anchorsOf(&docs[0], "red panda", "firefox"),
		docs[1].ID: anchorsOf(&docs[1], "red fox", "red fox"),
	}, docs)
}

// TestAnchorsFind checks that the words in anchors (texts of links to a page) find the page and add to
// its score, and that phrases are not found in anchors.
func TestAnchorsFind(t *testing.T) {
	ix := anchoredIndex(t)
	for query, want := range map[string][]string{
		"firefox":         {"told"},
		"+firefox":        {"told"},
		"panda":           {"told"},
		"red":             {"says", "told"},
		"red -firefox":    {"says", "told"}, // no link hides a page
		"wolf -panda":     {"other"},
		`"red fox"`:       {"says"},
		`red -"panda fi"`: {"says", "told"},
		"firefox wolf":    {"other", "told"},
	} {
		if diff := cmp.Diff(want, urls(t, ix, query)); diff != "" && query != "firefox wolf" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		} else if query == "firefox wolf" && len(urls(t, ix, query)) != 2 {
			t.Errorf("%s finds %v", query, urls(t, ix, query))
		}
	}
	if got := find(t, ix, Query{Text: `"red panda"`, Size: 10}); len(got.Notes) != 1 {
		t.Errorf("notes of a phrase that only an anchor has: %q", got.Notes)
	}
	if ix.documents != 3 || ix.languages[0].documents != 3 {
		t.Errorf("%d documents, %v in the language, want 3: anchors are none", ix.documents, ix.languages[0].documents)
	}
	for _, query := range []string{"firefox", "red"} {
		hits := find(t, ix, Query{Text: query, Size: 10, Explain: true}).Hits
		told := hits[len(hits)-1].Explanation
		checkSums(t, told)
		if text := fmt.Sprint(*told); !strings.Contains(text, "in anchors of links") {
			t.Errorf("%s is explained by %s", query, text)
		}
	}
}

// TestAnchorsCount checks that the number of matches of one word includes pages that have the word
// only in their anchors.
func TestAnchorsCount(t *testing.T) {
	var docs []segment.Document
	anchors := map[layout.Identity]segment.Document{}
	for i := range 400 {
		docs = append(docs, page(fmt.Sprint(i), []string{"red", "blue"}[i%2]))
		if i%3 == 0 {
			anchors[docs[i].ID] = anchorsOf(&docs[i], "red")
		}
	}
	ix := withAnchors(t, indexOf(t, docs), anchors, docs)
	const want = 200 + 67 // half of all, and every sixth
	if got := find(t, ix, Query{Text: "red", Size: 10}); got.Total != want || !got.Exact {
		t.Errorf("%d matches (exact: %v), want %d", got.Total, got.Exact, want)
	}
	ix.exactly = 0
	if got := find(t, ix, Query{Text: "red", Size: 10}); got.Total < 200 || got.Total > want || got.Exact && got.Total != want {
		t.Errorf("%d matches (exact: %v), want up to %d", got.Total, got.Exact, want)
	}
	if got := find(t, ix, Query{Text: "blue", Size: 10}); got.Total != 200 || !got.Exact {
		t.Errorf("%d matches (exact: %v) of a word in no anchor, want 200", got.Total, got.Exact)
	}
}

// TestUnreadableAnchors checks that the error for damaged anchors (texts of links) names their
// segment, and that a segment counts as missing if its anchors are not read in time.
func TestUnreadableAnchors(t *testing.T) {
	for name, fault := range map[string]error{"damaged": segment.ErrDamaged, "deleted": blob.ErrAbsent} {
		src, ix := serve(t)
		anchored := []segment.Document{anchorsOf(&segment.Document{Lang: "en"}, "ka"), anchorsOf(&segment.Document{Lang: "en"}, "lo")}
		content := contentOf(t, anchored)
		tail, err := segment.TailOf(content)
		if err != nil {
			t.Fatal(err)
		}
		src.segments["overlays/1"] = content
		parts := append([]Part(nil), ix.parts...)
		if parts[1].Anchors, err = segment.Open(t.Context(), src, segment.Ref{Key: "overlays/1", Bytes: int64(len(content)), Tail: tail}); err != nil {
			t.Fatal(err)
		}
		if ix, err = New(parts, nil); err != nil {
			t.Fatal(err)
		}
		src.before = func(ctx context.Context, key string) error {
			if key == "overlays/1" {
				return fault
			}
			return nil
		}
		_, err = ix.Search(t.Context(), Query{Text: "ka", Size: 10})
		named, is := errors.AsType[*Unreadable](err)
		if !errors.Is(err, fault) || !is || named.Segment != "overlays/1" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnvisitedParts checks that URLs which are known only by links are found by the texts of links and
// by their addresses, are marked as such, and change neither statistics nor the matches of texts.
func TestUnvisitedParts(t *testing.T) {
	docs := []segment.Document{page("says", "red fox"), page("other", "gray wolf")}
	ix := indexOf(t, docs)
	unvisited := []segment.Document{
		{ID: [16]byte{1}, URL: "https://far.example/zebra", Site: "far.example", Lang: "en", Title: "red panda", Headings: []string{"red panda", "red panda", "firefox"}},
		{ID: [16]byte{2}, URL: "https://near.example/", Site: "near.example", Lang: "en", Title: "fox", Headings: []string{"fox"}},
		{ID: [16]byte{3}, URL: "mailto:jane@zoo.example", Site: "zoo.example", Lang: "en", Title: "keeper", Headings: []string{"keeper", "jane@zoo.example"}, Body: "Ask Jane Doe\nof the zebras"},
	}
	both, err := New(append(slices.Clone(ix.parts), Part{Segment: segmentOf(t, unvisited), Unvisited: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]string{
		"panda":                 {"https://far.example/zebra"},
		"zebra":                 {"https://far.example/zebra", "mailto:jane@zoo.example"},
		"jane doe":              {"mailto:jane@zoo.example"},
		"jane@zoo.example":      {"mailto:jane@zoo.example", "https://far.example/zebra", "https://near.example/"},
		"fox":                   {"says", "https://near.example/"},
		"wolf":                  {"other"},
		`"red panda"`:           {"https://far.example/zebra", "says"}, // a phrase that no text has, without its quotation marks
		"fox site:near.example": {"https://near.example/"},
		"fox collection:docs":   {},
		"fox type:image":        {},
	} {
		if diff := cmp.Diff(want, urls(t, both, query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if both.documents != 2 || both.languages[0].documents != 2 {
		t.Errorf("%d documents, %v in the language, want 2", both.documents, both.languages[0].documents)
	}
	hits := find(t, both, Query{Text: "panda", Size: 10, Explain: true}).Hits
	checkSums(t, hits[0].Explanation)
	if !hits[0].Unvisited || bracketed(hits[0].Snippet) != "red [panda] · firefox" {
		t.Errorf("hit %+v", hits[0])
	}
	if hits := find(t, both, Query{Text: "wolf", Size: 10}).Hits; hits[0].Unvisited {
		t.Error("a stored page counts as unvisited")
	}
	for _, d := range unvisited {
		if _, found, err := both.Lookup(t.Context(), d.ID); found || err != nil {
			t.Errorf("%s is looked up: %v, %v", d.URL, found, err)
		}
	}
}
