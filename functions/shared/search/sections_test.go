package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// manual returns a page with chapters that have addresses of their own. Each chapter is given as
// "fragment|heading|text". The text before comes before the first chapter.
func manual(before string, chapters ...string) segment.Document {
	d := page("http://manual.example/all", before)
	for i, chapter := range chapters {
		part := strings.SplitN(chapter, "|", 3)
		d.Headings = append(d.Headings, part[1])
		d.Sections = append(d.Sections, segment.Section{Heading: i, Start: len(d.Body) + 1, Fragment: part[0]})
		d.Body += "\n" + part[1] + "\n" + part[2]
	}
	return d
}

// TestSectionOfSnippet checks to which sections of a page hits lead.
func TestSectionOfSnippet(t *testing.T) {
	long := strings.Repeat("Nothing of note stands here. ", 20)
	deep := strings.Repeat(long, 4*scanSize/len(long))
	for name, c := range map[string]struct {
		page    segment.Document
		query   string
		section string   // "heading fragment"; "" for none
		further []string // each in the same form as section
		snippet string   // text that the snippet must have
	}{
		"in a section": {manual(long, "sizes|Sizes|Of sizes. "+long, "limits|Limits|A pool has a limit. "+long),
			"pool", "Limits #limits", nil, "A [pool] has"},
		"before all sections": {manual("A pool. "+long, "sizes|Sizes|Of sizes."),
			"pool", "", nil, "A [pool]."},
		"heading with the words of the query": {manual("A pool. "+long, "sizes|Sizes|A pool has a size. "+long, "pools|Pools|Of pools. "+long, "more|More|Pool, pool. "+long),
			"pool", "Pools #pools", nil, "[Pools] Of [pools]."},
		"more words count more than the heading": {manual(long, "pools|Pools|Of one. "+long, "sizes|Sizes|The pool has connections. "+long),
			"pool connections", "Sizes #sizes", nil, "The [pool] has [connections]"},
		"several sections": {manual(long, "a|Uses|A pool of connections. "+long, "b|Connections|One pool. "+long, "c|Pool connections|Of them. "+long,
			"d|Pools|A pool. "+long, "e|Others|Pools and connections; a pool. "+long),
			"pool connections", "Pool connections #c", []string{"Connections #b"}, "[Pool] [connections] Of them."},
		"one word needs headings": {manual("A pool. "+long, "a|Pools|Of them. "+long, "b|Sizes|A pool. "+long, "c|More pools|Of them. "+long),
			"pool", "Pools #a", []string{"More pools #c"}, "[Pools]"},
		"deep in a long page": {manual(deep, "a|Sizes|A pool. "+long, "b|Limits|None."),
			"pool", "Sizes #a", nil, "A [pool]."},
		"no match": {manual(long, "a|Sizes|Of sizes."), "absent", "", nil, "Nothing of note"},
		"section at the start": {func() segment.Document {
			d := page("http://manual.example/all", "Sizes\nof pools")
			d.Headings, d.Sections = []string{"Sizes"}, []segment.Section{{Heading: 0, Start: 0, Fragment: "a"}}
			return d
		}(), "pool", "Sizes #a", nil, "of [pools]"},
	} {
		t.Run(name, func(t *testing.T) {
			hit := markerFor(c.query).hit(&c.page)
			told := func(s Section) string {
				address, found := strings.CutPrefix(s.URL, "http://manual.example/all")
				if !found {
					t.Errorf("address %s", s.URL)
				}
				return s.Heading + " " + address
			}
			got := ""
			if hit.Section != nil {
				got = told(*hit.Section)
			}
			if got != c.section || !strings.Contains(bracketed(hit.Snippet), c.snippet) {
				t.Errorf("section %q, want %q, of the snippet %s", got, c.section, bracketed(hit.Snippet))
			}
			var further []string
			for _, s := range hit.Further {
				further = append(further, told(s))
			}
			if diff := cmp.Diff(c.further, further); diff != "" {
				t.Errorf("further sections (-want +got):\n%s", diff)
			}
			if hit.Sections != nil || hit.Body != "" {
				t.Error("the hit keeps the whole page")
			}
		})
	}
}

