package account

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// scraps generates a random book. Its outcomes and links are of few URLs and batches, so that several
// such books contradict each other.
func scraps(t *testing.T, rng *rand.Rand) book.Book {
	var b book.Book
	for range rng.IntN(30) {
		a := parse(t, fmt.Sprintf("http://%c.example/%d", "dx"[rng.IntN(2)], rng.IntN(6)))
		o := outcome(uint64(rng.IntN(6)), book.State("sukfrnl"[rng.IntN(7)]), uint8(rng.IntN(3)))
		o.URL, o.Place, o.Depth = a.URL, a.Place, uint16(rng.IntN(2))
		b.Outcomes = append(b.Outcomes, o)
		l := link(a.URL, uint16(rng.IntN(4)), uint8(rng.IntN(2)*rng.IntN(15)))
		l.Place, l.Region, l.Source[0] = a.Place, book.Text, byte(rng.IntN(3))
		l.Kind, l.Collection = book.Kind("aairem"[rng.IntN(6)]), []string{"docs", "shop", "wide"}[rng.IntN(3)]
		l.Weight = []uint8{0, 30, 90, 240}[rng.IntN(4)]
		b.Links = append(b.Links, l)
	}
	return b
}

// contested returns settings with two collections that admit some of the same URLs. Books that scraps
// generates contain these URLs.
func contested(t *testing.T) *settings.Settings {
	bucket := memblob.New()
	publish(t, bucket, func(c *collection.Collection) { c.Seeds[0].URL = "http://d.example/0" })
	return publish(t, bucket, func(c *collection.Collection) {
		c.Name, c.Again = "wide", outcome(4, book.Failed, 1).Time
		c.Seeds = []collection.Seed{{URL: "http://x.example/1", Scope: collection.Any, Depth: 3}}
		c.Sitemaps = []string{"http://x.example/2"}
		c.Topic = &collection.Topic{Words: []string{"word"}, Threshold: .3}
	})
}

func factsOf(b book.Book) (all []any) {
	for _, o := range b.Outcomes {
		all = append(all, o)
	}
	for _, l := range b.Links {
		all = append(all, l)
	}
	return all
}

func opened(t *testing.T, b book.Book) *book.Reader {
	t.Helper()
	content, err := book.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	bucket := memblob.New()
	create(t, bucket, "book", content)
	r, err := book.Open(t.Context(), bucket, "book")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMergedBooksSayTheSame: merging books does not change the states of URLs that an account
// computes from them.
func TestMergedBooksSayTheSame(t *testing.T) {
	s := contested(t)
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var all []any
		var books []*book.Reader
		for range 1 + rng.IntN(4) {
			b := scraps(t, rng)
			all = append(all, factsOf(b)...)
			books = append(books, opened(t, b))
		}
		content, _, _, err := book.Merge(t.Context(), books)
		if err != nil {
			t.Fatal(err)
		}
		merged, err := book.Decode(content)
		if err != nil {
			t.Fatal(err)
		}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if diff := cmp.Diff(fold(t, s, all), fold(t, s, factsOf(merged))); diff != "" {
			t.Fatalf("seed %d: parts and whole (-parts +whole):\n%s", seed, diff)
		}
	}
}

// TestPartsAtOnce: adding the parts of a book to an account concurrently gives the same states as
// adding its outcomes and links one by one.
func TestPartsAtOnce(t *testing.T) {
	b := crawled(t, 1, 100)
	s := contested(t)
	a, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	v := &volume{reader: opened(t, b)}
	parts := v.reader.Parts(layout.Range{}, 1)
	if len(parts) < 4 {
		t.Errorf("%d parts, want many", len(parts))
	}
	var all sync.WaitGroup
	for _, p := range parts {
		all.Go(func() {
			if err := (part{v, p}).fold(t.Context(), a, math.MaxInt64); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff(fold(t, s, factsOf(b)), judged(t, a.All())); diff != "" {
		t.Errorf("one by one and in parallel (-one +parallel):\n%s", diff)
	}
}
