package book

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

var wholeSpace = layout.Range{}

func mustEncode(t testing.TB, b Book) []byte {
	t.Helper()
	content, err := Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// normal returns the book with its outcomes and links sorted, so that books can be compared.
func normal(b Book) Book {
	b.Outcomes = slices.SortedFunc(slices.Values(b.Outcomes), Outcome.Compare)
	b.Links = slices.SortedFunc(slices.Values(b.Links), func(l, m Link) int {
		if c := compareLinks(&l, &m); c != 0 {
			return c
		}
		return l.Source.Compare(m.Source)
	})
	return b
}

// difference describes how two books differ, apart from the order of their outcomes and links; ""
// if they do not.
func difference(want, got Book) string {
	want, got = normal(want), normal(got)
	if slices.Equal(want.Links, got.Links) { // links are many, and slow to compare by reflection
		want.Links, got.Links = nil, nil
	}
	return cmp.Diff(want, got)
}

func TestRoundTrip(t *testing.T) {
	for _, pages := range []int{0, 1, 7, 100} {
		want := site(uint64(pages), pages)
		if pages == 7 {
			want.Links = append(want.Links, want.Links[:20]...) // links that a page has twice
		}
		for name, encoding := range map[string]func(Book) ([]byte, error){"Encode": Encode, "EncodeFast": EncodeFast} {
			content, err := encoding(want)
			if err != nil {
				t.Fatalf("%s, %d pages: %v", name, pages, err)
			}
			got, err := Decode(content)
			if err != nil {
				t.Fatalf("%s, %d pages: %v", name, pages, err)
			}
			if d := difference(want, got); d != "" {
				t.Errorf("%s, %d pages: (-want +got)\n%s", name, pages, d)
			}
			if !slices.IsSortedFunc(got.Outcomes, Outcome.Compare) {
				t.Errorf("%s, %d pages: outcomes are not sorted", name, pages)
			}
		}
	}
}

func TestEncodeForgetsOrder(t *testing.T) {
	b := site(5, 60)
	want := mustEncode(t, b)
	rng := rand.New(rand.NewPCG(5, 5))
	for range 3 {
		rng.Shuffle(len(b.Outcomes), func(i, j int) { b.Outcomes[i], b.Outcomes[j] = b.Outcomes[j], b.Outcomes[i] })
		rng.Shuffle(len(b.Links), func(i, j int) { b.Links[i], b.Links[j] = b.Links[j], b.Links[i] })
		first := b.Outcomes[0]
		if !slices.Equal(want, mustEncode(t, b)) {
			t.Fatal("another order of the same contents gives other bytes")
		}
		if b.Outcomes[0].URL != first.URL {
			t.Fatal("Encode has sorted its caller's book")
		}
	}
}

// TestRowsOfAlternatingLinks encodes links with the same text that differ in another field from page to
// page. The links with the same value of this field must still share a row.
func TestRowsOfAlternatingLinks(t *testing.T) {
	var b Book
	for i := range 10 {
		l := Link{Target: "http://a/", Kind: Anchor, Region: Text, Anchor: "pond", Decision: []string{"", "robots"}[i%2]}
		l.Place, l.Source[0] = layout.PlaceOf("a", layout.IdentityOf(l.Target)), byte(i)
		b.Links = append(b.Links, l)
	}
	content := mustEncode(t, b)
	if rows := drain(t, open(t, content).Targets(t.Context(), wholeSpace)); rows != 2 {
		t.Errorf("%d rows, want 2", rows)
	}
	got, err := Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	if d := difference(b, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestTimesOfLinks checks that Modified is stored in seconds, and that links whose times are in the
// same second count as equal.
func TestTimesOfLinks(t *testing.T) {
	zone := time.FixedZone("somewhere", 3600)
	for given, want := range map[time.Time]time.Time{
		{}:                              {},
		time.Unix(0, 5):                 {},
		epoch.Add(999_999_999).In(zone): epoch,
		time.Unix(-5, 0):                time.Unix(-5, 0).UTC(),
	} {
		l := Link{Target: "http://a/", Kind: Listed, Region: Text, Modified: given}
		l.Place, _ = placeIn(1, l.Target)
		same := l
		same.Modified, same.Source[0] = want, 1
		content := mustEncode(t, Book{Links: []Link{l, same}})
		l.Modified = want
		got, err := Decode(content)
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(Book{Links: []Link{l, same}}, got); d != "" {
			t.Errorf("%v: (-want +got)\n%s", given, d)
		}
		if targets := drain(t, open(t, content).Targets(t.Context(), wholeSpace)); targets != 1 {
			t.Errorf("%v: %d rows, want one", given, targets)
		}
	}
}

func TestDistinct(t *testing.T) {
	for name, b := range map[string]Book{"empty": {}, "example": example()} {
		content := mustEncode(t, b)
		if !bytes.Equal(Distinct(content, 0), content) {
			t.Errorf("%s: copy 0 is not the book that Encode writes", name)
		}
		seen := map[string]bool{string(content): true}
		for _, number := range []uint32{1, 2, 1<<32 - 1} {
			other := Distinct(content, number)
			if seen[string(other)] {
				t.Errorf("%s: copy %d has the bytes of another", name, number)
			}
			seen[string(other)] = true
			got, err := Decode(other)
			if err != nil {
				t.Fatalf("%s: copy %d: %v", name, number, err)
			}
			if d := difference(b, got); d != "" {
				t.Errorf("%s: copy %d says something else (-want +got)\n%s", name, number, d)
			}
			if !bytes.Equal(Distinct(other, 0), content) {
				t.Errorf("%s: copy 0 of copy %d is another", name, number)
			}
			index, err := parseDirectory(other)
			if err != nil || index.copy != number {
				t.Errorf("%s: copy %d calls itself %d, %v", name, number, index.copy, err)
			}
		}
	}
}
