package search

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestTitled searches for a word that one page has as its title, and another page much more often: in
// its text, and as one of many words of its title. The first page must come first, because of
// Weights.Titled. A long query with the word must find the other page first.
func TestTitled(t *testing.T) {
	named, about := page("http://named/", "vacuum removes dead rows of tables and indexes"), page("http://about/", strings.Repeat("vacuum removes rows that nobody can see from tables on disk ", 30))
	named.Title, about.Title = "Vacuum", "Routine tasks of vacuum in large clusters"
	ix := indexOf(t, []segment.Document{named, about, page("http://other/", "backup and restore")})
	without := Standard()
	without.Titled = 0
	for _, c := range []struct {
		ix          *Index
		text, first string
	}{
		{ix, "vacuum", "http://named/"},
		{ix.WithWeights(without), "vacuum", "http://about/"},
		{ix, "routine vacuum tasks of large database clusters", "http://about/"},
	} {
		if got := urls(t, c.ix, c.text); got[0] != c.first {
			t.Errorf("%q finds %s first, want %s", c.text, got[0], c.first)
		}
	}
}
