package segment

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

func sample() Document {
	return Document{
		ID: layout.IdentityOf("http://a/b%20c"), Version: layout.Version{Epoch: 3, Token: 4},
		URL: "http://a/b%20c", Site: "a", Title: "A <title> & more", Headings: []string{"One", "Two"},
		Body: "Some text.\nWith\xffodd bytes.", Lang: "en", MIME: "text/html",
		Fetched: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.FixedZone("", 3600)),
		Package: "packages/0000/2_3_20260102030405006.spf", Offset: 1 << 40, Length: 77,
	}
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	ix := indexOf(t, []Document{page("x", "x"), want})
	got, found, err := ix.Lookup(want.ID)
	if err != nil || !found {
		t.Fatalf("Lookup = %v, %v", found, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Lookup (-want +got):\n%s", diff)
	}
	hit := find(t, ix, Query{Text: "b c", Size: 1}).Hits[0]
	want.Body = ""
	if diff := cmp.Diff(want, hit.Document); diff != "" {
		t.Errorf("hit (-want +got):\n%s", diff)
	}
}

func TestBuildIsRepeatable(t *testing.T) {
	docs := randomDocuments(rand.New(rand.NewPCG(9, 9)), 200)
	first, err := build(docs, 2000)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := build(docs, 2000)
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("built again: other bytes, %v", err)
		}
	}
}

func TestNoDocuments(t *testing.T) {
	ix := indexOf(t, nil, []Document{page("a", "")}, nil)
	if got := urls(t, ix, "a b"); len(got) != 1 || ix.Documents() != 1 {
		t.Errorf("found %v of %d documents", got, ix.Documents())
	}
	if got := urls(t, indexOf(t, nil), "a"); len(got) != 0 {
		t.Errorf("found %v in nothing", got)
	}
}

func TestDocumentTooLarge(t *testing.T) {
	_, err := Build([]Document{page("http://large/", strings.Repeat(" ", MaxRecord))})
	if err == nil || !strings.Contains(err.Error(), "http://large/") {
		t.Errorf("error is %v", err)
	}
}

func TestDamage(t *testing.T) {
	content, err := Build([]Document{sample(), page("x", "x y z")})
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, at int, damaged []byte) {
		if _, err := Open(damaged); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%s at %d: error is %v", what, at, err)
		}
	}
	for at := range content {
		check("cut", at, content[:at])
		flipped := bytes.Clone(content)
		flipped[at] ^= 1 << (at % 8)
		check("flip", at, flipped)
	}
	check("longer", len(content), append(bytes.Clone(content), 0))
}

// FuzzOpen opens arbitrary bytes, and segments with a right checksum over
// arbitrary records and rows.
func FuzzOpen(f *testing.F) {
	docs := []Document{sample(), page("x", "x y z")}
	content, err := Build(docs)
	if err != nil {
		f.Fatal(err)
	}
	s, err := Open(content)
	if err != nil {
		f.Fatal(err)
	}
	end := len(content) - footerSize
	postings := content[len(magic) : end-len(s.rows)-len(s.records)]
	f.Add(content, []byte{})
	f.Add(s.records, s.rows)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, content := range [][]byte{first, seal(postings, first, second), seal(first, nil, nil)} {
			s, err := Open(content)
			if err != nil {
				continue
			}
			ix, err := NewIndex([]*Segment{s, s})
			if err != nil {
				t.Fatal(err)
			}
			for id := range ix.live {
				if _, found, err := ix.Lookup(id); found == (err != nil) {
					t.Errorf("Lookup = %v, %v", found, err)
				}
			}
		}
	})
}
