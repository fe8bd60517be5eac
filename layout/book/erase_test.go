package book

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// erasureOf returns an Erasure of the URLs for which the function returns true. Of these, b must have all that are to be
// erased from it.
func erasureOf(b Book, erases func(url string) bool) Erasure {
	places, ids := make(map[layout.Place]bool), make(map[layout.Identity]bool)
	note := func(url string, at layout.Place) {
		if erases(url) {
			places[at], ids[layout.IdentityOf(url)] = true, true
		}
	}
	for _, o := range b.Outcomes {
		note(o.URL, o.Place)
	}
	for _, l := range b.Links {
		note(l.Target, l.Place)
	}
	e := Erasure{
		URL: func(url string, _ layout.Place) bool { return erases(url) }, Page: func(id layout.Identity) bool { return ids[id] },
		Detail: func(detail string) bool { return erases(strings.TrimPrefix(detail, "to ")) },
	}
	for at := range places {
		e.Within = append(e.Within, layout.Range{From: at, To: at + 1})
	}
	slices.SortFunc(e.Within, func(r, s layout.Range) int { return cmp.Compare(r.From, s.From) })
	return e
}

// without returns what Erase must leave of a book, and Erased.Sites; computed in a simple way.
func without(b Book, e Erasure) (left Book, sites map[uint32]bool) {
	sites = make(map[uint32]bool)
	gone := make(map[layout.Identity]bool)
	for _, o := range b.Outcomes {
		switch {
		case e.URL(o.URL, o.Place):
			gone[o.Identity()], sites[o.Place.Site()] = true, true
			continue
		case e.Detail(o.Detail):
			o.Detail, sites[o.Place.Site()] = "", true
		}
		left.Outcomes = append(left.Outcomes, o)
	}
	for _, l := range b.Links {
		if e.URL(l.Target, l.Place) || e.Page(l.Source) || gone[l.Source] {
			sites[l.Place.Site()] = true
			continue
		}
		left.Links = append(left.Links, l)
	}
	return left, sites
}

// erased calls Erase, and checks what it returns. It returns the content of the new book; nil if nothing was to be
// erased.
func erased(t *testing.T, content []byte, e Erasure) []byte {
	t.Helper()
	b, err := Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	want, sites := without(b, e)
	got, err := Erase(t.Context(), open(t, content), e)
	if err != nil {
		t.Fatal(err)
	}
	if (got == nil) != (len(sites) == 0) {
		t.Fatalf("erased: %v, want changes at %d sites", got != nil, len(sites))
	}
	if got == nil {
		return nil
	}
	left, err := Decode(got.Content)
	if err != nil {
		t.Fatal(err)
	}
	if d := difference(want, left); d != "" {
		t.Fatalf("left (-want +got)\n%s", d)
	}
	if got.Outcomes != len(want.Outcomes) || got.Links != len(want.Links) || fmt.Sprint(got.Sites) != fmt.Sprint(sites) {
		t.Fatalf("%d outcomes, %d links, sites %v; want %d, %d, %v", got.Outcomes, got.Links, got.Sites, len(want.Outcomes), len(want.Links), sites)
	}
	table, err := open(t, got.Content).Sources(t.Context())
	if err != nil || slices.ContainsFunc(table, e.Page) {
		t.Fatalf("the table of sources still has an erased page, or %v", err)
	}
	if again, err := Erase(t.Context(), open(t, got.Content), e); again != nil || err != nil {
		t.Fatalf("erasing again: %v, %v; want nothing to do", again != nil, err)
	}
	return got.Content
}

// TestErase erases random URLs from random books. What is left must be merged as if the books had never had these URLs.
func TestErase(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		kept, full := [][]byte{}, [][]byte{}
		erases := func(url string) bool {
			return strings.HasSuffix(url, fmt.Sprint("/", seed%8)) || seed%5 == 0 && strings.Contains(url, "b.")
		}
		for range 3 {
			b := scraps(rng)
			for i := range b.Outcomes {
				if rng.IntN(4) == 0 {
					b.Outcomes[i].Detail = fmt.Sprintf("to http://a.example/%d", rng.IntN(8))
				}
			}
			content, e := mustEncode(t, b), erasureOf(b, erases)
			left, _ := without(b, e)
			full = append(full, mustEncode(t, left))
			if is := erased(t, content, e); is != nil {
				content = is
			}
			kept = append(kept, content)
		}
		want, err := Decode(merged(t, full...))
		got, errGot := Decode(merged(t, kept...))
		if d := difference(want, got); d != "" || err != nil || errGot != nil {
			t.Fatalf("seed %d: merged: %v, %v (-want +got)\n%s", seed, err, errGot, d)
		}
	}
}

