package curation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// example is the file in the comment of Parse, shortened.
const example = `
[[synonyms]]
words = ["postgres", "postgresql", "pg"]    # each finds the others

[[synonyms]]
words = ["k8s"]
also = ["kubernetes"]

[[pins]]
queries = ["download", "get postgres"]
pages = ["https://example.org/download"]

[[bans]]
pages = ["https://example.org/old/*"]

[[bans]]
queries = ["install"]
pages = ["https://example.org/install-8"]
`

func parsed() Document {
	return Document{
		Synonyms: []Synonyms{{Words: []string{"postgres", "postgresql", "pg"}}, {Words: []string{"k8s"}, Also: []string{"kubernetes"}}},
		Pins:     []Pin{{Queries: []string{"download", "get postgres"}, Pages: []string{"https://example.org/download"}}},
		Bans: []Ban{
			{Pages: []string{"https://example.org/old/*"}},
			{Queries: []string{"install"}, Pages: []string{"https://example.org/install-8"}},
		},
	}
}

func TestParse(t *testing.T) {
	got, err := Parse("search.toml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parsed(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := Parse("search.toml", nil); err != nil || !got.IsEmpty() {
		t.Errorf("of an empty file: %+v, %v", got, err)
	}
}

// Errors name file, line and key, and say what to write.
func TestMistakes(t *testing.T) {
	many := strings.Repeat(`"a", `, 21)
	for content, want := range map[string]string{
		"words = ['a']":                                              "s.toml:1: words: unknown, want one of synonyms, pins, bans",
		"[[synonyms]]\nwords = ['a', '..']":                          "s.toml:2: words: a word is \"..\"; write a text with letters or digits, of 100 bytes at most",
		"[[synonyms]]\nwords = ['a']":                                "s.toml:1: [[synonyms]]: \"a\" is alone; write another word beside it, or in also",
		"[[synonyms]]\nalso = ['a']":                                 "s.toml:1: [[synonyms]]: no words; write them like words = [\"postgres\", \"pg\"]",
		"[[synonyms]]\nwords = [" + many + "]":                       "s.toml:1: [[synonyms]]: 21 words, and 0 in also; write at most 20 of each",
		"[[synonyms]]\nword = ['a', 'b']":                            "s.toml:2: synonyms.0.word: unknown, want one of words, also; perhaps words is meant",
		"[[synonyms]]\nwords = 'a'":                                  "s.toml:2: words is \"a\"; write a list of texts such as [\"a\", \"b\"]",
		"[[pins]]\nqueries = ['a']":                                  "s.toml:1: [[pins]]: 0 pages; write 1 to 10, like pages = [\"https://example.org/download\"]",
		"[[pins]]\npages = ['https://a.example/']":                   "s.toml:1: [[pins]]: 0 queries; write 1 to 100, like queries = [\"download\"]",
		"[[pins]]\nqueries = ['a']\npages = ['a']":                   "s.toml:3: pages: a page is \"a\"; write the address of one page, such as https://example.org/download",
		"[[pins]]\nqueries = ['a']\npages = ['https://a.example/*']": "s.toml:3: pages: a page is \"https://a.example/*\"; write the address of one page",
		"[[bans]]\n": "s.toml:1: [[bans]]: 0 pages; write 1 to 100",
		"[[bans]]\nqueries = []\npages = ['https://a.example/']":           "s.toml:2: queries: an empty list; leave it out to hide the pages for all queries",
		"[[bans]]\npages = ['*']":                                          "s.toml:2: pages: a page is \"*\"; write an address, or the beginning of addresses",
		"[[bans]]\npages = ['https://a*']":                                 "s.toml:2: pages: a page is \"https://a*\"; write an address, or the beginning of addresses",
		"[[bans]]\npages = ['https://a.example/*/b']":                      "s.toml:2: pages: a page is \"https://a.example/*/b\"; write the address of one page",
		strings.Repeat("[[bans]]\npages = ['https://a.example/']\n", 1001): "s.toml: 0 synonyms, 0 pins and 1001 bans; write at most 1000 of each",
		"x": "s.toml:1: the line \"x\" is no TOML",
	} {
		if got, err := Parse("s.toml", []byte(content)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.80s: %+v, %v; want %s", content, got, err, want)
		}
	}
}

