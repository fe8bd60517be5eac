package segment

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// smallDocuments returns n documents with few words. Some have the same identity as another, as different versions of
// a page have, and some have an identity that differs from that of another only in its last bits.
func smallDocuments(n int, seed uint64) []Document {
	docs := make([]Document, n)
	for i := range docs {
		d := &docs[i]
		d.URL = fmt.Sprintf("https://a.example/%d/%d", seed, i)
		d.ID = layout.IdentityOf(d.URL)
		switch {
		case i%7 == 6:
			d.ID = docs[i-6].ID
		case i%7 == 5:
			d.ID = docs[i-5].ID
			d.ID[15]++
		}
		d.Version = layout.Version{Epoch: seed, Token: uint64(i / 100)}
		d.Body = "word"
	}
	return docs
}

// matchesOf returns the documents with the wanted identities.
func matchesOf(docs []Document, wanted []layout.Identity) (found []Match) {
	for doc, d := range docs {
		if slices.Contains(wanted, d.ID) {
			found = append(found, Match{uint32(doc), d.ID, d.Version})
		}
	}
	return found
}

func TestFind(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1000} {
		docs := smallDocuments(n, 1)
		content := mustBuild(t, docs, 0)
		s := mustOpen(t, content)
		for _, absent := range []int{0, 1, 500} {
			var wanted []layout.Identity
			for i := range absent {
				wanted = append(wanted, layout.IdentityOf(fmt.Sprint("absent", i)))
			}
			for _, d := range docs {
				if random.IntN(3) == 0 {
					wanted = append(wanted, d.ID)
				}
				if random.IntN(9) == 0 { // the filter cannot tell it from another
					other := d.ID
					other[14]++
					wanted = append(wanted, other)
				}
			}
			random.Shuffle(len(wanted), func(i, j int) { wanted[i], wanted[j] = wanted[j], wanted[i] })
			want := matchesOf(docs, wanted)
			got, err := s.Find(t.Context(), wanted)
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Fatalf("%d documents, %d identities (-want +got)\n%s%v", n, len(wanted), d, err)
			}
			slices.SortFunc(wanted, layout.Identity.Compare)
			f, err := s.readFilter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, err = s.findInStored(t.Context(), f.ranks(wanted), wanted)
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Fatalf("%d documents, %d identities, of stored documents (-want +got)\n%s%v", n, len(wanted), d, err)
			}
		}
	}
	if found, err := mustOpen(t, mustBuild(t, nil, 0)).Find(t.Context(), []layout.Identity{{}}); found != nil || err != nil {
		t.Errorf("in a segment without documents: %v, %v", found, err)
	}
}

// TestFindReads counts the requests and bytes of Find:
//
//	absent identities          the filter
//	one that is there          the filter, a page of the order, and a stored block
//	many                       the filter, and three columns by one request
//	a segment without filter   the columns one by one
func TestFindReads(t *testing.T) {
	const n = 20_000
	docs := smallDocuments(n, 1)
	content := mustBuild(t, docs, 0)
	older := withoutFilter(t, content)
	many := make([]layout.Identity, 0, n/50)
	absent := make([]layout.Identity, 0, n/50)
	for i := range n / 50 {
		many = append(many, docs[50*i].ID)
		absent = append(absent, layout.IdentityOf(fmt.Sprint("absent", i)))
	}
	for _, c := range []struct {
		name    string
		content []byte
		wanted  []layout.Identity
		reads   int
		bytes   int64 // at most, without the tail
	}{
		{"absent", content, absent, 1, 4 * n},
		{"one absent", content, absent[:1], 1, 4 * n},
		{"one", content, []layout.Identity{docs[n/2].ID}, 3, 4*n + pageSize + storedBlock},
		{"many", content, many, 2, 4*n + 20*n},
		{"absent in an older one", older, absent, 2, 4*n + 20*n},
		{"many in an older one", older, many, 4, 4*n + 20*n},
	} {
		size, err := TailOf(c.content)
		if err != nil {
			t.Fatal(err)
		}
		source := &counting{Source: Bytes(c.content)}
		s, err := OpenToFind(t.Context(), source, Ref{Key: "a", Bytes: int64(len(c.content)), Tail: size}, n)
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.Find(t.Context(), c.wanted)
		if d := cmp.Diff(matchesOf(docs, c.wanted), found); d != "" || err != nil {
			t.Errorf("%s (-want +got)\n%s%v", c.name, d, err)
		}
		if source.ranges != c.reads || source.bytes-size > c.bytes {
			t.Errorf("%s: %d ranges with %d bytes besides the tail, want %d and at most %d", c.name, source.ranges, source.bytes-size, c.reads, c.bytes)
		}
	}
}

