package spool

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// example is a spool in which every field has a value.
func example() Spool {
	place := func(url string) layout.Place { return layout.PlaceOf("a.example", layout.IdentityOf(url)) }
	a, b := "https://a.example/", "https://a.example/b"
	version := layout.Version{Epoch: 1, Token: 7}
	return Spool{
		Ledger: Ledger{
			Batch: version, Crawl: 2, Host: "a.example", Ended: when, Pages: 1, Stored: 55,
			Rest: when.Add(2 * time.Minute), Slow: 1250 * time.Microsecond, Failures: 3,
			Outcomes: []book.Outcome{
				{Version: version, URL: b, Place: place(b), State: book.NotAsked, Depth: 1, Weight: 7},
				{Version: version, URL: a, Place: place(a), State: book.Stored, Status: 200, Attempts: 2, Time: when, ETag: `"1"`, Modified: "Sun, 01 Nov 2026 10:00:00 GMT", Digest: 1 << 63, Body: 1, Collections: []string{"docs"}},
			},
			Links:  []book.Link{{Source: layout.IdentityOf(a), Target: b, Place: place(b), Kind: book.Listed, Region: book.Text, Depth: 1, Weight: 7, Modified: when.Truncate(time.Second), Collection: "docs"}},
			Robots: []Robots{{Origin: "https://a.example", Status: 200, Body: []byte("Disallow: /c\r\n"), Fetched: when.Add(-time.Second)}},
			Vitals: Vitals{Worker: "fetch-1", Elapsed: 1500 * time.Millisecond, Bytes: 4096},
		},
		Pages: []Page{{Outcome: 1, Run: webobject.Run{URL: a, Compressed: []byte("compressed bytes"), Size: 55, CRC: 0xfedcba98}}},
	}
}

// TestVersion1 reads a spool as version 1 wrote it. Every later version of
// this package must read it too.
func TestVersion1(t *testing.T) {
	const file = "testdata/spool.v1"
	if *update {
		if err := os.WriteFile(file, mustEncode(t, example()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sorted(example()), sorted(got), wholeBytes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