func TestFold(t *testing.T) {
	for query, want := range map[string]string{"": "", " Get  Postgres\t": "get postgres", "ＤＯＷＮ": "down", "ÄÖ": "äö", "Å": "å"} {
		if got := Fold(query); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

func TestPublish(t *testing.T) {
	bucket := memblob.New()
	if d, version, err := Load(t.Context(), bucket); err != nil || version != 0 || !d.IsEmpty() {
		t.Errorf("of nothing: %+v, %d, %v", d, version, err)
	}
	for i, step := range []struct {
		publish Document
		version uint64
	}{{Document{}, 0}, {parsed(), 1}, {parsed(), 1}, {Document{}, 2}, {Document{}, 2}, {parsed(), 3}} {
		if version, err := Publish(t.Context(), bucket, step.publish); err != nil || version != step.version {
			t.Errorf("step %d: version %d, %v; want %d", i, version, err, step.version)
		}
		if d, _, err := Load(t.Context(), bucket); err != nil || !cmp.Equal(d, step.publish) {
			t.Errorf("step %d: loaded %+v, %v", i, d, err)
		}
	}
	if _, err := Publish(t.Context(), bucket, Document{Pins: []Pin{{}}}); err == nil {
		t.Error("an invalid document was published")
	}
}

// TestRepublish damages the newest version and its copy: the version before is published again.
func TestRepublish(t *testing.T) {
	bucket := memblob.New()
	for _, d := range []Document{parsed(), {Synonyms: parsed().Synonyms}} {
		if _, err := Publish(t.Context(), bucket, d); err != nil {
			t.Fatal(err)
		}
	}
	if version, err := Republish(t.Context(), bucket); version != 0 || err != nil {
		t.Errorf("undamaged: %d, %v", version, err)
	}
	damage := func(version uint64) {
		for _, key := range []string{layout.CurationKey(version), layout.CopyKey(layout.CurationKey(version))} {
			if err := bucket.Replace(t.Context(), key, []byte(`{"bans":`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	damage(2)
	if version, err := Republish(t.Context(), bucket); version != 3 || err != nil {
		t.Errorf("damaged: %d, %v", version, err)
	}
	if d, version, err := Load(t.Context(), bucket); err != nil || version != 3 || !cmp.Equal(d, parsed()) {
		t.Errorf("after repair: %+v, %d, %v", d, version, err)
	}
	damage(1)
	damage(3)
	if version, err := Republish(t.Context(), bucket); err == nil {
		t.Errorf("of nothing that can be read, version %d was published", version)
	}
	if version, err := Publish(t.Context(), bucket, parsed()); version != 4 || err != nil {
		t.Errorf("published after damage: %d, %v", version, err)
	}
}

// TestFull: a document with as much as the limits of numbers allow can be stored and shown.
func TestFull(t *testing.T) {
	var d Document
	for i := range maxRules {
		s := Synonyms{}
		for n := range maxWords {
			s.Words = append(s.Words, fmt.Sprintf("word %d %d", i, n))
			s.Also = append(s.Also, fmt.Sprintf("also %d %d", i, n))
		}
		d.Synonyms = append(d.Synonyms, s)
		d.Pins = append(d.Pins, Pin{Queries: []string{fmt.Sprint(i)}, Pages: []string{fmt.Sprintf("https://a.example/%d", i)}})
		d.Bans = append(d.Bans, Ban{Pages: []string{fmt.Sprintf("https://a.example/old/%d/*", i)}})
	}
	bucket := memblob.New()
	if _, err := Publish(t.Context(), bucket, d); err != nil {
		t.Fatal(err)
	}
	content, err := bucket.Get(t.Context(), layout.CurationKey(1), blob.Range{})
	if err != nil || len(content) > MaxBytes {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

// FuzzParse proves that a file that was read is a valid document, and that the document's own TOML is read
// as the same document.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("[[pins]]\nqueries = ['a']\npages = ['https://a.example/']\n[[bans]]\npages = ['https://a.example/*']"))
	f.Add([]byte("synonyms = [{words = [\"a\u0000\", '''b\n''']}]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := Parse("f.toml", content)
		if err != nil {
			return
		}
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		written, err := d.TOML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("again.toml", written)
		if err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		if diff := cmp.Diff(d, again); diff != "" {
			t.Fatalf("(-read +again):\n%s", diff)
		}
	})
}
