package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// bilingual publishes English and German pages, and a dictionary from English to German. It returns
// the key of the dictionary.
func (s *store) bilingual() string {
	s.t.Helper()
	var pages []testPage
	for n := range 12 {
		pages = append(pages,
			testPage{url: fmt.Sprintf("http://a.example/en/%d", n), title: fmt.Sprint("Home ", n), body: "The house is white and stands there.", lang: "en"},
			testPage{url: fmt.Sprintf("http://a.example/de/%d", n), title: fmt.Sprint("Heim ", n), body: "Das Haus ist weiß und steht dort.", lang: "de"})
	}
	s.publish(pages...)
	content, err := dictionary.Encode("en", "de", []dictionary.Entry{{Term: "hous", Translations: []dictionary.Translation{{Term: "haus", Probability: 1}}}})
	s.check(err)
	p, err := partition.Open(s.t.Context(), s.bucket, 0, s.clock.Now)
	s.check(err)
	s.check(p.Commit(s.t.Context(), func(e *partition.Edit) error {
		return e.SetDictionary(s.t.Context(), manifest.Dictionary{From: "en", To: "de", Terms: 1}, content)
	}))
	return p.Manifest().Dictionaries.All[0].Key
}

// TestAcross finds German pages by English queries. It checks that the results tell how they were
// found, on the first page of results and on further ones.
func TestAcross(t *testing.T) {
	s := newStore(t, 1)
	s.bilingual()
	h := Handler(s.engine(s.bucket))
	var answer Answer
	s.check(json.Unmarshal(askJSON(h, "/search?q=house&across=de&n=100").Body.Bytes(), &answer))
	found := make(map[string]int)
	for _, r := range answer.Results {
		found[r.Lang+r.Across]++
	}
	if found["en"] != 12 || found["dede"] != 12 || answer.Total != 24 || len(answer.Notes) > 0 {
		t.Errorf("found %v of %d, notes %q", found, answer.Total, answer.Notes)
	}
	if want := (Translation{"en", "de", []TranslatedWord{{"house", []string{"haus"}}}}); len(answer.Translated) != 1 || fmt.Sprint(answer.Translated[0]) != fmt.Sprint(want) {
		t.Errorf("translated %v, want %v", answer.Translated, want)
	}
	page := ask(h, "GET", "/search?q=house&across=de&lang=de", "Accept: text/html").Body.String()
	for _, want := range []string{
		"found by translation into de", "Translated from en to de: <i>house</i> → haus.", `<input type="hidden" name="across" value="de">`,
		`href="/search?across=de&amp;from=10&amp;lang=de&amp;q=house"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of results lacks %q:\n%s", want, page)
		}
	}
	s.check(json.Unmarshal(askJSON(h, "/search?q=house&across=fr").Body.Bytes(), &answer))
	if !slices.ContainsFunc(answer.Notes, func(note string) bool { return strings.Contains(note, "no dictionary from en to fr") }) {
		t.Errorf("notes %q without a dictionary", answer.Notes)
	}
	for address, want := range map[string]string{
		"/search?q=house&across=german":                     "across",
		"/search?q=house&across=de,fr,it,es,pt,pl,cs,sk,sl": "at most 8 languages",
		"/search?q=house&across=de&from=991":                "990",
		"/search?q=house&across=de&across=fr&from=10000":    "990",
	} {
		if w := askJSON(h, address); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want a sentence with %q", address, w.Code, w.Body, want)
		}
	}
}

// TestDamagedDictionary damages or deletes the dictionary. It checks that pages are found by the
// untranslated words of the query. The log, and a note in the answer, must report the damage.
func TestDamagedDictionary(t *testing.T) {
	for name, harm := range map[string]func(s *store, key string){
		"deleted": func(s *store, key string) { s.check(s.bucket.Delete(s.t.Context(), key)) },
		"another": func(s *store, key string) {
			content, err := dictionary.Encode("en", "de", []dictionary.Entry{{Term: "hous", Translations: []dictionary.Translation{{Term: "hund", Probability: 1}}}})
			s.check(err)
			s.check(s.bucket.Delete(s.t.Context(), key))
			s.check(s.bucket.Create(s.t.Context(), key, content))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, 1)
			harm(s, s.bilingual())
			var log bytes.Buffer
			h := Handler(s.logging(s.bucket, &log))
			var answer Answer
			s.check(json.Unmarshal(askJSON(h, "/search?q=house&across=de").Body.Bytes(), &answer))
			if answer.Total != 12 || len(answer.Notes) != 1 || !strings.Contains(answer.Notes[0], "cannot be read") {
				t.Errorf("%d pages, notes %q", answer.Total, answer.Notes)
			}
			if !strings.Contains(log.String(), "a query is not translated") {
				t.Errorf("log:\n%s", log.String())
			}
		})
	}
}
