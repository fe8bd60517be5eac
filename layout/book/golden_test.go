package book

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// example is a book in which every field of version 2 has a value somewhere.
func example() Book {
	b := example1()
	b.Outcomes[0].Pace = Pace{Rest: b.Outcomes[0].Time.Add(time.Hour), Delay: 30 * time.Second, Failures: 3}
	b.Outcomes[1].Pace.Rest = b.Outcomes[1].Time
	b.Outcomes[2].Pace.Rest = b.Outcomes[2].Time.Add(-time.Millisecond)
	return b
}

// example3 returns the book of the function example, with additional values in the fields of
// version 3.
func example3() Book {
	b := example()
	b.Outcomes[2].Asset = true
	b.Links[1].Rel = "stylesheet"
	return b
}

// example4 returns the book of example3, with additional values in the fields of version 4.
func example4() Book {
	b := example3()
	b.Links[2].Former = true
	return b
}

// example1 is a book in which every field of version 1 has a value somewhere.
func example1() Book {
	place := func(number, url string) layout.Place { return layout.PlaceOf(number, layout.IdentityOf(url)) }
	a, b, c, d := "https://a.example/", "https://a.example/b?q=ü", "http://127.0.0.1:8080/c", "https://a.example/sitemap.xml"
	when := time.Date(2026, 11, 21, 22, 51, 7, 123e6, time.UTC)
	return Book{
		Outcomes: []Outcome{
			{Version: layout.Version{Epoch: 1, Token: 7}, URL: a, Place: place("a.example", a), State: Stored, Status: 200, Attempts: 1,
				Time: when, ETag: `W/"5e1-6"`, Modified: "Sun, 01 Nov 2026 10:00:00 GMT", Digest: 1<<64 - 1, Body: 1 << 63, Weight: 255, Collections: []string{"news", "docs", "local"}, Package: "packages/0000/2_3_20261121225107123.spf", Offset: 70_000_000_000, Length: 5_321},
			{Version: layout.Version{Epoch: 2, Token: 1}, URL: a, Place: place("a.example", a), State: Unchanged, Status: 304, Attempts: 1, Exponent: -4, Time: when.Add(48 * time.Hour), ETag: `"5e1-7"`, Digest: 1, Body: 2},
			{Version: layout.Version{Epoch: 1, Token: 7}, URL: b, Place: place("a.example", b), State: Failed, Reason: "status", Detail: "the server said 500", Status: 500, Depth: 65535, Hops: 5, Attempts: 3, Time: when},
			{Version: layout.Version{Epoch: 1, Token: 9}, URL: c, Place: place("127.0.0.1", c), State: NotAsked, Depth: 2},
		},
		Links: []Link{
			{Source: layout.IdentityOf(a), Target: b, Place: place("a.example", b), Kind: Anchor, Region: Text, Rel: "next nofollow", Anchor: "the b page", Around: "go on to the b page now", Depth: 1, Collection: "docs"},
			{Source: layout.IdentityOf(a), Target: c, Place: place("127.0.0.1", c), Kind: Asset, Region: Navigation, Depth: 1, Collection: "docs", Decision: "scope"},
			{Source: layout.IdentityOf(b), Target: c, Place: place("127.0.0.1", c), Kind: Asset, Region: Navigation, Depth: 1, Collection: "docs", Decision: "scope"},
			{Source: layout.IdentityOf("http://elsewhere/"), Target: a, Place: place("a.example", a), Kind: Redirect, Region: Text, Hops: 1},
			{Source: layout.IdentityOf(a), Target: d, Place: place("a.example", d), Kind: Sitemap, Region: Text, Collection: "docs"},
			{Source: layout.IdentityOf(d), Target: b, Place: place("a.example", b), Kind: Listed, Region: Text, Depth: 1, Weight: 200, Modified: when.Truncate(time.Second), Collection: "docs"},
			{Source: layout.IdentityOf(d), Target: b, Place: place("a.example", b), Kind: Listed, Region: Text, Depth: 1, Weight: 200, Modified: time.Unix(-1, 0).UTC(), Collection: "docs"},
		},
	}
}

// TestVersions reads a stored book of each version of the format: none may become unreadable. Then
// it encodes the same content again, which must give the same bytes. So a book that needs only what
// version 1 has is still written in version 1, and older programs can read it.
func TestVersions(t *testing.T) {
	for file, want := range map[string]Book{"testdata/book.v1": example1(), "testdata/book.v2": example(), "testdata/book.v3": example3(), "testdata/book.v4": example4()} {
		if *update {
			if err := os.WriteFile(file, mustEncode(t, want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(content)
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", file, d)
		}
		if !bytes.Equal(mustEncode(t, want), content) {
			t.Errorf("%s is written otherwise", file)
		}
	}
}

// TestMergeVersions merges a book of version 1 with a book of version 2. The result must be of
// version 2.
func TestMergeVersions(t *testing.T) {
	both := merged(t, mustEncode(t, example1()), mustEncode(t, example()))
	got, err := Decode(both)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := versionOf(string(both[:magicSize])); v != version2 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
	for _, o := range got.Outcomes {
		if o.State == Stored && o.Pace != example().Outcomes[0].Pace && o.Pace != (Pace{}) {
			t.Errorf("%s is left with %+v", o.URL, o.Pace)
		}
	}
}