// TestOpenToFind opens segments with and without a filter, and with a wrong number of documents. In each case, the
// tail and then the columns of identities and versions must be read, by one request each, even if OpenToFind
// expected the filter at a wrong place.
func TestOpenToFind(t *testing.T) {
	docs := smallDocuments(300, 1)
	content := mustBuild(t, docs, 0)
	older := withoutFilter(t, content)
	for name, c := range map[string]struct {
		content   []byte
		documents int
		filter    bool // whether the filter is read with the tail
	}{
		"as listed":         {content, 300, true},
		"another number":    {content, 299, false},
		"no number":         {content, 0, false},
		"an absurd number":  {content, MaxDocuments + 1, false},
		"too big a number":  {content, 1 << 20, false},
		"of an older one":   {older, 300, false},
		"of older and none": {older, 0, false},
	} {
		source := &counting{Source: Bytes(c.content)}
		size, err := TailOf(c.content)
		if err != nil {
			t.Fatal(err)
		}
		s, err := OpenToFind(t.Context(), source, Ref{Key: "a", Bytes: int64(len(c.content)), Tail: size}, c.documents)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wanted := []layout.Identity{docs[7].ID, docs[299].ID}
		found, err := s.Find(t.Context(), wanted)
		if d := cmp.Diff(matchesOf(docs, wanted), found); d != "" || err != nil {
			t.Errorf("%s (-want +got)\n%s%v", name, d, err)
		}
		if source.ranges != 2 || (s.filter != nil) != c.filter {
			t.Errorf("%s: %d ranges, filter %v", name, source.ranges, s.filter)
		}
	}
}

// withoutFilter returns a segment without its filter and order, as an older program would have written it.
func withoutFilter(t testing.TB, content []byte) []byte {
	t.Helper()
	last := *mustOpen(t, content).tail
	last.columns = slices.DeleteFunc(slices.Clone(last.columns), func(c columnExtent) bool { return c.kind == filterKind || c.kind == orderKind })
	return last.appendTo(slices.Clone(content[:last.end()]), 0)
}

// TestMergeWithoutFilter merges a segment of an older program: the result has a filter.
func TestMergeWithoutFilter(t *testing.T) {
	docs, others := smallDocuments(40, 1), smallDocuments(30, 2)
	older := mustOpen(t, withoutFilter(t, mustBuild(t, docs, 0)))
	merged := mustMerge(t, Input{Segment: older, Dead: roaring.BitmapOf(3)}, Input{Segment: mustOpen(t, mustBuild(t, others, 0))})
	if err := Check(merged); err != nil {
		t.Fatal(err)
	}
	all := append(without(docs, roaring.BitmapOf(3)), others...)
	wanted := []layout.Identity{docs[3].ID, docs[0].ID, others[29].ID}
	found, err := mustOpen(t, merged).Find(t.Context(), wanted)
	if d := cmp.Diff(matchesOf(all, wanted), found); d != "" || err != nil {
		t.Errorf("(-want +got)\n%s%v", d, err)
	}
	if f, err := mustOpen(t, merged).readFilter(t.Context()); f == nil || err != nil {
		t.Errorf("filter %v, %v", f, err)
	}
}

