package segment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
)

// page returns a document with the URL and the body.
func page(url, body string) Document {
	return Document{ID: layout.IdentityOf(url), URL: url, Body: body}
}

// indexOf builds one segment of each group of documents, indexing few of them
// at once, and an index of all.
func indexOf(t testing.TB, groups ...[]Document) *Index {
	t.Helper()
	var segments []*Segment
	for _, docs := range groups {
		content, err := build(docs, 1000)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(content)
		if err != nil {
			t.Fatal(err)
		}
		segments = append(segments, s)
	}
	ix, err := NewIndex(segments)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func find(t testing.TB, ix *Index, q Query) Result {
	t.Helper()
	result, err := ix.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("Search(%q): %v", q.Text, err)
	}
	return result
}

// urls returns the addresses of the best hundred hits.
func urls(t testing.TB, ix *Index, text string) []string {
	t.Helper()
	found := []string{}
	for _, hit := range find(t, ix, Query{Text: text, Size: 100}).Hits {
		found = append(found, hit.URL)
	}
	return found
}

// divide cuts the documents into n groups in an order of its own.
func divide(random *rand.Rand, docs []Document, n int) [][]Document {
	groups := make([][]Document, n)
	for _, i := range random.Perm(len(docs)) {
		g := random.IntN(n)
		groups[g] = append(groups[g], docs[i])
	}
	return groups
}

// randomDocuments returns documents of invented words, few of them frequent.
func randomDocuments(random *rand.Rand, n int) (docs []Document) {
	text := func(words int) string {
		var out []string
		for range words {
			out = append(out, randomWord(random))
		}
		return strings.Join(out, " ")
	}
	for i := range n {
		d := page(fmt.Sprintf("w%d/w%d/p%d", i%7, i%3, i), text(random.IntN(60)))
		d.Title = text(random.IntN(5))
		for range random.IntN(4) {
			d.Headings = append(d.Headings, text(1+random.IntN(3)))
		}
		d.Version = layout.Version{Epoch: 1, Token: uint64(1 + random.IntN(3))}
		docs = append(docs, d)
	}
	return docs
}

func randomWord(random *rand.Rand) string {
	n := 40 * random.Float64() * random.Float64() * random.Float64()
	return fmt.Sprintf("w%d", int(n))
}

func randomQuery(random *rand.Rand) string { return strings.Join(randomClauses(random), " ") }

// randomClauses returns up to fifteen clauses of a query.
func randomClauses(random *rand.Rand) (clauses []string) {
	for range 1 + random.IntN(3)*random.IntN(8) {
		clause := randomWord(random)
		if random.IntN(4) == 0 {
			clause = `"` + clause + " " + randomWord(random) + `"`
		}
		clauses = append(clauses, []string{"", "", "", "", "+", "-"}[random.IntN(6)]+clause)
	}
	return clauses
}

// liveOf returns the highest version of each document, in the order of
// identities.
func liveOf(docs []Document) (live []Document) {
	best := map[layout.Identity]Document{}
	for _, d := range docs {
		if other, known := best[d.ID]; !known || d.Version.Compare(other.Version) > 0 {
			best[d.ID] = d
		}
	}
	for _, d := range best {
		live = append(live, d)
	}
	slices.SortFunc(live, func(a, b Document) int { return a.ID.Compare(b.ID) })
	return live
}
