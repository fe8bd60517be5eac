package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// ofSites returns one document for each letter of sites. The letter is the name of the document's site.
// All documents match "heron"; the first matches best.
func ofSites(sites string) (docs []segment.Document) {
	for i, site := range sites {
		d := page(fmt.Sprintf("http://%c.example/%d", site, i), "heron "+strings.Repeat(fmt.Sprint("other", i, " "), i+1))
		d.Site = fmt.Sprintf("%c.example", site)
		docs = append(docs, d)
	}
	return docs
}

// shownSites returns a letter for each hit on a page of hits: the name of its site, such as a for a.example.
// If Hit.MoreOfSite is not 0, this number follows the letter.
func shownSites(t *testing.T, ix *Index, q Query) (sites string) {
	t.Helper()
	for _, hit := range find(t, ix, q).Hits {
		sites += hit.Site[:1]
		if hit.MoreOfSite > 0 {
			sites += fmt.Sprint(hit.MoreOfSite)
		}
	}
	return sites
}

func TestSpread(t *testing.T) {
	for name, c := range map[string]struct{ sites, want string }{
		"one site":          {strings.Repeat("a", 20), strings.Repeat("a", 20)},
		"two sites":         {"aaaabbbbaaaabbbbaaaa", "aaaabbbbaaaabbbbaaaa"},
		"many":              {"aaaabcdefghijk", "aa2bcdefghiaajk"},
		"many, few of each": {"abcdeabcdefghij", "abcdeabcdefghij"},
		"behind thirty":     {strings.Repeat("a", 30) + "bcdefghijk", strings.Repeat("a", 30) + "bcdefghijk"},
		"two crowded":       {"aaabbbcdefghi", "aa1bb1cdefghabi"},
	} {
		t.Run(name, func(t *testing.T) {
			docs := ofSites(c.sites)
			ix := indexOf(t, docs[:len(docs)/2], docs[len(docs)/2:])
			q := Query{Text: "heron", Size: 50, Fold: true, Spread: true}
			if got := shownSites(t, ix, q); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			// Page by page the same hits are shown, each once.
			paged := ""
			for q.Size = 4; q.From < len(docs); q.From += q.Size {
				paged += shownSites(t, ix, q)
			}
			if paged != c.want {
				t.Errorf("by pages %s, want %s", paged, c.want)
			}
			q = Query{Text: "heron", Size: 50, Fold: true}
			if got := shownSites(t, ix, q); got != c.sites {
				t.Errorf("without spreading %s, want %s", got, c.sites)
			}
		})
	}
}

// TestSpreadAlike checks that alike pages count as one hit of their site.
func TestSpreadAlike(t *testing.T) {
	docs := ofSites("abcdefghijk")
	copied := strings.Repeat("heron in the reeds of the river ", 4)
	for i := range 5 {
		d := page(fmt.Sprintf("http://a.example/copy%d", i), copied)
		d.Site, d.Title = "a.example", "Heron"
		docs = append(docs, d)
	}
	var got []string
	for _, hit := range find(t, indexOf(t, docs), Query{Text: "heron", Size: 4, Fold: true, Spread: true}).Hits {
		got = append(got, fmt.Sprintf("%.1s%d%d", hit.Site, len(hit.Alike), hit.MoreOfSite))
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"a00", "a40", "b00", "c00"}, got); diff != "" {
		t.Error(diff)
	}
}
