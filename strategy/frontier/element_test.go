package frontier

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// elementCases returns entries to encode. The key of an entry is the encoded version of its URL's
// final state, or "" if the URL has none.
func elementCases() map[string]Entry {
	page, sitemap := entry("a", "x?q=\x00ü", 3), entry("a", "sitemap.xml", 65535)
	page.Hops, page.Attempts, page.Exponent, page.Weight = 255, 254, -7, 200
	sitemap.Sitemap, sitemap.Exponent, sitemap.Collection = true, 32767, ""
	sitemap.Last = &batch.Look{Time: noon.UTC(), ETag: `W/"1"`, Modified: "Mon, 02 Jan 2006 15:04:05 GMT", Digest: 1<<64 - 1, Body: 1 << 63, Collections: []string{"docs", "", "news"}}
	elsewhere := page // the host in its URL is another, or has another form
	elsewhere.URL = "http://A/x"
	missing := page
	missing.Last = &batch.Look{Time: time.UnixMilli(-1).UTC(), Missing: true}
	return map[string]Entry{
		"": page,
		encodeVersion(layout.Version{Epoch: 1, Token: 2}): sitemap,
		encodeVersion(layout.Version{Epoch: 3}):           missing,
		encodeVersion(layout.Version{Token: 4}):           page,
		encodeVersion(layout.Version{Token: 5}):           elsewhere,
	}
}

func TestElement(t *testing.T) {
	for version, want := range elementCases() {
		s, err := want.element(version)
		if err != nil {
			t.Fatal(err)
		}
		got, since, err := parseElement(s, want.Host)
		if err != nil || since != version {
			t.Errorf("parsed since %q, %v, want %q", since, err, version)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for n := range len(s) - len(want.URL) + 1 { // cut off before the URL
			if _, _, err := parseElement(s[:n], "a"); !errors.Is(err, errElement) {
				t.Errorf("the first %d bytes of %q: %v, want that they are damaged", n, s, err)
			}
		}
	}
}

// FuzzParseElement proves that an element that can be read is the same when it is written
// again.
func FuzzParseElement(f *testing.F) {
	for version, e := range elementCases() {
		s, err := e.element(version)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, version, err := parseElement(s, "a")
		if err != nil {
			return
		}
		if again, err := e.element(version); err != nil || again != s {
			t.Errorf("%q is written as %q, %v", s, again, err)
		}
	})
}

func TestDescribe(t *testing.T) {
	number := layout.Version{Epoch: 1, Token: 7}
	version, stored := number.String(), "s"+encodeVersion(number)+"site"
	for state, want := range map[string]string{
		"w\x01\x02\x00\x03\x00\x02":                     "waits at depth 258 after 3 attempts",
		"l\x01\x02\x00\x03\x00\x02" + version:           "is out with batch " + version,
		stored:                                          "was decided by batch " + version,
		stored + "\x03":                                 "was decided by batch " + version,
		stored + "12345678":                             "was decided by batch " + version,
		"W\x00\x02\x00\x00\x00\x02" + stored:            "waits at depth 2 after 0 attempts, again: it was decided by batch " + version,
		"L\x00\x02\x00\x00\x00\x00" + version + stored:  "is out with batch " + version + ", again: it was decided by batch " + version,
		"p\x00\x09\x00\x01\x00\x00":                     "is parked at depth 9 after 1 attempts: its collection has as many pages as it may",
		"p\x00\x09\x00\x01\x00":                         "",
		"":                                              "",
		"w\x00\x00\x00\x00\x00":                         "",
		"l\x00\x00\x00\x00\x00\x00" + version[:20]:      "",
		"L\x00\x00\x00\x00\x00\x00" + version + "s\x00": "",
		stored[:13]:                                     "",
	} {
		if got, ok := describe(state); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", state, got, ok, want)
		}
	}
}