// TestEraseCopiesBlocks erases a page from a book with many blocks: blocks that have nothing of it must be the
// same in the new book. The book is requested whole only if something is to be erased.
func TestEraseCopiesBlocks(t *testing.T) {
	b := site(8, 300)
	content := mustEncode(t, b)
	for name, test := range map[string]struct {
		url      string
		requests int64
		copied   float64 // the least share of the blocks that are copied
	}{
		"page":      {b.Outcomes[150].URL, 4, 0}, // which has links to all parts of the site
		"no source": {foreign(b), 4, .9},
		"nothing":   {"http://elsewhere.example/", 2, 1},
	} {
		bucket := stored(t, content)
		e := erasureOf(b, func(url string) bool { return url == test.url })
		got, err := Erase(t.Context(), mustOpen(t, bucket), e)
		if err != nil {
			t.Fatal(err)
		}
		if requests := bucket.Counts().Requests(); requests > test.requests {
			t.Errorf("%s: %d requests, want at most %d", name, requests, test.requests)
		}
		if got == nil {
			if test.copied < 1 {
				t.Errorf("%s: nothing is erased", name)
			}
			continue
		}
		erased(t, content, e)
		known := make(map[uint32]bool)
		for _, k := range blocksOf(t, content) {
			known[k.crc] = true
		}
		blocks, copied := blocksOf(t, got.Content), 0
		for _, k := range blocks {
			if known[k.crc] {
				copied++
			}
		}
		if share := float64(copied) / float64(len(blocks)); share < test.copied || copied == len(blocks) {
			t.Errorf("%s: %d of %d blocks are copied", name, copied, len(blocks))
		}
	}
}

// TestEraseElsewhere erases a page that is not where it is expected. If the book has an outcome of it, the links to it must
// go, too, and Elsewhere must say so.
func TestEraseElsewhere(t *testing.T) {
	b := site(8, 100)
	gone := b.Outcomes[50].URL
	content, e := mustEncode(t, b), erasureOf(b, func(url string) bool { return url == gone })
	e.Within = []layout.Range{{From: 1, To: 2}}
	got, err := Erase(t.Context(), open(t, content), e)
	if err != nil {
		t.Fatal(err)
	}
	left, err := Decode(got.Content)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := without(b, e)
	if d := difference(want, left); d != "" || !got.Elsewhere {
		t.Errorf("elsewhere %v; left (-want +got)\n%s", got.Elsewhere, d)
	}
	e.Within = []layout.Range{{}}
	if got, err = Erase(t.Context(), open(t, content), e); err != nil || got.Elsewhere {
		t.Errorf("elsewhere than in the whole space, %v", err)
	}
}

// foreign returns the target of a link to another site, of which the book has no outcome.
func foreign(b Book) string {
	i := slices.IndexFunc(b.Links, func(l Link) bool { return l.Decision != "" })
	return b.Links[i].Target
}

func blocksOf(t *testing.T, content []byte) []block {
	d := open(t, content).directory
	return slices.Concat(d.outcomes, d.links)
}

// TestEraseFails damages each block, and the table of sources, and fails each request: Erase must return the error, and no book.
func TestEraseFails(t *testing.T) {
	b := site(8, 100)
	content := mustEncode(t, b)
	e := erasureOf(b, func(url string) bool { return url == b.Outcomes[50].URL })
	d := open(t, content).directory
	for _, at := range append(offsets(slices.Concat(d.outcomes, d.links)), d.sourcesOffset) {
		damaged := slices.Clone(content)
		damaged[at+3]++
		if got, err := Erase(t.Context(), open(t, damaged), e); got != nil || err == nil || !strings.Contains(err.Error(), ErrDamaged.Error()) {
			t.Errorf("damage at %d: %v, %v", at, got != nil, err)
		}
	}
	bucket, failed := stored(t, content), fmt.Errorf("the store fails")
	for n := 0; ; n++ {
		r := mustOpen(t, bucket)
		get, left := r.get, n
		r.get = func(ctx context.Context, at blob.Range) ([]byte, error) {
			if left--; left < 0 {
				return nil, failed
			}
			return get(ctx, at)
		}
		got, err := Erase(t.Context(), r, e)
		if err == nil {
			if n < 2 || got == nil {
				t.Errorf("%d requests are enough", n)
			}
			break
		}
		if got != nil || !strings.Contains(err.Error(), failed.Error()) {
			t.Errorf("request %d fails: %v", n, err)
		}
	}
}

func offsets(blocks []block) (all []int64) {
	for _, b := range blocks {
		all = append(all, b.offset)
	}
	return all
}