// FuzzFilter makes filters of arbitrary identities: they find all of them, in the order of their bits. It also
// parses arbitrary bytes as a filter: this may fail, but not panic.
func FuzzFilter(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdeF0023456789abcdef"), []byte("\x0b123456789"), uint16(3))
	f.Fuzz(func(t *testing.T, ids, content []byte, documents uint16) {
		var wanted []layout.Identity
		for len(ids) >= 16*(len(wanted)+1) {
			wanted = append(wanted, layout.Identity(ids[16*len(wanted):]))
		}
		if n := uint32(len(wanted)); n > 0 {
			encoded, order := newFilter(ids[:16*n])
			built, err := parseFilter(encoded, n)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(wanted, layout.Identity.Compare)
			ranks := built.ranks(wanted)
			if len(ranks) != int(n) || !slices.IsSorted(ranks) || ranks[n-1] != n-1 || int64(len(order)) != sizeInPages(int64(orderWidth(n))*int64(n)) {
				t.Errorf("ranks %d of %d documents", ranks, n)
			}
		}
		wanted = append(wanted, layout.Identity{}, layout.Identity(binary.BigEndian.AppendUint64(make([]byte, 8), 1<<63)))
		slices.SortFunc(wanted, layout.Identity.Compare)
		if parsed, err := parseFilter(content, uint32(documents)); err == nil {
			for _, rank := range parsed.ranks(wanted) {
				if rank >= uint32(documents) {
					t.Errorf("rank %d of %d documents", rank, documents)
				}
			}
		}
	})
}

// BenchmarkFind looks for pages in a segment that is not open yet, and counts the requests and their bytes:
//
//	page      a page that the segment has
//	absent    a page that it lacks
//	first     the 1,200 pages of a package, none of which was stored before
//	again     the 1,200 pages of a package, of which the segment has a hundred
//
// It does the same in a segment as older programs wrote it.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{1_200, 10_000, 100_000} {
		docs := smallDocuments(n, 1)
		for i := range docs {
			docs[i].ID = layout.IdentityOf(docs[i].URL)
		}
		built := mustBuild(b, docs, 0)
		first, again := make([]layout.Identity, 1_200), make([]layout.Identity, 1_200)
		for i := range first {
			first[i] = layout.IdentityOf(fmt.Sprint("absent", i))
			again[i] = first[i]
			if i < 100 {
				again[i] = docs[i*(n/100)].ID
			}
		}
		for name, content := range map[string][]byte{"filter": built, "older": withoutFilter(b, built)} {
			size, err := TailOf(content)
			if err != nil {
				b.Fatal(err)
			}
			bucket := countblob.New(memblob.New())
			if err := bucket.Create(b.Context(), "a", content); err != nil {
				b.Fatal(err)
			}
			ref := Ref{Key: "a", Bytes: int64(len(content)), Tail: size}
			for _, c := range []struct {
				name   string
				wanted []layout.Identity
				found  int
			}{{"page", []layout.Identity{docs[n/2].ID}, 1}, {"absent", first[:1], 0}, {"first", first, 0}, {"again", again, 100}} {
				b.Run(fmt.Sprintf("documents=%d/%s/%s", n, c.name, name), func(b *testing.B) {
					before, rounds := bucket.Counts(), int64(0)
					for b.Loop() {
						open := func() (*Segment, error) { return OpenToFind(b.Context(), Ranges{bucket}, ref, n) }
						if name == "older" {
							open = func() (*Segment, error) { return Open(b.Context(), Ranges{bucket}, ref) }
						}
						s, err := open()
						if err != nil {
							b.Fatal(err)
						}
						found, err := s.Find(b.Context(), c.wanted)
						if err != nil || len(found) != c.found {
							b.Fatal(len(found), err)
						}
						rounds++
					}
					counts := bucket.Counts().Minus(before)
					b.ReportMetric(float64(counts.Get)/float64(rounds), "GETs")
					b.ReportMetric(float64(counts.Read)/float64(rounds), "bytes")
				})
			}
		}
	}
}