// TestSectionsOfHits checks that sections come with the documents of an index.
func TestSectionsOfHits(t *testing.T) {
	d := manual("Of pools.", "größe (1)|Sizes ¶|A pool has a size.")
	hits := find(t, indexOf(t, []segment.Document{d}), Query{Text: "size", Size: 10}).Hits
	want := &Section{Heading: "Sizes", URL: "http://manual.example/all#gr%C3%B6%C3%9Fe%20(1)"}
	if diff := cmp.Diff(want, hits[0].Section); diff != "" {
		t.Errorf("section (-want +got):\n%s", diff)
	}
}

func TestEscape(t *testing.T) {
	for name, want := range map[string]string{
		"size(int,java.lang.String)": "size(int,java.lang.String)",
		`a b"c<d>e` + "`f":           "a%20b%22c%3Cd%3Ee%60f",
		"50%25":                      "50%2525",
		"größe":                      "gr%C3%B6%C3%9Fe",
		"~!$&'*+-./:;=?@[]^_{|}#":    "~!$&'*+-./:;=?@[]^_{|}#",
		"\n":                         "%0A",
	} {
		if got := escape(name); got != want {
			t.Errorf("%q is escaped as %s, want %s", name, got, want)
		}
	}
}

// BenchmarkHit measures how long it takes to mark the words of a query in a page of 64 KiB, with and
// without sections.
func BenchmarkHit(b *testing.B) {
	z := newZipf(3)
	var chapters []string
	for i := range 30 {
		chapters = append(chapters, fmt.Sprintf("s%d|%s|%s", i, z.text(3, nil), z.text(300, nil)))
	}
	with := manual(z.text(50, nil), chapters...)
	without := with
	without.Sections = nil
	for name, d := range map[string]*segment.Document{"with sections": &with, "without": &without} {
		b.Run(name, func(b *testing.B) {
			m := markerFor(strings.Join(z.words[30:33], " "))
			b.SetBytes(int64(len(d.Body)))
			for b.Loop() {
				m.hit(d)
			}
		})
	}
}

// TestEntryOfSnippet checks to which entries of lists of terms hits lead.
func TestEntryOfSnippet(t *testing.T) {
	long := strings.Repeat("Nothing of note stands here. ", 20)
	d := manual("Inks\n"+long, "functions|Functions|Of functions. "+long)
	d.Title = "Inks"
	entry := func(fragment, term, text string) {
		start := len(d.Body) + 1
		d.Body += "\n" + term + "\n" + text
		d.Entries = append(d.Entries, segment.Entry{Start: start, Term: min(len(term), 20), End: len(d.Body), Fragment: fragment})
	}
	entry("dump", "dump(object)¶", "Writes an object. "+long)
	entry("dumps", "dumps(object)", "Returns text. "+long)
	entry("load", "load(file, encoding, errors)", "Reads it back. "+long)
	entry("class", "class Writer", "Keeps ink. "+long)
	entry("class.open", "open()", "Takes the lid off. "+long)
	d.Body += "\nWriters are green. " + long
	d.Entries[3].End = len(d.Body) // the list of the entry class contains the one of class.open
	d.Body += "\nAfter all lists there is a ladder. " + long
	for query, want := range map[string]string{
		"writes":   "dump(object) #dump",
		"dump":     "dump(object) #dump",
		"dumps":    "dumps(object) #dumps", // the same stem
		"encoding": "load(file, encoding,… #load",
		"lid":      "open() #class.open",
		"green":    "class Writer #class",
		"ladder":   "Functions #functions",
		"note":     "",
	} {
		got := ""
		if s := markerFor(query).hit(&d).Section; s != nil {
			got = s.Heading + " " + strings.TrimPrefix(s.URL, d.URL)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
